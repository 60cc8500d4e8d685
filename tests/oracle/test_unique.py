"""Unique windows: KIP-450's property without an oracle, the resolution, and who is late."""

import random
from typing import Any

import pytest

from muntin.testing.oracle import Agg, Batch, judge
from tests.oracle import Unique

HELD = {"held": Agg("collect", lambda row: row["id"])}
Set = frozenset[int]


def batch(start: int, end: int, *times: int) -> Batch:
    """A batch of bare instants, each its own record."""
    return Batch(start, end, [{"t": t, "id": start * 1000 + n} for n, t in enumerate(times)])


def drawn(rows: list[dict[str, Any]]) -> list[tuple[int, int, int, int | None]]:
    """(start, end, n, closing batch), sorted."""
    return sorted((row["window_start"], row["window_end"], len(row["held"]), row["batch"]) for row in rows)


def slid(times: list[int], size: int) -> set[Set]:
    """What a closed window holds as it slides over all integers, one by one."""
    every = range(min(times) - size, max(times) + 1)
    return {frozenset(n for n, t in enumerate(times) if start <= t <= start + size) for start in every} - {frozenset()}


# A4: every distinct set of records is in exactly one window.
@pytest.mark.parametrize("seed", range(300))
def test_windows_are_the_distinct_sets_of_records_one_to_one(seed: int) -> None:
    dice = random.Random(seed)
    times = [dice.randint(0, 60) for _ in range(dice.randint(1, 9))]
    size = dice.randint(1, 25)
    said = judge(Unique(size, 1), [batch(0, 1000, *times)], HELD)
    sets = [frozenset(row["held"]) for row in said.published]
    assert sorted(map(sorted, sets)) == sorted(map(sorted, slid(times, size)))
    assert len(set(sets)) == len(sets)


# Whatever the order and the cuts, while nothing is late.
@pytest.mark.parametrize("seed", range(100))
def test_one_record_a_batch_makes_the_same_windows(seed: int) -> None:
    dice = random.Random(seed)
    times = [dice.randint(0, 60) for _ in range(dice.randint(1, 9))]
    whole = [{"t": t, "id": n} for n, t in enumerate(times)]
    alone = dice.sample(whole, len(whole))
    window = Unique(dice.randint(1, 25), 1, dice.choice(["change", "enter"]), grace=100)
    first = judge(window, [Batch(0, 1000, whole)], HELD)
    second = judge(window, [Batch(n, n + 1, [row]) for n, row in enumerate(alone)], HELD, watermark="events")
    assert [contents(first)] == [contents(second)]


def contents(said: Any) -> dict[tuple[int, int], Set]:
    """(start, end) -> records."""
    return {(row["window_start"], row["window_end"]): frozenset(row["held"]) for row in said.published + said.still_open}


# resolution 10   100 109 | 110     120         100 and 109 are one time
#  80 |--------|
#     90 |-----------|
#      100 |------------------|
#               110 |--------------| 130      made by 100, of what comes behind it
#                             120 |---125---| made by 110
def test_times_are_multiples_of_the_resolution() -> None:
    said = judge(Unique(20, 10), [batch(0, 1000, 100, 109, 110, 125)], HELD)
    assert drawn(said.published) == [(80, 100, 2, 0), (90, 110, 3, 0), (100, 120, 4, 0), (110, 130, 2, 0), (120, 140, 1, 0)]


# resolution 10, grace 5: [80, 100] holds what comes before 110; it closes with W = 115, not with 114.
def test_the_last_unit_belongs_to_the_window() -> None:
    said = judge(Unique(20, 10, "enter", 5), [batch(0, 114, 100), batch(114, 115, 105), batch(115, 116, 106)], HELD)
    assert drawn(said.published) == [(80, 100, 2, 1)]
    assert said.late == {2: {0}}


# size 10: 100 and 103 in batch 0, W = 120; then 104 is late for [94, 104] and [101, 111], of which the second is there.
def test_a_late_event_makes_no_window_and_changes_none() -> None:
    said = judge(Unique(10, 1), [batch(0, 120, 100, 103), batch(120, 130, 104)], HELD)
    assert drawn(said.published) == [(90, 100, 1, 0), (93, 103, 2, 0), (101, 111, 1, 0)]
    assert said.late == {1: {0}}


# size 10, W = 105: 100 is late for [90, 100], in time for [95, 105] of another event, and makes [101, 111].
def test_late_for_its_own_window_in_time_for_anothers() -> None:
    said = judge(Unique(10, 1), [batch(0, 105, 105), batch(105, 130, 100)], HELD)
    assert drawn(said.published) == [(95, 105, 2, 1), (101, 111, 1, 1)]
    assert said.late == {1: {0}}


# B4: by value; two keys at the same times have their own windows.
def test_each_key_has_windows_of_its_own() -> None:
    rows = [{"t": 100, "v": "a"}, {"t": 103, "v": "b"}, {"t": 104, "v": "a"}]
    said = judge(Unique(10, 1), [Batch(0, 1000, rows)], {"n": Agg("count")}, keys=["v"])
    found = sorted((row["v"], row["window_start"], row["n"]) for row in said.published)
    assert found == [("a", 90, 1), ("a", 94, 2), ("a", 101, 1), ("b", 93, 1)]
