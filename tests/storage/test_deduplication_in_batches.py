"""Rows that repeat rows of earlier batches do not count, in whatever order batches are read: as if such rows had never come."""

import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from muntin.jobs.records.reports_table import last_accumulated
from tests.case_counts import cases
from tests.properties.equal_values import bitwise
from tests.storage.crashing import Crash, Crashing
from tests.storage.repeated_events import Repeating, Row, clean, naively

HOURS = 5


def same(ours: dict[str, pa.Table], theirs: dict[str, pa.Table]) -> bool:
    return all(bitwise(ours[name], theirs[name]) for name in theirs)


# batch            0           1                     2
# event time       0:10        1:10  1:10:01  1:09   2:10
# id               a           a     b        b      b     within 60 minutes, both ends included
# counts           x           -     x        -      x
RULE: list[tuple[str, list[list[Row]], list[list[int]]]] = [
    ("at the end of reach", [[("a", 10, 1)], [("a", 70, 2)]], [[1], []]),
    ("behind it", [[("a", 10, 1)], [("a", 70.001, 2)]], [[1], [2]]),
    ("an earlier event time", [[("a", 55, 1)], [("a", 50, 2)]], [[1], []]),
    ("before reach", [[("a", 59, 1)], [("a", -1.001, 2)]], [[1], [2]]),
    ("nulls", [[(None, 10, 1)], [(None, 70, 2)]], [[1], [2]]),
    ("a duplicate is compared with, too", [[("a", 10, 1)], [("a", 65, 2)], [("a", 125, 4)]], [[1], [], []]),
    ("the first of its batch alone", [[("a", 0, 1), ("a", 59, 2)], [("a", 61, 4)]], [[1], [4]]),
    ("a refused row repeats nothing", [[("a", 60 * 26, 1)], [("a", 70, 2)]], [[], [2]]),
    ("two batches before", [[("a", 59, 1)], [], [("a", 61, 2)]], [[1], [], []]),
]


@pytest.mark.parametrize(("batches", "counted"), [case[1:] for case in RULE], ids=[case[0] for case in RULE])
def test_the_rule(batches: list[list[Row]], counted: list[list[int]], tmp_path: Path) -> None:
    case = Repeating(tmp_path)
    for at, rows in enumerate(batches):
        case.write(at, rows)
    report = case.run(0, len(batches) - 1)
    assert [batch.rows_accepted for batch in report.batches] == list(map(len, counted))
    for batch in report.batches:
        assert batch.rows_read == batch.rows_accepted + batch.rows_left_out + batch.rows_quarantined + batch.rows_duplicate


# An id of three comes within three hours around its batch, so that many rows repeat others, late ones too.
ROWS = st.lists(
    st.tuples(st.sampled_from(["a", "b", "c", None]), st.integers(-120, 80), st.integers(0, 9)).filter(lambda row: row[0] or row[2] < 3),
    max_size=6,
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("replace"), st.integers(0, HOURS - 1), ROWS),
        st.tuples(st.just("accumulate"), st.lists(st.integers(0, HOURS - 1), min_size=1, max_size=3, unique=True)),
        st.tuples(st.just("run"), st.integers(0, HOURS - 1), st.integers(0, 2)),
        st.tuples(st.just("crash"), st.integers(0, HOURS - 1), st.integers(0, 40)),
    ),
    max_size=6,
)


def moved(at: int, rows: list[Row]) -> list[Row]:
    return [(name, None if minute is None else 60 * at + minute, x) for name, minute, x in rows]


@settings(
    max_examples=cases(75),
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(st.lists(ROWS, min_size=HOURS, max_size=HOURS), STEPS, st.sampled_from(["interval", "events"]))
def test_any_history_ends_as_a_clean_run(first: list[list[Row]], steps: list[tuple[Any, ...]], watermark: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        case = Repeating(Path(folder) / "ours", watermark=watermark)
        rows = {at: moved(at, of_hour) for at, of_hour in enumerate(first)}
        for at, of_hour in rows.items():
            case.write(at, of_hour)
        for step in steps:
            apply(case, rows, step)
        case.run(0, HOURS - 1)
        wanted, report = clean(Path(folder) / "clean", rows, watermark)
        assert same(case.published(), wanted)
        left = naively(rows)
        told = last_accumulated(case.bound().store).values()
        assert [one["rows_duplicate"] for one in sorted(told, key=lambda one: one["batch"])] == [
            len(rows[at]) - len(left[at]) for at in range(HOURS)
        ]
        assert [one.rows_late for one in report.batches] == [one.rows_late for one in case.run(0, HOURS - 1).batches]


def apply(case: Repeating, rows: dict[int, list[Row]], step: tuple[Any, ...]) -> None:
    """Do what a step of a history says. What is read is always of the newest files."""
    what, given_first, *more = step
    if what == "replace":
        rows[given_first] = moved(given_first, more[0])
        case.write(given_first, rows[given_first])
        case.accumulate(given_first)
    elif what == "accumulate":
        case.accumulate(*sorted(given_first))
    elif what == "run":
        case.run(given_first, min(given_first + more[0], HOURS - 1))
    else:
        store = Crashing(case.bound().store, more[0], after=more[0] % 2 == 0)
        with suppress(Crash):
            case.run(given_first, given_first, store=store)


# batches      0   1   2   3   4
# read         3   4   0           history is the run that was published first: 3, 4
# then             1   2           all of them
def test_a_batch_that_waits_takes_nothing_from_history(tmp_path: Path) -> None:
    case = Repeating(tmp_path / "ours")
    rows: dict[int, list[Row]] = {at: [("a", 60.0 * at + 30, 2 * at)] for at in range(5)}
    rows[0] = [("a", 170, 0)]
    for at, of_hour in rows.items():
        case.write(at, of_hour)
    case.run(3, 4)
    case.run(0, 0)
    case.run(4, 4)
    assert same(case.published(), clean(tmp_path / "late", {at: rows[at] for at in (3, 4)})[0])
    case.run(1, 2)
    assert same(case.published(), clean(tmp_path / "clean", rows)[0])
