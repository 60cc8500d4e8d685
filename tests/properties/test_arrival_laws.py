"""What is true of windows in order of arrival whatever the rows are."""

import random
from dataclasses import replace
from typing import Any

import pytest

from muntin.testing.oracle import Agg, Batch, Judgement
from tests.oracle import Arrival, Count, Delta, Punctuation, Time, judge_arrival
from tests.properties.random_arrivals import asked, batches

HELD = {"held": Agg("collect", lambda row: (row["t"], row["v"], row["x"])), "n": Agg("count")}
SEEDS = range(150)


def said(window: Arrival, found: tuple[Batch, ...], **more: Any) -> Judgement:
    """By key `k`."""
    return judge_arrival(window, found, HELD, keys=["k"], **more)


def every(judged: Judgement) -> list[tuple[Any, ...]]:
    """All windows of all partitions, whatever partition fired first."""
    rows = [tuple(row.items()) for row in judged.published + judged.still_open]
    return sorted(rows, key=str)


# A partition is an operator of its own, but for markers, which are for all of them, and for limits on all of them.
@pytest.mark.parametrize("seed", SEEDS)
def test_partitions_do_not_see_each_other(seed: int) -> None:
    dice = random.Random(seed)
    window, found = asked(dice).theirs, batches(dice)
    if isinstance(window.evict, Punctuation):
        window = replace(window, evict=Punctuation("batch"))
    if window.keep and window.keep.age is None:
        window = replace(window, keep=None)
    names = {row["k"] for batch in found for row in batch.rows}
    alone = [tuple(replace(batch, rows=[row for row in batch.rows if row["k"] == name]) for batch in found) for name in names]
    assert every(said(window, found)) == sorted((row for one in alone for row in every(said(window, one))), key=str)


def steady(batch: Batch) -> list[dict[str, Any]]:
    """Arrival times that need no correction."""
    now, found = batch.start, []
    for row in batch.rows:
        now = max(now, min(batch.end - 1, now if row["a"] is None else row["a"]))
        found.append({**row, "a": now})
    return found


# Where batches end does not matter: all of them as one make the same windows.
@pytest.mark.parametrize("seed", SEEDS)
def test_batches_may_be_cut_anywhere(seed: int) -> None:
    dice = random.Random(seed)
    window, found = asked(dice).theirs, batches(dice)
    if isinstance(window.evict, Punctuation) and isinstance(window.evict.of, str):
        window = replace(window, evict=Punctuation(lambda row: row["v"] == 3))
    found = tuple(replace(batch, rows=steady(batch)) for batch in found)
    whole = Batch(found[0].start, found[-1].end, [row for batch in found for row in batch.rows])
    assert unnumbered(said(window, (whole,))) == unnumbered(said(window, found))


def unnumbered(judged: Judgement) -> list[tuple[Any, ...]]:
    """Without their batches."""
    return sorted((tuple((name, value) for name, value in row.items() if name != "batch") for row in judged.published), key=str)


# Tumbling: each row once, in order; only markers are nowhere, and what limits let vanish.
@pytest.mark.parametrize("seed", SEEDS)
def test_tumbling_windows_hold_each_row_once(seed: int) -> None:
    dice = random.Random(seed)
    window, found = asked(dice).theirs, batches(dice)
    window = replace(window, trigger=None, group_by=(), keep=None, incomplete=False)
    marker = window.evict.of if isinstance(window.evict, Punctuation) and callable(window.evict.of) else lambda _: False
    judged = said(window, found)
    for name in {row["k"] for batch in found for row in batch.rows}:
        rows = [row for row in judged.published + judged.still_open if row["k"] == name]
        assert [row["window_index"] for row in rows] == list(range(len(rows)))
        came = [(row["t"], row["v"], row["x"]) for batch in found for row in batch.rows if row["k"] == name and not marker(row)]
        assert [held for row in rows for held in row["held"] or []] == came


# Sliding by count over tumbling by count: every n-th window of the one, from the first full one on, is the other's.
@pytest.mark.parametrize("seed", range(30))
def test_tumbling_is_sliding_by_its_own_size(seed: int) -> None:
    dice = random.Random(seed)
    found, n = batches(dice), dice.randint(1, 4)
    assert unnumbered(said(Arrival(Count(n)), found)) == unnumbered(said(Arrival(Count(n), Count(n)), found))


# The last n of everything is everything, while n is large; so is what came within a year, or is not far away.
@pytest.mark.parametrize("seed", range(30))
def test_windows_that_let_nothing_go_are_alike(seed: int) -> None:
    dice = random.Random(seed)
    found, trigger = batches(dice), dice.choice([Count(2), Time(60_000_000), Delta(lambda row: row["v"], 2)])
    large = (Count(10**6), Time(10**15), Delta(lambda row: row["v"], 10**6))
    first, *others = [unnumbered(said(Arrival(evict, trigger, incomplete=True), found)) for evict in large]
    assert all(other == first for other in others)
