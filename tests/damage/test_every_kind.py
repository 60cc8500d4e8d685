"""Every kind of file with every kind of damage: readers see what they should, or a sentence says which file it is and what mends it.

A few of all trials; `make soak ARGS="--part damage --rounds 1"` makes all of them on a larger state.
"""

from random import Random

import pytest

from tests.case_counts import cases
from tests.damage.every import every_harm, made, tried
from tests.damage.ground import Ground
from tests.damage.harms import kind_of, kinds
from tests.damage.trial import Expected

TRIALS = cases(160)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Ground, Expected]:
    return made(tmp_path_factory.mktemp("damage") / "ground", 12, 24)


def test_the_ground_has_every_kind_of_file(whole: tuple[Ground, Expected]) -> None:
    ground, expected = whole
    found = {path.rpartition("/")[2] if "/_" in path else path.partition("/")[2] for path in kinds(ground.folder / "root")}
    wanted = ("H/frames/Nm/T_T/N_T_T_H.parquet", "H/ids/T/N_T_T_T_H.parquet", "H/carry/sevens/T/N_H.parquet", "H/decisions.parquet")
    wanted += ("H/tiers/Nm_by_N/N/T_H.parquet", "HN.checkpoint.parquet", "_last_checkpoint", "H/verdicts/T_T_H.parquet", "muntin.json")
    assert {*wanted} <= found
    seen = ground.seen(ground.folder / "root")
    assert all(seen[name].equals(expected.now[name]) for name in seen)


@pytest.mark.parametrize("number", range(TRIALS))
def test_a_damage_is_never_other_windows(whole: tuple[Ground, Expected], number: int) -> None:
    ground, expected = whole
    harms = every_harm(ground, Random(0))
    assert len({kind_of(harm.path) for harm in harms}) > 50
    print(tried(ground, expected, harms[number * len(harms) // TRIALS]))
