"""The kinds that came later through the public API: the oracle's windows, to the last bit the same in every way to run them.

`MUNTIN_JUDGE=100` runs a hundred scenarios instead of three.
"""

import os
from pathlib import Path

import pytest

from tests.judge import face
from tests.judge.bench import bench
from tests.judge.kinds import scenario_of_kinds
from tests.judge.test_random_batches import one_by_one, replaced, reversed_
from tests.judge.verdict import bits, differences, in_order, truth

WAYS = (replaced, one_by_one, reversed_)
SEEDS = range(int(os.environ.get("MUNTIN_JUDGE", "3")))


@pytest.mark.parametrize("seed", SEEDS)
def test_every_way_publishes_what_the_oracle_says(seed: int, tmp_path: Path, spark: object) -> None:
    """Bulk against the oracle, open windows too; then another way against bulk, bit by bit."""
    made = bench(scenario_of_kinds(seed), tmp_path, spark)
    way = WAYS[seed % len(WAYS)]
    way(made)
    made.run("clean")
    clean, other = made.tables("clean"), made.tables("state")
    for name in made.case.windows:
        said = truth(made.case, name)
        final = face.published(made.pipeline, name, tmp_path / "clean", made.case.batches)
        assert differences(made.case, final, said.published) == [], name
        assert in_order(made.case, final), name
        every = face.published(made.pipeline, name, tmp_path / "clean", made.case.batches, provisional=True)
        assert differences(made.case, [row for row in every if row["provisional"]], said.still_open) == [], name
        assert bits(other[name]) == bits(clean[name]), (way.__name__, name)
