"""A late row that is allowed corrects what is made of a published window: mirrors, rollups, pipelines over it, assets, suites, Spark."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from pyiceberg.catalog import load_catalog

from muntin import Pipeline, read, run, sinks, sources, windows
from muntin import aggregates as agg
from muntin.definition.instants import instant_us
from muntin.extensions.airflow.assets.events import acknowledge, announced
from muntin.jobs.inspect.status import status
from muntin.jobs.state.bound import bind
from muntin.quality.suite import ExpectationsFailed
from tests.case_counts import at_length, some
from tests.end_to_end.test_allowed_lateness import DAYS, KINDS, day, defined, sums

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DAILY = windows.tumbling("1d", allowed_lateness="10d")


def step_by_step(pipeline: Pipeline, root: Path, last: int = 4, **more: Any) -> None:
    for number in range(1, last + 1):
        run(pipeline, root=root, start=day(number), end=day(number + 1), **more)


def test_a_mirror_of_iceberg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__URI", uri := f"sqlite:///{tmp_path}/lake.db")
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__WAREHOUSE", f"{tmp_path}/warehouse")
    pipeline = defined(tmp_path, DAILY, to=sinks.iceberg("lake", "shop.{window}"))
    step_by_step(pipeline, tmp_path / "state")
    with load_catalog("lake", uri=uri) as catalog:
        rows = catalog.load_table("shop.w").scan().to_arrow().to_pylist()
    assert {row["window_start"].day: row["s"] for row in rows} == sums(pipeline, tmp_path / "state") == {1: 101, 2: 1, 3: 1, 4: 1}


@pytest.mark.parametrize("kind", some(KINDS, one_in=3))
def test_a_rollup_and_a_pipeline_over_the_windows(tmp_path: Path, kind: str) -> None:
    rollups = {} if kind == "while_" else {"all": []}  # rows that make a window are not those of fewer keys
    pipeline = defined(tmp_path, KINDS[kind], rollups=rollups)
    weeks = Pipeline(
        name="weeks",
        source=sources.windows(pipeline, "w"),
        schedule="@daily",
        start=day(1),
        windows={"two": windows.sliding("2d", step="1d")},
        aggregates={"s": agg.sum("s"), "n": agg.count()},
    )
    for number in DAYS:
        for each in (pipeline, weeks):
            run(each, root=tmp_path / "state", start=day(number), end=day(number + 1))
    for each in (pipeline, weeks):
        run(each, root=tmp_path / "bulk", start=day(1), end=day(5))
    for each, name in ((pipeline, "w"), *((pipeline, f"w.{name}") for name in rollups), (weeks, "two")):
        assert read(each, name, root=tmp_path / "state").equals(read(each, name, root=tmp_path / "bulk")), name


def test_assets(tmp_path: Path) -> None:
    place: Any = SimpleNamespace(bound=bind(defined(tmp_path, DAILY), tmp_path / "state", claim=True))

    def told(number: int) -> list[str]:
        run(place.bound.pipeline, root=tmp_path / "state", start=day(number), end=day(number + 1))
        parts = announced(place, {"w": [instant_us(day(number), "day")]})
        acknowledge(place, {"announced": parts})
        return [start[:10] for start in parts["w"]["published"]]

    assert told(1) == ["2024-05-01"]
    assert told(2) == ["2024-05-02"]
    assert {"2024-05-01", "2024-05-03"} <= {*told(3)}
    assert told(4) == ["2024-05-04"]


@pytest.mark.gx
def test_a_suite_that_fails_holds_the_correction(tmp_path: Path) -> None:
    small = {"type": "expect_column_values_to_be_between", "kwargs": {"column": "s", "max_value": 50}, "severity": "critical"}
    (tmp_path / "small.json").write_text(json.dumps({"name": "small", "expectations": [small]}))
    pipeline, root = defined(tmp_path, DAILY, expectations={"w": str(tmp_path / "small.json")}), tmp_path / "state"
    step_by_step(pipeline, root, 2)
    with pytest.raises(ExpectationsFailed):
        run(pipeline, root=root, start=day(3), end=day(4))
    assert sums(pipeline, root) == {1: 1, 2: 1}
    assert status(pipeline, root=root).windows[0].unpublished == 1
    run(pipeline, root=root, start=day(3), end=day(4), validate=False)
    assert sums(pipeline, root) == {1: 101, 2: 1, 3: 1}


@pytest.mark.spark
@at_length
@pytest.mark.parametrize("kind", KINDS)
def test_tasks_of_spark(tmp_path: Path, spark: "SparkSession", kind: str) -> None:
    pipeline = defined(tmp_path, KINDS[kind])
    step_by_step(pipeline, tmp_path / "spark", spark=spark)
    run(pipeline, root=tmp_path / "here", start=day(1), end=day(5))
    assert read(pipeline, "w", root=tmp_path / "spark").equals(read(pipeline, "w", root=tmp_path / "here"))
