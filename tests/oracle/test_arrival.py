"""Tumbling windows in order of arrival against the examples of SPL's documents, S and C."""

from typing import Any

import pytest

from muntin.testing.oracle import SECOND, Agg, Batch, Tumbling, judge
from tests.oracle import Arrival, Count, Delta, Punctuation, Time
from tests.oracle.arrivals import by, held, rows, said


# S7, S8  |1 2 3 4|5 6 7 8|9      wherever batches end; 9 is open until it is flushed
@pytest.mark.parametrize("cut", range(10))
def test_the_nth_row_is_in_the_window_that_it_fills(cut: int) -> None:
    every = rows(*range(1, 10))
    found = said(Arrival(Count(4)), every[:cut], every[cut:])
    assert [(row["window_index"], row["held"]) for row in found.published] == [(0, [1, 2, 3, 4]), (1, [5, 6, 7, 8])]
    assert [(row["window_index"], row["held"], row["batch"]) for row in found.still_open] == [(2, [9], None)]
    flushed = said(Arrival(Count(4), flush=True), every[:cut], every[cut:])
    assert [(row["held"], row["batch"]) for row in flushed.published[2:]] == [([9], 1)]
    assert flushed.still_open == []


# 105 rows by 25: four windows, and with flush the last five
def test_what_is_left_comes_out_on_flush() -> None:
    assert [len(found) for found in held(Arrival(Count(25)), rows(*range(105)))] == [25] * 4
    assert [len(found) for found in held(Arrival(Count(25), flush=True), rows(*range(105)))] == [25] * 4 + [5]


# count(20), a batch ends after 6: 14 more fill it
def test_a_count_goes_on_over_batches() -> None:
    found = said(Arrival(Count(20)), rows(*range(6)), rows(*range(14)))
    assert [(row["n"], row["batch"]) for row in found.published] == [(20, 1)]


# S9: event times 3 1 2; the window goes by arrival and lies between the least and the largest
def test_contents_are_in_order_of_arrival() -> None:
    given = [{"t": t * SECOND, "v": t} for t in (3, 1, 2)]
    found = said(Arrival(Count(3)), given).published[0]
    assert (found["held"], found["window_start"], found["window_end"]) == ([3, 1, 2], 1 * SECOND, 3 * SECOND)


# S11, S12   0.5 1     |     7.2  |          |16
#            [0, 5) 2   [5, 10) 1   [10, 15) 0 when dense, with the window behind it
@pytest.mark.parametrize("dense", [False, True])
def test_tumbling_by_time(dense: bool) -> None:
    given = [{"t": 0, "a": round(a * SECOND), "v": a} for a in (0.5, 1, 7.2, 16)]
    batches = [given[:3], given[3:]]
    found = said(Arrival(Time(5 * SECOND), dense=dense), *batches, length=15).published
    wanted = [([0.5, 1], 0), ([7.2], 0), *([(None, 1)] if dense else []), ([16], 1)]
    assert [(row["held"], row["batch"]) for row in found] == wanted
    if dense:
        empty = found[2]
        assert (empty["window_start"], empty["window_end"], empty["n"], empty["window_index"]) == (10 * SECOND, 15 * SECOND, 0, 2)


# ticks at 5, 10: a row at 5 is behind the tick, and the tick at a batch's end is of that batch
def test_a_tick_fires_before_the_row_that_comes_with_it() -> None:
    given = [{"t": 0, "a": a * SECOND, "v": a} for a in (4, 5, 9)]
    found = said(Arrival(Time(5 * SECOND)), given, [], length=10).published
    assert [(row["held"], row["batch"]) for row in found] == [([4], 0), ([5, 9], 0)]


# started at -3: ticks at 2, 7, 12
def test_ticks_count_from_the_start_of_the_pipeline() -> None:
    given = [{"t": 0, "a": a * SECOND, "v": a} for a in (1, 2, 6, 7)]
    found = said(Arrival(Time(5 * SECOND)), given, length=10, start=-3 * SECOND)
    assert [row["held"] for row in found.published] == [[1], [2, 6]]
    assert [row["held"] for row in found.still_open] == [[7]]


# batch [0, 10): said to come at 4, 2, 99, nothing, -5; it came at 4, 4, 10 - 1 us, and so on
def test_arrival_time_goes_on_and_stays_in_its_batch() -> None:
    given = [{"t": 0, "a": None if a is None else a * SECOND, "v": a} for a in (4, 2, 99, None, -5)]
    found = said(Arrival(Time(5 * SECOND)), given, length=10).published
    assert [row["held"] for row in found] == [[4, 2], [99, -5]]
    assert [row["n"] for row in found] == [2, 3]


# C1: three are in, or an hour is over
def test_a_count_or_a_time_whichever_is_first() -> None:
    given = [{"t": 0, "a": a * SECOND, "v": a} for a in (1, 2, 3, 4, 11, 12)]
    found = said(Arrival(Count(3, or_time=5 * SECOND)), given, length=20).published
    assert [row["held"] for row in found] == [[1, 2, 3], [4], [11, 12]]


# S13  1 2 | 3 || 4       a marker is no member; nothing held: nothing comes out
def test_a_marker_ends_the_window() -> None:
    window = Arrival(Punctuation(lambda row: row["v"] == "|"))
    found = said(window, rows(1, 2, "|", 3), rows("|", "|", 4))
    assert [(row["held"], row["batch"]) for row in found.published] == [([1, 2], 0), ([3], 1)]
    assert [row["held"] for row in found.still_open] == [[4]]


# one marker, of key b, ends the windows of a and c
def test_a_marker_is_for_all_partitions() -> None:
    given = [{"t": 0, "k": key, "v": value} for key, value in [("a", 1), ("c", 2), ("b", "|"), ("a", 3), ("a", "|")]]
    every = said(Arrival(Punctuation(lambda row: row["v"] == "|")), given, keys=("k",))
    assert [(row["k"], row["held"]) for row in every.published] == [("a", [1]), ("c", [2]), ("a", [3])]
    own = said(Arrival(Punctuation(lambda row: row["v"] == "|", everywhere=False)), given, keys=("k",))
    assert [(row["k"], row["held"]) for row in own.published] == [("a", [1, 3])]


# S14: files a (3 rows) and b (2)
def test_the_end_of_a_file_or_of_a_batch_ends_the_window() -> None:
    given = [{"t": 0, "v": n, "file": file} for n, file in enumerate("aaabb")]
    assert held(Arrival(Punctuation("file")), given) == [[0, 1, 2], [3, 4]]
    assert held(Arrival(Punctuation("batch")), given[:1], [], given[1:]) == [[0], [1, 2, 3, 4]]


# S16-S20: new less oldest, more than 1.5, never a fall, and the new one opens the next window
@pytest.mark.parametrize(
    ("values", "out"),
    [
        ([16.0, 16.4, 17.1, 17.6], [[16.0, 16.4, 17.1]]),
        ([16.4, 16.0, 17.1, 17.6], []),
        ([16.0, 17.5], []),
        ([16.0, 10.0], []),
        ([16.0, None, 18.0], [[16.0]]),
    ],
)
def test_tumbling_by_difference(values: list[float], out: list[list[float]]) -> None:
    assert held(Arrival(by(1.5)), rows(*values)) == out


def test_an_absolute_difference_sees_a_fall() -> None:
    assert held(Arrival(by(1.5, absolute=True)), rows(16.0, 10.0)) == [[16.0]]


# S21: by event time, 60 s: 0, 30, 60, 61. Out of order stays where it came.
def test_tumbling_by_event_time() -> None:
    window = Arrival(Delta(lambda row: row["t"], 60 * SECOND), flush=True)
    for times, out in (((0, 30, 60, 61), [[0, 30, 60], [61]]), ((30, 0, 90, 91), [[30, 0, 90], [91]])):
        assert held(window, [{"t": t * SECOND, "v": t} for t in times]) == out


# C3: by date, difference 0
def test_tumbling_by_date() -> None:
    found = said(Arrival(by(0)), rows(1, 1, 2, 2, 3))
    assert [row["held"] for row in found.published] == [[1, 1], [2, 2]]
    assert [row["held"] for row in found.still_open] == [[3]]


# S22: full over all rows, a row for each group
def test_groups_are_inside_a_window() -> None:
    given = [{"t": n, "v": n, "g": g} for n, g in enumerate("aaba")]
    found = said(Arrival(Count(4), group_by=("g",)), given).published
    assert [(row["window_index"], row["g"], row["held"]) for row in found] == [(0, "a", [0, 1, 3]), (0, "b", [2])]
    assert [(row["window_start"], row["window_end"]) for row in found] == [(0, 3), (2, 2)]


# every partition is an operator of its own
def test_partitions_are_apart() -> None:
    given = [{"t": 0, "v": n, "k": key} for n, key in enumerate(["a", "b", None, "a", "b", "a", None])]
    found = said(Arrival(Count(2)), given, keys=("k",)).published
    assert [(row["k"], row["window_index"], row["held"]) for row in found] == [("a", 0, [0, 3]), ("b", 0, [1, 4]), (None, 0, [2, 6])]


# C7: sums by three, those by time: (6 at 3) (15 at 6) fed to five seconds
def test_two_stages() -> None:
    first = said(Arrival(Count(3)), [{"t": n * SECOND, "v": n} for n in range(1, 8)]).published
    second = [{"t": row["window_end"], "v": sum(row["held"])} for row in first]
    total = judge(Tumbling(5 * SECOND), [Batch(0, 10 * SECOND, second)], {"sum": Agg("sum", lambda row: row["v"])}).published
    assert [(row["window_start"] // SECOND, row["sum"]) for row in total] == [(0, 6), (5, 15)]


# S4: every event is in exactly one tumbling window
@pytest.mark.parametrize("evict", [Count(3), Time(5 * SECOND), by(4), Punctuation("batch"), Count(4, or_time=7 * SECOND)])
def test_a_row_is_in_one_tumbling_window(evict: Any) -> None:
    given = rows(*[n * 7 % 11 for n in range(30)])
    found = said(Arrival(evict), given[:13], given[13:], length=30)
    assert sum(row["n"] for row in found.published + found.still_open) == 30
