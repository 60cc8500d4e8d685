"""The oracle against windows small enough to draw."""

import math
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from muntin.testing.oracle import DAY, SECOND, Agg, Batch, Judgement, Session, Sliding, Tumbling, judge
from muntin.testing.oracle.kinds import micros

COUNT = {"n": Agg("count")}
HOUR = 3600 * SECOND


def batch(start: int, end: int, *times: int | None) -> Batch:
    """A batch of bare instants."""
    return Batch(start, end, [{"t": t} for t in times])


def drawn(rows: list[dict[str, Any]]) -> list[tuple[int, int, int, int | None]]:
    """(start, end, n, closing batch), sorted."""
    return sorted((row["window_start"], row["window_end"], row["n"], row["batch"]) for row in rows)


def over(name: str, *values: object, population: bool = False) -> Any:
    """An aggregate over bare values."""
    return Agg(name, lambda row: row["x"], population=population)([{"x": value} for value in values])


# batch 0 [0, 10)   1   4        W = 10
# batch 1 [10, 20)  3  12        W = 20
# [0, 10) closes with batch 0: 3 is late for it, and for no other window.
def test_a_window_closes_once_its_end_is_known() -> None:
    said = judge(Tumbling(10), [batch(0, 10, 1, 4), batch(10, 20, 3, 12)], COUNT)
    assert drawn(said.published) == [(0, 10, 2, 0), (10, 20, 1, 1)]
    assert said.late == {1: {0}}


# The same with 5 of grace: [0, 10) waits for W >= 15 and holds 3.
def test_grace_waits() -> None:
    said = judge(Tumbling(10, grace=5), [batch(0, 10, 1, 4), batch(10, 20, 3, 12)], COUNT)
    assert drawn(said.published) == [(0, 10, 3, 1)]
    assert drawn(said.still_open) == [(10, 20, 1, None)]


# batch 0 [0, 10) 6, batch 1 [10, 20) 8: too late for [0, 10), in time for [5, 15).
def test_late_is_a_matter_of_window() -> None:
    said = judge(Sliding(10, 5), [batch(0, 10, 6), batch(10, 20, 8)], COUNT)
    assert drawn(said.published) == [(0, 10, 1, 0), (5, 15, 2, 1)]
    assert said.late == {1: {0}}


def test_events_move_the_watermark_and_nothing_moves_it_back() -> None:
    batches = [batch(0, 10, 12), batch(10, 20, 3, 11), batch(20, 30)]
    assert judge(Tumbling(10), batches, COUNT, watermark="events").watermarks == [12, 12, 12]
    assert judge(Tumbling(10), batches, COUNT).watermarks == [10, 20, 30]


def test_rows_too_far_ahead_or_without_a_time_are_not_there() -> None:
    said = judge(Tumbling(10), [batch(0, 10, 15, 16, None)], COUNT, watermark="events", max_ahead=5)
    assert said.watermarks == [15]
    assert drawn(said.still_open) == [(10, 20, 1, None)]


def test_rows_left_out_move_the_watermark() -> None:
    said = judge(Tumbling(10), [batch(0, 10, 1, 10)], COUNT, watermark="events", where=lambda row: row["t"] < 5)
    assert drawn(said.published) == [(0, 10, 1, 0)]


# gap 5   0    5         16        22      (merge: 0-5 touch; 16 late at W = 30, bridged by 25, 20)
@pytest.mark.parametrize(
    ("touching", "late", "published"),
    [("merge", {1: {0}}, [(0, 10, 2, 0)]), ("split", {1: {0}}, [(0, 5, 1, 0), (5, 10, 1, 0)])],
)
def test_touching_sessions(touching: str, late: dict[int, set[int]], published: list[object]) -> None:
    said = judge(Session(5, touching=touching), [batch(0, 30, 0, 5), batch(30, 40, 16, 38)], COUNT)
    assert said.late == late
    assert drawn(said.published) == published
    assert drawn(said.still_open) == [(38, 43, 1, None)]


# gap 5, W(0) = 30: 22 alone ends at 27, late; with 26 the chain ends at 31 and is whole.
def test_a_chain_is_judged_whole() -> None:
    said = judge(Session(5), [batch(0, 30), batch(30, 40, 26, 22)], COUNT)
    assert drawn(said.published) == [(22, 31, 2, 1)]
    assert not said.late


def test_touching_decides_whether_the_exact_end_closes() -> None:
    for touching, closed in (("merge", 0), ("split", 1)):
        said = judge(Session(5, touching=touching), [batch(0, 10, 5)], COUNT)
        assert len(said.published) == closed


@pytest.mark.parametrize(
    ("zone", "day", "align_to", "hours"),
    [
        ("America/New_York", (2024, 3, 10), "00:00", 23),
        ("America/New_York", (2024, 11, 3), "00:00", 25),
        ("America/New_York", (2024, 3, 9), "23:59", 23),
        ("America/New_York", (2024, 11, 2), "23:59", 25),
        ("Europe/Berlin", (2024, 3, 31), "00:00", 23),
        ("Asia/Kolkata", (2024, 3, 31), "00:00", 24),
        ("America/Havana", (2024, 11, 3), "00:00", 25),
        ("America/Sao_Paulo", (2018, 11, 4), "00:00", 23),
    ],
)
def test_local_days_are_as_long_as_clocks_say(zone: str, day: tuple[int, ...], align_to: str, hours: int) -> None:
    hour, minute = map(int, align_to.split(":"))
    begin = micros(datetime(*day, hour, minute, tzinfo=ZoneInfo(zone)))  # type: ignore[misc, arg-type]
    window = Tumbling(DAY, align_to=align_to, timezone=zone)
    assert list(window.windows_for(begin)) == [(begin, begin + hours * HOUR)]
    assert next(iter(window.windows_for(begin - 1)))[1] == begin
    assert list(window.windows_for(begin + hours * HOUR - 1)) == [(begin, begin + hours * HOUR)]


def test_a_null_key_is_a_key() -> None:
    rows = [{"t": 1, "k": None}, {"t": 2, "k": "a"}, {"t": 3, "k": None}]
    said: Judgement = judge(Tumbling(10), [Batch(0, 10, rows)], COUNT, keys=["k"])
    assert sorted((str(row["k"]), row["n"]) for row in said.published) == [("None", 2), ("a", 1)]


def test_aggregates_take_nulls_as_sql_does() -> None:
    assert over("count", 1, None) == 1
    assert over("count_if", True, None, False) == 1
    assert [over(name, None) for name in ("sum", "mean", "min", "max", "variance", "first")] == 6 * [None]
    assert (over("first", None, 1), over("last", 1, None), over("sum", 1, None, 2)) == (None, None, 3)
    assert (over("variance", 1), over("variance", 1, population=True)) == (None, 0)
    assert over("variance", 1, 3) == 2


def test_nan_is_the_greatest_number() -> None:
    assert over("min", math.nan, 1.0) == 1.0
    assert math.isnan(over("max", math.nan, math.inf))
    assert math.isnan(over("mean", math.nan, 1.0))
