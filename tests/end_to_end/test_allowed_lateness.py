"""Rows that come late revise windows that are published: step by step, in bulk, and as readers of changes see it."""

import random
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from muntin import Pipeline, Retain, as_of, read, run, sources, windows
from muntin import aggregates as agg
from muntin.definition.instants import instant_us
from muntin.errors import DefinitionError
from muntin.jobs.inspect.late import late
from muntin.jobs.records.metrics import of_publishing
from muntin.tasks import Local
from tests.case_counts import at_length

DAYS: Mapping[int, Sequence[str]] = {
    1: ["1T10:00:00Z,1"],
    2: ["2T10:00:00Z,1"],
    3: ["3T10:00:00Z,1", "1T11:00:00Z,100"],
    4: ["4T10:00:00Z,1"],
}


def day(number: int) -> datetime:
    return datetime(2024, 5, number, tzinfo=UTC)


def defined(folder: Path, window: Any, days: Mapping[int, Sequence[str]] = DAYS, **more: Any) -> Pipeline:
    """Files of days, whose rows are of this day or of days before."""
    for number, rows in days.items():
        lines = ["k,at,x", *(f"a,2024-05-0{row}" for row in rows)]
        (folder / f"2024-05-0{number}.csv").write_text("\n".join(lines) + "\n")
    return Pipeline(
        name="late",
        source=sources.files(str(folder / "{start:%Y-%m-%d}.csv"), event_time="at"),
        schedule="@daily",
        start=day(1),
        keys=["k"],
        windows={"w": window},
        aggregates={"s": agg.sum("x")},
        **more,
    )


def sums(pipeline: Pipeline, root: Path) -> dict[int, Any]:
    """Day -> the sum of the window that begins in it."""
    return {row["window_start"].day: row["s"] for row in read(pipeline, "w", root=root).to_pylist()}


def test_a_day_is_published_at_once_and_corrected_later(tmp_path: Path) -> None:
    pipeline, seen = defined(tmp_path, windows.tumbling("1d", allowed_lateness="10d")), []
    for number in DAYS:
        run(pipeline, root=tmp_path / "state", start=day(number), end=day(number + 1))
        seen.append(sums(pipeline, tmp_path / "state").get(1))
    assert seen == [1, 1, 101, 101]
    run(pipeline, root=tmp_path / "bulk", start=day(1), end=day(5))
    assert read(pipeline, "w", root=tmp_path / "bulk").equals(read(pipeline, "w", root=tmp_path / "state"))


def test_what_comes_later_than_allowed_is_late(tmp_path: Path) -> None:
    pipeline = defined(tmp_path, windows.tumbling("1d", allowed_lateness="23h"))
    run(pipeline, root=tmp_path / "state", start=day(1), end=day(5))
    assert sums(pipeline, tmp_path / "state") == {1: 1, 2: 1, 3: 1, 4: 1}


def test_a_late_row_joins_two_sessions_that_are_published(tmp_path: Path) -> None:
    days = {1: ["1T02:00:00Z,1", "1T08:00:00Z,10"], 2: ["1T05:00:00Z,100"]}
    pipeline = defined(tmp_path, windows.session("4h", allowed_lateness="2d"), days)
    run(pipeline, root=tmp_path / "state", start=day(1), end=day(2))
    before = read(pipeline, "w", root=tmp_path / "state")["s"].to_pylist()
    run(pipeline, root=tmp_path / "state", start=day(2), end=day(3))
    assert (before, read(pipeline, "w", root=tmp_path / "state")["s"].to_pylist()) == ([1, 10], [111])


def test_readers_of_changes_get_the_correction_alone(tmp_path: Path) -> None:
    pipeline, root = defined(tmp_path, windows.tumbling("1d", allowed_lateness="10d")), tmp_path / "state"
    run(pipeline, root=root, start=day(1), end=day(3))
    seen = max(read(pipeline, "w", root=root, changes_since=-1)["revision"].to_pylist())
    run(pipeline, root=root, start=day(3), end=day(4))
    changes = read(pipeline, "w", root=root, changes_since=seen)
    assert [(row["window_start"].day, row["s"]) for row in changes.to_pylist()] == [(1, 101), (3, 1)]


def test_what_may_be_revised_is_not_removed(tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match="states of 5d would be gone while late rows may still revise"):
        defined(tmp_path, windows.tumbling("1d", allowed_lateness="10d"), retain=Retain(states="5d"))


KINDS = {
    "tumbling": windows.tumbling("6h", allowed_lateness="2d"),
    "sliding": windows.sliding("1d", step="6h", grace="2h", allowed_lateness="30h"),
    "session": windows.session("3h", allowed_lateness="2d"),
    "cut": windows.session("3h", max_length="8h", allowed_lateness="2d"),
    "unique": windows.unique_sliding("5h", allowed_lateness="2d"),
    "while_": windows.while_("x > 3", allowed_lateness="2d"),
    "trailing": windows.trailing(days=2, every="12h", closed="right", allowed_lateness="3d"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_as_of_answers_with_what_was_published_then(tmp_path: Path, kind: str) -> None:
    dice = random.Random(kind)
    days = {
        number: [
            f"{max(1, number - dice.choice([0, 0, 0, 1, 2, 3]))}T{dice.randrange(24):02}:{dice.randrange(60):02}:00Z,{dice.randrange(10)}"
            for _ in range(12)
        ]
        for number in range(1, 8)
    }
    pipeline = defined(tmp_path, KINDS[kind], days)
    run(pipeline, root=tmp_path / "all", start=day(1), end=day(8))
    for last in range(1, 8):
        run(pipeline, root=tmp_path / "then", start=day(last), end=day(last + 1))
        instants = [day(last + 1) + timedelta(hours=dice.randrange(24), minutes=dice.randrange(60)) for _ in range(5)]
        rows = pa.table({"k": ["a"] * 6, "at": pa.array([day(last + 1), *instants], pa.timestamp("us", "UTC"))})
        then, now = (as_of(pipeline, "w", rows, at="at", root=tmp_path / name) for name in ("then", "all"))
        assert now.to_pylist() == then.to_pylist(), last
    counted = counts(pipeline, tmp_path / "all")
    assert counted == counts(pipeline, tmp_path / "then")
    assert sum(correcting for _, _, correcting, _ in counted)
    assert {(in_time or 0) + correcting + late_rows for _, in_time, correcting, late_rows in counted} == {12}


# windows of a day, published by the batch of their day, final 23h later
# batch of 3 May     1 May: too late    2 May twice: corrections    3 May: in time
# batch of 4 May                        2 May: too late             4 May: in time
COUNTED = {
    1: ["1T10:00:00Z,1"],
    2: ["2T10:00:00Z,1", "2T11:00:00Z,1"],
    3: ["3T10:00:00Z,1", "1T11:00:00Z,10", "2T11:00:00Z,100", "2T12:00:00Z,100"],
    4: ["4T10:00:00Z,1", "2T11:00:00Z,10"],
}


def counts(pipeline: Pipeline, root: Path) -> list[tuple[int, int | None, int, int]]:
    return [(each.batch.day, each.in_time, each.correcting, each.late) for each in late(pipeline, "w", root=root)]


def test_rows_are_in_time_or_a_correction_or_too_late(tmp_path: Path) -> None:
    pipeline = defined(tmp_path, windows.tumbling("1d", allowed_lateness="23h"), COUNTED)
    reports = [run(pipeline, root=tmp_path / "steps", start=day(at), end=day(at + 1)).batches[0] for at in COUNTED]
    bulk = run(pipeline, root=tmp_path / "bulk", start=day(1), end=day(5))
    assert counts(pipeline, tmp_path / "steps") == counts(pipeline, tmp_path / "bulk") == [(3, 1, 2, 1), (4, 1, 0, 1)]
    assert [each.rows_correcting for each in reports] == [{"w": 0}, {"w": 0}, {"w": 2}, {"w": 0}]
    assert [each.rows_correcting for each in bulk.batches] == [each.rows_correcting for each in reports]
    starts = [instant_us(each.interval_start, "start") for each in reports]
    assert {each.name: (each.value, each.window) for each in of_publishing("late", reports, starts, {})} == {
        "muntin.rows_late": (2, None),
        "muntin.rows_correcting": (2, "w"),
    }


def test_a_replaced_batch_is_counted_anew(tmp_path: Path) -> None:
    pipeline = defined(tmp_path, windows.tumbling("1d", allowed_lateness="23h"), COUNTED)
    run(pipeline, root=tmp_path / "state", start=day(1), end=day(5))
    defined(tmp_path, windows.tumbling("1d"), {3: ["3T10:00:00Z,1", "2T11:00:00Z,100"]})
    run(pipeline, root=tmp_path / "state", start=day(3), end=day(4))
    assert counts(pipeline, tmp_path / "state") == [(3, 1, 1, 0), (4, 1, 0, 1)]


# 1 May 02 and 08: two sessions of 4h; the batch of 2 May brings 05, which joins them; that of 4 May 19, of a session that ended at 23
def test_a_row_that_joins_published_sessions_corrects(tmp_path: Path) -> None:
    days = {1: ["1T02:00:00Z,1", "1T08:00:00Z,10"], 2: ["1T05:00:00Z,100"], 3: [], 4: ["1T19:00:00Z,1"]}
    pipeline = defined(tmp_path, windows.session("4h", allowed_lateness="2d"), days)
    run(pipeline, root=tmp_path / "state", start=day(1), end=day(5))
    assert counts(pipeline, tmp_path / "state") == [(2, 0, 1, 0), (4, 0, 0, 1)]


@at_length
def test_counts_are_the_same_on_spark(tmp_path: Path, spark: Any) -> None:
    for name, kind in {
        "day": windows.tumbling("1d", allowed_lateness="23h"),
        "visit": windows.session("4h", allowed_lateness="2d"),
    }.items():
        pipeline = defined(tmp_path, kind, COUNTED)
        for root, session in ((f"{name}_here", Local()), (f"{name}_spark", spark)):
            run(pipeline, root=tmp_path / root, start=day(1), end=day(5), spark=session)
        assert counts(pipeline, tmp_path / f"{name}_here") == counts(pipeline, tmp_path / f"{name}_spark") != []
