"""Random windows in order of arrival, twice each: the oracle's and ours; and batches for them."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import nan
from typing import Any

from muntin import windows
from muntin.testing.oracle import Batch
from tests import oracle
from tests.catalogue.random_times import LENGTH, MINUTE
from tests.oracle import Arrival
from tests.oracle.progressive_sort import ProgressiveSort
from tests.properties.random_rows import row

DEEP = 1_704_067_200_000_000
"""Where the pipeline starts: 2024."""
EXPRESSIONS = {"v": lambda row: row["v"], "x": lambda row: row["x"]}
MARKERS = {"v = 3": lambda row: row["v"] == 3, "s = 'q' and v > 0": lambda row: row["s"] == "q" and row["v"] > 0}

SORTED_BY: Mapping[str, Callable[[dict[str, Any]], Any]] = {
    **EXPRESSIONS,
    "s": lambda row: row["s"],
    "v > 2": lambda row: row["v"] > 2,
    "nullif(v, 3)": lambda row: None if row["v"] == 3 else row["v"],
    "0.0::DOUBLE * v": lambda row: 0.0 * row["v"],
    "v::DECIMAL(4, 1)": lambda row: row["v"],
    "make_timestamp(v)": lambda row: row["v"],
    "if(v > 6, 'nan'::DOUBLE, if(v < 0, NULL, x))": lambda row: nan if row["v"] > 6 else None if row["v"] < 0 else row["x"],
}
"""What rows are sorted by: numbers with two zeros, texts, booleans, instants; nulls and NaN among them."""


@dataclass(frozen=True)
class Twin:
    """A policy twice. `ours` is made by the constructor `make` of `muntin.windows`."""

    theirs: Any
    make: str
    args: tuple[Any, ...]
    more: dict[str, Any]

    @property
    def ours(self) -> Any:
        """As a user writes it."""
        return getattr(windows, self.make)(*self.args, **self.more)


def by_count(dice: random.Random, *, or_time: bool = False) -> Twin:
    """Small ones, so that windows fill."""
    n, time = dice.choice([1, 2, 2, 3, 5]), dice.choice([None, dice.randint(1, 12) * MINUTE]) if or_time else None
    return Twin(oracle.Count(n, time), "by_count", (n,), {} if time is None else {"or_time": time})


def by_time(dice: random.Random) -> Twin:
    """Parts of a batch, batches, several of them."""
    d = dice.choice([dice.randint(1, 12) * MINUTE, LENGTH, 2 * LENGTH, dice.randint(1, 12) * MINUTE + 1])
    return Twin(oracle.Time(d), "by_time", (d,), {})


def by_delta(dice: random.Random) -> Twin:
    """Of whole numbers or floats; both fall now and then."""
    name, absolute = dice.choice(["v", "v", "x"]), dice.random() < 0.4
    d = dice.choice([0, 1, 3]) if name == "v" else dice.choice([0.0, 5.0, 900.0])
    return Twin(oracle.Delta(EXPRESSIONS[name], d, absolute), "by_delta", (name, d), {"absolute": absolute})


def by_punctuation(dice: random.Random) -> Twin:
    """Markers among the rows, ends of files and batches."""
    what = dice.choice([*MARKERS, "file", "batch"])
    return Twin(oracle.Punctuation(MARKERS.get(what, what)), "by_punctuation", (what,), {})


def keep(dice: random.Random, evict: Twin, trigger: Twin | None) -> Twin | None:
    """Mostly all; of windows without a clock also the partitions used last."""
    clock = any(policy and (policy.make == "by_time" or "or_time" in policy.more) for policy in (evict, trigger))
    limit: dict[str, Any] = dice.choice([{}, {}, {}, {"age": dice.randint(1, 12) * MINUTE}])
    if not clock and dice.random() < 0.3:
        limit = (
            {"count": dice.randint(1, 3)} if (trigger and evict.make == "by_delta") or dice.random() < 0.5 else {"rows": dice.randint(1, 8)}
        )
    if not limit:
        return None
    emit = {"emit": True} if trigger is None and dice.random() < 0.5 else {}
    return Twin(oracle.Keep(**limit, **emit), "keep", (), limit | emit)


@dataclass(frozen=True)
class Asked:
    """A window twice."""

    evict: Twin
    trigger: Twin | None
    keep: Twin | None
    flags: dict[str, Any]

    @property
    def theirs(self) -> Arrival:
        """The oracle's."""
        return Arrival(self.evict.theirs, self.trigger and self.trigger.theirs, keep=self.keep and self.keep.theirs, **self.flags)

    @property
    def ours(self) -> Any:
        """As a user writes it."""
        return windows.arrival(
            self.evict.ours, trigger=self.trigger and self.trigger.ours, partitions=self.keep and self.keep.ours, **self.flags
        )


def asked(dice: random.Random) -> Asked:
    """All that SPL allows: four policies tumbling, nine pairs sliding."""
    flush, groups = {"flush": dice.random() < 0.3}, dice.choice([(), (), ("s",)])
    if dice.random() < 0.5:
        evict = dice.choice(
            [lambda: by_count(dice, or_time=True), *(lambda make=make: make(dice) for make in (by_time, by_delta, by_punctuation))]
        )()
        dense = evict.make == "by_time" and dice.random() < 0.5
        if dense:
            return Asked(evict, None, None, flush | {"dense": True})
        limit = None if evict.make == "by_punctuation" else keep(dice, evict, None)
        return Asked(evict, None, limit, flush | {"group_by": groups})
    evict, trigger = (dice.choice([by_count, by_time, by_delta])(dice) for _ in range(2))
    return Asked(evict, trigger, keep(dice, evict, trigger), flush | {"incomplete": dice.random() < 0.4, "group_by": groups})


@dataclass(frozen=True)
class AskedSort:
    """A progressive sort twice; `by` is the SQL of what the oracle sorts by."""

    theirs: ProgressiveSort
    by: str

    @property
    def ours(self) -> Any:
        """As a user writes it."""
        return windows.progressive_sort(self.theirs.n, self.by, descending=self.theirs.descending, flush=self.theirs.flush)


def sort(n: int, by: str, value: Callable[[dict[str, Any]], Any] | None = None, **flags: bool) -> AskedSort:
    """A progressive sort twice."""
    return AskedSort(ProgressiveSort(n, value or SORTED_BY[by], **flags), by)


def asked_sort(dice: random.Random) -> AskedSort:
    """Few rows, so that some come out."""
    flags = {"descending": dice.random() < 0.5, "flush": dice.random() < 0.3}
    return sort(dice.choice([1, 2, 3, 3, 5, 9]), dice.choice([*SORTED_BY]), **flags)


def batches(dice: random.Random) -> tuple[Batch, ...]:
    """Rows with event times of their own, arrival times that mostly rise, and one or two files a batch."""
    first = DEEP + dice.randint(0, 2) * LENGTH
    return tuple(Batch(n, n + LENGTH, arriving(dice, n)) for n in range(first, first + dice.randint(2, 6) * LENGTH, LENGTH))


def arriving(dice: random.Random, start: int) -> list[dict[str, Any]]:
    """A batch in order of arrival; values are never null, which no difference could tell."""
    names = dice.sample(["a", "b", "ü", None], k=dice.randint(1, 3))
    found = [row(dice, start, MINUTE, names) for _ in range(dice.choice([0, 1, 2, 4, 7, 12]))]
    came = sorted(start + dice.randint(0, 5) * MINUTE - dice.choice([0, 0, 1]) for _ in found)
    cut = dice.randint(0, len(found))
    for n, one in enumerate(found):
        one["v"], one["x"] = one["v"] or 0, dice.choice([0.0, 3.5, 1000.0, -7.25, dice.gauss(0, 1e3)])
        one["a"] = came[n] if dice.random() < 0.9 else dice.choice([start - MINUTE, start + 2 * LENGTH, came[0]])
        one["file"] = "one" if n < cut else "two"
    return found
