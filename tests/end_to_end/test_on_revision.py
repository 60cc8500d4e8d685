"""`on_revision="ask"`: what would change published windows is held until a person says yes, as what fails a suite."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from muntin import Pipeline, read, run, sources, windows
from muntin import aggregates as agg
from muntin.definition.instants import instant_us
from muntin.errors import ExpectationsError
from muntin.jobs.inspect.status import status
from muntin.jobs.publish.held import held_windows
from muntin.jobs.publish_approved import publish_approved
from muntin.jobs.records.batch_status import batch_states
from muntin.jobs.state.bound import bind
from muntin.quality.suite import ExpectationsFailed
from muntin.tasks import Local
from tests.case_counts import at_length

# each day its own row; the batch of 3 May brings 100 of 1 May, which is published
DAYS = {1: ["1T10:00:00Z,1"], 2: ["2T10:00:00Z,1"], 3: ["3T10:00:00Z,1", "1T11:00:00Z,100"], 4: ["4T10:00:00Z,1"]}


def day(number: int) -> datetime:
    return datetime(2024, 5, number, tzinfo=UTC)


def asking(folder: Path, **more: Any) -> Pipeline:
    for number, rows in DAYS.items():
        (folder / f"2024-05-0{number}.csv").write_text("\n".join(["k,at,x", *(f"a,2024-05-0{row}" for row in rows)]) + "\n")
    asked = {"windows": {"day": windows.tumbling("1d", allowed_lateness="10d")}, "on_revision": "ask"} | more
    return Pipeline(
        name="asking",
        source=sources.files(str(folder / "{start:%Y-%m-%d}.csv"), event_time="at"),
        schedule="@daily",
        start=day(1),
        keys=["k"],
        aggregates={"s": agg.sum("x")},
        **asked,
    )


def run_day(pipeline: Pipeline, root: Path, number: int) -> None:
    run(pipeline, root=root, start=day(number), end=day(number + 1), spark=Local())


def sums(pipeline: Pipeline, root: Path) -> dict[int, int]:
    return {row["window_start"].day: row["s"] for row in read(pipeline, "day", root=root).to_pylist()}


@pytest.fixture
def held(tmp_path: Path) -> Pipeline:
    """Two days are published; the third would change the first."""
    pipeline = asking(tmp_path)
    for number in (1, 2):
        run_day(pipeline, tmp_path, number)
    with pytest.raises(ExpectationsFailed) as failed:
        run_day(pipeline, tmp_path, 3)
    assert "critical: published_windows_stay(on_revision='ask')\n    1 row not as expected" in str(failed.value)
    assert "1 -> 101" in str(failed.value)
    assert f"muntin publish FILE --despite {failed.value.verdict} --reason WHY" in str(failed.value)
    return pipeline


def test_a_correction_is_held_with_old_and_new_values(held: Pipeline, tmp_path: Path) -> None:
    assert sums(held, tmp_path) == {1: 1, 2: 1}
    (windows_held,) = held_windows(bind(held, tmp_path))
    (check,) = windows_held.reports["day"]["checks"]
    assert [row["s"] for row in check["failing_rows"]] == ["1 -> 101"]
    said = batch_states(bind(held, tmp_path), instant_us(day(5), "now"))
    assert {each.state: each.verdict for each in said.listed if each.state == "held"} == {"held": windows_held.name}
    assert status(held, root=tmp_path).watermark == day(3)


def test_a_person_publishes_it_and_the_next_run_goes_on(held: Pipeline, tmp_path: Path) -> None:
    (windows_held,) = held_windows(bind(held, tmp_path))
    report = publish_approved(held, root=tmp_path, verdict=windows_held.name, by="ann", reason="a till was offline", spark=Local())
    assert sums(held, tmp_path) == {1: 101, 2: 1, 3: 1}
    assert {each.despite["by"] for each in report.batches if each.despite} == {"ann"}
    run_day(held, tmp_path, 4)
    assert sums(held, tmp_path) == {1: 101, 2: 1, 3: 1, 4: 1}


def test_a_later_run_asks_for_all_that_waits(held: Pipeline, tmp_path: Path) -> None:
    (before,) = held_windows(bind(held, tmp_path))
    with pytest.raises(ExpectationsError):
        run_day(held, tmp_path, 4)
    assert sums(held, tmp_path) == {1: 1, 2: 1}
    names = {each.name for each in held_windows(bind(held, tmp_path))}
    (now,) = names - {before.name}
    publish_approved(held, root=tmp_path, verdict=now, by="ann", reason="known", spark=Local())
    assert sums(held, tmp_path) == {1: 101, 2: 1, 3: 1, 4: 1}
    assert held_windows(bind(held, tmp_path)) == []


def test_sessions_that_are_joined_are_held(tmp_path: Path) -> None:
    pipeline = asking(tmp_path, windows={"day": windows.session("2h", allowed_lateness="10d")})
    for number in (1, 2):
        run_day(pipeline, tmp_path, number)
    with pytest.raises(ExpectationsFailed) as failed:
        run_day(pipeline, tmp_path, 3)
    (check,) = failed.value.report.to_dict()["checks"]
    assert [row["s"] for row in check["failing_rows"]] == ["1 -> no window", "no window -> 101"]


def test_what_is_new_and_what_is_the_same_is_published(tmp_path: Path) -> None:
    pipeline = asking(tmp_path, windows={"day": windows.tumbling("1d")})
    run(pipeline, root=tmp_path, start=day(1), end=day(5), spark=Local())
    run(pipeline, root=tmp_path, start=day(1), end=day(5), spark=Local())
    assert sums(pipeline, tmp_path) == {1: 1, 2: 1, 3: 1, 4: 1}


def test_a_changed_definition_is_no_revision(tmp_path: Path) -> None:
    run(asking(tmp_path, windows={"day": windows.tumbling("1d")}), root=tmp_path, start=day(1), end=day(5), spark=Local())
    late = asking(tmp_path)
    run_day(late, tmp_path, 4)
    assert sums(late, tmp_path) == {1: 101, 2: 1, 3: 1, 4: 1}


@at_length
def test_a_suite_is_asked_too(tmp_path: Path) -> None:
    suite = tmp_path / "suite.json"
    suite.write_text(json.dumps({"name": "s", "expectations": [{"type": "expect_column_to_exist", "kwargs": {"column": "s"}}]}))
    pipeline = asking(tmp_path, expectations={"day": suite})
    run_day(pipeline, tmp_path, 1)
    run_day(pipeline, tmp_path, 2)
    with pytest.raises(ExpectationsFailed) as failed:
        run_day(pipeline, tmp_path, 3)
    checks = [(check["type"], check["success"]) for check in failed.value.report.to_dict()["checks"]]
    assert checks == [("expect_column_to_exist", True), ("published_windows_stay", False)]
