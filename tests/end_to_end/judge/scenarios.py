"""Random small pipelines: batches full of ties and exact borders, every window kind, ten aggregates."""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from muntin.testing.oracle import SECOND, Agg, Batch
from tests.catalogue.kinds import JUDGED, called
from tests.end_to_end.judge.user_files import Measure, Window, measure

LENGTH = 10 * SECOND
"""A batch's data interval."""
AHEAD = 40 * SECOND
"""`max_ahead` of every scenario."""
BORDERS = (1_704_067_200, 1_710_129_540, 1_730_696_340)
"""In the midst of a scenario: 2024-01-01T00:00Z; 23:59 in New York after a day of 23 hours, and after one of 25."""

TYPES = {
    "name": pa.string(), "shard": pa.int64(), "v": pa.int64(), "x": pa.float64(), "y": pa.float64(), "s": pa.string()
}  # fmt: skip

FINE = {name for name, asked in JUDGED.items() if called(asked).frame_us(0) < SECOND // 2}
"""Windows whose states are finer than those of the others, which would be made of them too."""


def windows_of(seed: int) -> dict[str, Window]:
    """Two of three windows; the fine ones in every third scenario."""
    return {name: asked for at, (name, asked) in enumerate(JUDGED.items()) if (seed % 3 == 0 if name in FINE else (at + seed) % 3)}


MEASURES: dict[str, Measure] = {
    "n": measure("count"),
    "many": Measure("count_if", "v > 3", Agg("count_if", lambda row: row["v"] is not None and row["v"] > 3)),
    "total": measure("sum", "v"),
    "spent": Measure("sum", "x * 2", Agg("sum", lambda row: None if row["x"] is None else row["x"] * 2)),
    "mean_x": measure("mean", "x"),
    "mean_v": measure("mean", "v"),
    "low": measure("min", "y"),
    "high": measure("max", "y"),
    "low_v": measure("min", "v"),
    "high_s": measure("max", "s"),
    "spread": measure("variance", "x"),
    "spread_all": measure("variance", "v", population=True),
    "deviation": measure("stddev", "x"),
    "deviation_all": measure("stddev", "x", population=True),
    "opening": measure("first", "x"),
    "closing": measure("last", "s"),
    "closing_v": measure("last", "v"),
}


@dataclass(frozen=True)
class Scenario:
    """One case of the judge."""

    seed: int
    batches: tuple[Batch, ...]
    keys: tuple[str, ...]
    windows: Mapping[str, Window]
    watermark: str
    where: bool
    rollups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    having: bool = False

    def with_batch(self, number: int, rows: Sequence[Mapping[str, Any]]) -> "Scenario":
        """Another word about one batch."""
        found = list(self.batches)
        found[number] = replace(found[number], rows=rows)
        return replace(self, batches=tuple(found))

    def kept(self, row: Mapping[str, Any]) -> bool:
        """What `FILTER` says."""
        return not self.where or row["v"] is None or row["v"] != 5

    def shown(self, row: Mapping[str, Any]) -> bool:
        """What `HAVING` says of a window, null as false."""
        return not self.having or (row["n"] > 1 and row["total"] is not None and row["total"] % 3 != 0)


FILTER = "v is null or v <> 5"
HAVING = "n > 1 and total % 3 <> 0"


def scenario(seed: int, size: int = 6) -> Scenario:
    """Its windows share one pipeline; watermark, keys and filter go round with the seed."""
    dice = random.Random(seed)
    first = BORDERS[seed % len(BORDERS)] * SECOND - 2 * LENGTH
    starts = [first + n * LENGTH for n in range(size)]
    found = [[] if seed % 2 == 0 and n == 2 else rows(dice, start) for n, start in enumerate(starts)]
    batches = tuple(Batch(start, start + LENGTH, held) for start, held in zip(starts, found, strict=True))
    keys = [("name",), ("name", "shard"), (), ("shard", "name")][seed // 2 % 4]
    policy = ("interval", "events")[seed % 2]
    return Scenario(seed, batches, keys, windows_of(seed), policy, where=seed % 5 == 0)


def rows(dice: random.Random, start: int) -> list[dict[str, Any]]:
    """A batch: often small, now and then empty, its keys not those of the batch before."""
    names = dice.sample(["a", "b", "ü✓", "", None], k=dice.randint(1, 3))
    wanted = dice.choice([0, 2, 10, 25, 40, 60])
    return [row(dice, start, names) for _ in range(wanted)]


def row(dice: random.Random, start: int, names: Sequence[str | None]) -> dict[str, Any]:
    """A source row; `x` sums differently in every order, `y` may be NaN."""
    return {
        "t": when(dice, start),
        "name": dice.choice(names),
        "shard": dice.choice([1, 2, None]),
        "v": dice.choice([None, *range(-3, 9)]),
        "x": dice.choice([None, dice.randint(-999, 999) / 10, dice.gauss(0, 1e3)]),
        "y": dice.choice([None, math.nan, math.inf, -0.5, dice.random()]),
        "s": dice.choice([None, "β", "z", "aa", "a"]),
    }


def when(dice: random.Random, start: int) -> int | None:
    """Mostly now, in ties and on borders; also late, a little early, far too late, incredible, unknown."""
    now = start + dice.randrange(0, 11) * SECOND
    delay = dice.choices(
        [0, dice.randint(-1, 1), dice.randint(1, 15) * SECOND, -dice.randint(1, 12) * SECOND, 100 * SECOND, -3 * AHEAD],
        weights=[60, 10, 20, 6, 2, 1],
    )[0]
    exact = dice.random()
    if exact < 0.01:
        return None
    return start + LENGTH + AHEAD + int(exact < 0.02) if exact < 0.022 else now - delay
