"""Every kind of file beside states and windows, with every kind of damage: what is silent changes no window, and what is named is mended.

Copies of dimensions and of given tables, logs of ids and of what was looked up, the memory of forgotten keys, attempts, verdicts, notes.
The secret of forgotten keys has no copy: test_memory.py of `forgetting` damages it.
"""

from random import Random

import pytest

from tests.case_counts import seed
from tests.damage.every import every_harm, made, tried
from tests.damage.ground import Ground
from tests.damage.harms import Harm, kind_of, kinds
from tests.damage.trial import Expected
from tests.damage.wide import Wide

ELSEWHERE = {"frames", "windows", "quarantine", "reports", "carry"}
"""Folders whose files test_every_kind.py damages."""
PARTS = 20
"""So that each is a minute of a processor: 230 trials of five seconds."""


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> tuple[Ground, Expected]:
    return made(tmp_path_factory.mktemp("damage") / "ground", 4, 4, Wide)


def harms(ground: Ground) -> list[Harm]:
    found = [harm for harm in every_harm(ground, Random(seed())) if harm.path != ".forget.key"]
    return [harm for harm in found if ELSEWHERE.isdisjoint(harm.path.split("/"))]


def test_the_ground_has_every_kind_of_file_and_a_damage_changes_no_window(wide: tuple[Ground, Expected]) -> None:
    ground, expected = wide
    found = {kind_of(path).partition("/")[2] for path in kinds(ground.folder / "root")}
    wanted = {"H/dimensions/rates_H.parquet", "H/given/spans_H.parquet", "H/ids/T/N_T_T_T_H.parquet", "H/attempts/H.json"}
    wanted |= {"forgotten/N.json", ".forgotten/N.json", "H/verdicts/T_T_H.parquet", "H/decisions.parquet", "H/dimensions.json"}
    assert wanted | {"H/looked_up/T/N_T_T_T_H_H.parquet"} <= found
    seen = ground.seen(ground.folder / "root")
    assert all(seen[name].equals(expected.now[name]) for name in seen)
    assert all(seen[name].num_rows for name in seen if "visits" not in name)
    drawn = Random(seed()).choice(harms(ground))
    print(drawn, tried(ground, expected, drawn))


@pytest.mark.parametrize("part", range(PARTS))
def test_every_damage_of_what_lies_beside_states_and_windows(wide: tuple[Ground, Expected], part: int) -> None:
    wrong = []
    for harm in harms(wide[0])[part::PARTS]:
        try:
            tried(*wide, harm)
        except AssertionError as failed:
            wrong.append(str(failed))
    assert not wrong, "\n".join(wrong)
