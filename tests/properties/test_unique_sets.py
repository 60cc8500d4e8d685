"""KIP-450's property, without an oracle: the windows are the distinct sets of records, one to one."""

import random

import pytest

from muntin import windows
from muntin.testing.oracle import Batch
from tests.case_counts import random_seeds
from tests.properties.random_cases import Case
from tests.properties.test_against_oracle import derived

CASES = random_seeds(300)
LAST = 1_000


def held(times: list[int], size: int, resolution: int) -> list[int]:
    """Slide `[start, start + size]` by one unit over all of time; a set of records is a sum of powers of two."""
    units = [t // resolution for t in times]
    every = range(min(units) - size, max(units) + 1)
    sets = {sum(1 << n for n, unit in enumerate(units) if start <= unit <= start + size) for start in every}
    return sorted(sets - {0})


def found(times: list[int], size: int, resolution: int, cut: int) -> list[int]:
    """The engine's sets, two batches closed by a third."""
    records = [{"t": t, "k": "a", "v": 1 << n, "x": None, "s": ""} for n, t in enumerate(times)]
    ours = windows.unique_sliding(size * resolution, resolution=resolution, grace=LAST)
    batches = tuple(Batch(0, 0, rows) for rows in (records[:cut], records[cut:], []))
    given = Case(0, ours, None, ours.frame_us(0), ("k",), "", batches)
    return sorted(derived(given, [0, 0, 10 * LAST]).windows["total"].to_pylist())


# times 0 4 6 12, size 5     -5 |----0   |    0
#                            -1     |0---4|    0 4
#                             1       |4-6|     4 6
#                             5         |6----|   6
#                             7           |---12    12
@pytest.mark.parametrize("chunk", range(10))
def test_each_set_of_records_is_in_one_window(chunk: int) -> None:
    for seed in CASES[chunk::10]:
        dice = random.Random(seed)
        times = [dice.randint(-90, 90) for _ in range(dice.randint(1, 12))]
        size, resolution, cut = dice.randint(1, 40), dice.choice([1, 1, 2, 7]), dice.randint(0, 12)
        assert found(times, size, resolution, cut) == held(times, size, resolution), seed
