"""Sliding windows in order of arrival, and partitions that may not stay, against SPL's outputs."""

from typing import Any

import pytest

from muntin.testing.oracle import SECOND
from tests.oracle import Arrival, Count, Keep, Time
from tests.oracle.arrivals import Rows, by, held, rows, said


# The outputs of rules.md, section 1: default, and with incomplete windows before them.
@pytest.mark.parametrize(
    ("values", "evict", "trigger", "early", "full"),
    [
        ([1, 2, 3, 4, 5], Count(3), Count(1), [[1], [1, 2]], [[1, 2, 3], [2, 3, 4], [3, 4, 5]]),
        ([1, 2, 3, 4, 5, 6], Count(3), Count(2), [[1, 2]], [[2, 3, 4], [4, 5, 6]]),
        ([1, 2, 3, 4, 5, 6, 7], Count(2), Count(3), [], [[2, 3], [5, 6]]),
        ([0, 4, 11, 15, 30], Count(3), by(10), [[0, 4]], [[4, 11, 15]]),
        ([0, 4, 11, 15, 30], by(10), Count(1), [[0], [0, 4]], [[4, 11], [11, 15], [30]]),
        ([0, 4, 6, 12, 20], by(10), by(5), [[0, 4], [0, 4, 6]], [[4, 6, 12]]),
        ([10, 3, 9], by(5), Count(1), [[10], [10, 3]], [[10, 9]]),
        ([1, 2, 3], Count(0), Count(1), [], []),
        ([1, 2, 3], Count(3), Count(0), [], []),
    ],
)
def test_sliding_windows_of_spl(values: list[int], evict: Any, trigger: Any, early: list[Any], full: list[Any]) -> None:
    assert held(Arrival(evict, trigger), rows(*values)) == full
    assert held(Arrival(evict, trigger, incomplete=True), rows(*values)) == early + full
    cut = [rows(*values)[:2], rows(*values)[2:]]
    assert held(Arrival(evict, trigger), *cut) == full


# the last 3 s at every row; exactly 3 s old is in, and 7 finds nothing left of the count
#   0 1 3 | 4 | 8 9
# a window that runs empty keeps its trigger's state: the third of 4 8 9 fires, and holds two
def test_sliding_by_time() -> None:
    given = [{"t": 0, "a": a * SECOND, "v": a} for a in (0, 1, 3, 4, 8, 9)]
    assert held(Arrival(Time(3 * SECOND), Count(1)), given) == [[0], [0, 1], [0, 1, 3], [1, 3, 4], [8], [8, 9]]
    # every other row: 0 1, 3 4, 8 9
    assert held(Arrival(Time(3 * SECOND), Count(2)), given) == [[0, 1], [1, 3, 4], [8, 9]]
    # every third: 3, 9; at 8 the window had run empty, and 4 counts all the same
    assert held(Arrival(Time(3 * SECOND), Count(3)), given) == [[0, 1, 3], [8, 9]]
    given = [{"t": 0, "a": a * SECOND, "v": a} for a in (0, 4)]
    assert held(Arrival(Time(3 * SECOND), Count(2)), given) == [[4]]
    assert held(Arrival(Time(3 * SECOND), Count(2)), given[:1], given[1:]) == [[4]]


# by time, at ticks 4, 8, 12: what is at most 3 s old; at 8 nothing but 6
def test_sliding_by_time_at_ticks() -> None:
    given = [{"t": 0, "a": a * SECOND, "v": a} for a in (0, 1, 3, 6)]
    found = said(Arrival(Time(3 * SECOND), Time(4 * SECOND)), given, length=12).published
    assert [row["held"] for row in found] == [[1, 3], [6]]


# by time, when v rises by more than 10: before the row that rose; at 25 nothing is left to show, and 25 is the next base
def test_sliding_by_time_at_differences() -> None:
    given = [{"t": 0, "a": a * SECOND, "v": v} for a, v in ((0, 0), (1, 5), (2, 11), (20, 25), (21, 36))]
    assert held(Arrival(Time(3 * SECOND), by(10)), given) == [[0, 5], [25]]
    # the base stays 0 while the window runs empty: 6 - 0 > 5, and 6 is not in yet
    given = [{"t": 0, "a": a * SECOND, "v": a} for a in (0, 4, 6)]
    assert held(Arrival(Time(3 * SECOND), by(5)), given) == [[4]]
    assert held(Arrival(Time(3 * SECOND), by(5)), given[:1], given[1:]) == [[4]]


# age: a partition whose rows all left by time is not there to grow old; one that holds rows is dropped, its trigger's state too
def test_what_time_emptied_does_not_grow_old() -> None:
    given = [{"t": 0, "a": a * SECOND, "v": a} for a in (0, 20)]
    assert held(Arrival(Time(3 * SECOND), Count(2), keep=Keep(age=10 * SECOND)), given) == [[20]]
    assert held(Arrival(Time(15 * SECOND), Count(2), keep=Keep(age=10 * SECOND)), given) == []


# the last 2, every 5 s, also when nothing came; until two are in only if incomplete
def test_sliding_by_count_at_ticks() -> None:
    given = [{"t": 0, "a": a * SECOND, "v": a} for a in (1, 6, 7)]
    assert held(Arrival(Count(2), Time(5 * SECOND)), given, length=20) == [[6, 7]] * 3
    assert held(Arrival(Count(2), Time(5 * SECOND), incomplete=True), given, length=20) == [[1]] + [[6, 7]] * 3


# what is nearer than 10, every 5 s; full once something was too far
def test_sliding_by_difference_at_ticks() -> None:
    given = [{"t": 0, "a": a * SECOND, "v": v} for a, v in ((1, 0), (6, 8), (11, 12), (16, 13))]
    assert held(Arrival(by(10), Time(5 * SECOND)), given, length=20) == [[8, 12], [8, 12, 13]]


# sliding, flushed: once more if a row came since the last window
def test_a_sliding_window_is_flushed_once() -> None:
    window = Arrival(Count(2), Count(2), flush=True)
    assert held(window, rows(1, 2)) == [[1, 2]]
    assert held(window, rows(1, 2, 3)) == [[1, 2], [2, 3]]
    assert held(window, rows(1)) == [[1]]


def keyed(*found: tuple[int, str]) -> Rows:
    """(second, key); the value says when it came."""
    return [{"t": 0, "a": a * SECOND, "k": key, "v": a} for a, key in found]


# at most two partitions: c drops a, the least recently used
def test_partitions_by_count() -> None:
    given = keyed((0, "a"), (1, "b"), (2, "c"), (3, "b"), (4, "a"), (5, "a"))
    assert held(Arrival(Count(2), keep=Keep(count=2)), given, keys=("k",)) == [[1, 3], [4, 5]]
    emitted = said(Arrival(Count(2), keep=Keep(count=2, emit=True)), given, keys=("k",)).published
    assert [(row["k"], row["window_index"], row["held"]) for row in emitted] == [("a", 0, [0]), ("b", 0, [1, 3]), ("a", 1, [4, 5])]


# three rows altogether: the fourth drops b, though it fills a
def test_partitions_by_rows() -> None:
    given = keyed((0, "b"), (1, "a"), (2, "a"), (3, "a"), (4, "b"), (5, "b"), (6, "b"))
    assert held(Arrival(Count(3), keep=Keep(rows=3)), given, keys=("k",)) == [[1, 2, 3], [4, 5, 6]]
    assert held(Arrival(Count(3), keep=Keep(rows=3, emit=True)), given, keys=("k",)) == [[0], [1, 2, 3], [4, 5, 6]]


# not used for more than 5 s: a is dropped at 6, not when exactly 5 s are over; at the latest when the batch is over
def test_partitions_by_age() -> None:
    window = Arrival(Count(2), keep=Keep(age=5 * SECOND))
    assert held(window, keyed((0, "a"), (5, "b"), (5, "a")), keys=("k",), length=10) == [[0, 5]]
    assert held(window, keyed((0, "a"), (6, "b"), (6, "a")), keys=("k",)) == []
    emitted = Arrival(Count(2), keep=Keep(age=5 * SECOND, emit=True))
    assert held(emitted, keyed((0, "a"), (6, "b"), (6, "a")), keys=("k",), length=10) == [[0]]
    late = said(emitted, keyed((0, "a"), (6, "b")), [], length=10, keys=("k",)).published
    assert [(row["k"], row["held"], row["batch"]) for row in late] == [("a", [0], 0), ("b", [6], 1)]
