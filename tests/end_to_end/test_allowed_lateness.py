"""Rows that come late revise windows that are published: step by step, in bulk, and as readers of changes see it."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from muntin import Pipeline, Retain, read, run, sources, windows
from muntin import aggregates as agg
from muntin.errors import DefinitionError

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
