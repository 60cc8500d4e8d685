"""Which addresses tasks tell Airflow's lineage. That Airflow gets them is tried by tests/airflow/inside/test_runs_metrics.py."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from muntin import aggregates as agg
from muntin import sources, windows
from muntin.extensions.airflow import lineage
from muntin.jobs.records.reports import Accumulated, Counts, ReadFile
from muntin.jobs.state.bound import bind
from tests.end_to_end.hourly import Hourly

SHAPE = {"keys": ["k"], "windows": {"w": windows.tumbling("30m")}, "aggregates": {"n": agg.count()}}


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], list[str]]]:
    found = list[tuple[list[str], list[str]]]()
    monkeypatch.setattr(lineage, "_collect", lambda _task, inputs, outputs: found.append(([*inputs], [*outputs])))
    return found


def read(*paths: str) -> Any:
    return Accumulated(None, "v", Counts(), None, tuple(ReadFile(path, 1, 1) for path in paths))  # type: ignore[arg-type]


def test_files_are_named_once(told: list[Any], tmp_path: Path) -> None:
    bound = bind(Hourly(tmp_path, other=SHAPE).pipeline, tmp_path / "state")
    lineage.accumulated(bound, [read("/data/b.csv", "/data/a.csv"), read("/data/a.csv")], None)
    assert told == [(["/data/a.csv", "/data/b.csv"], [f"{bound.folder}/{bound.frame_sets[0].table}"])]


def test_many_files_are_named_by_their_folders(told: list[Any], tmp_path: Path) -> None:
    bound = bind(Hourly(tmp_path, other=SHAPE).pipeline, tmp_path / "state")
    lineage.accumulated(bound, [read(*(f"/data/{at % 2}/{at}.csv" for at in range(lineage.MOST + 1)))], None)
    assert told[0][0] == ["/data/0", "/data/1"]


def test_windows_over_windows_read_the_table_of_the_upstream(told: list[Any], tmp_path: Path) -> None:
    below = Hourly(tmp_path, other=SHAPE).pipeline
    over = replace(below, name="over", source=sources.windows(below, "w", event_time="window_start"), aggregates={"n": agg.sum("n")})
    lineage.accumulated(bind(over, tmp_path / "state"), [read("/state/hourly/windows/w/part.parquet")], None)
    assert told[0][0] == [f"{tmp_path}/state/hourly/windows/w"]


def test_of_several_sources_each_is_named(told: list[Any], tmp_path: Path) -> None:
    """Files by their paths, a topic by its address."""
    topic = sources.kafka("broker:9092", "orders", value="text", event_time="kafka_timestamp")
    one = Hourly(tmp_path, other=SHAPE).pipeline
    bound = bind(replace(one, source={"files": one.source, "topic": topic}, keys=[], aggregates={"n": agg.count()}), tmp_path / "state")
    batch = read("/data/a.csv", "kafka://broker:9092/orders?0:0-5")
    named = tuple(replace(file, source=name) for file, name in zip(batch.manifest, ("files", "topic"), strict=True))
    lineage.accumulated(bound, [replace(batch, manifest=named)], None)
    assert told[0][0] == ["/data/a.csv", "kafka://broker:9092/orders"]


def test_nothing_published_is_nothing_told(told: list[Any], tmp_path: Path) -> None:
    lineage.published(bind(Hourly(tmp_path, other=SHAPE).pipeline, tmp_path / "state"), [], None)
    assert told == []


def test_addresses_are_uris(tmp_path: Path) -> None:
    assert lineage.address_of("/data/a b#1.csv") == "file:///data/a%20b%231.csv"
