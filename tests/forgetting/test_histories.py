"""What is left of a pipeline that has forgotten a person: the windows of all others, to the bit, whatever comes then.

hour       0    1    2    3    4    5
run        x    x    x    x    .    .
forget                     bob
replaced        x                        its rows of bob are left out
run                             x    x   so are these
"""

import random
from itertools import product
from pathlib import Path

import pytest

from muntin import forget
from muntin.extensions.forgetting.forget import plan_forget
from muntin.extensions.forgetting.remembered import undo
from muntin.jobs.doctor.diagnosis import diagnose
from tests.case_counts import some
from tests.forgetting.visits import KINDS, PEOPLE, Visits, drawn, others_are
from tests.properties.equal_values import bitwise

HOURS = 6


@pytest.mark.parametrize(("kind", "seed"), some(product(KINDS, range(12)), one_in=18))
def test_a_pipeline_that_forgot_a_person(kind: str, seed: int, tmp_path: Path) -> None:
    dice = random.Random(seed)
    visits, person, told = Visits(tmp_path, kind), dice.choice(PEOPLE[:3]), dice.randrange(2, HOURS)
    key = dice.choice([{"person": person}, {"person": person, "page": "x"}]) if kind != "by time" else {"person": person}
    for hour in range(told):
        visits.write(hour, drawn(dice, hour), bad=PEOPLE[: dice.randrange(3)])
    for hour in range(told) if dice.random() < 0.5 else [0]:
        visits.run(hour, hour if dice.random() < 0.7 else told - 1)
    visits.run(0, told - 1)
    before = visits.tables()

    found = forget(visits.pipeline, [key], root=visits.root)

    assert found.done, found.left
    if "page" not in key:
        others_are(visits.tables(), before, person)
    assert plan_forget(visits.pipeline, [key], root=visits.root).found == ()
    assert not [each.line for each in diagnose(visits.pipeline, root=visits.root, deep=True)]
    clean = Visits(tmp_path / "clean", kind)
    for hour in range(HOURS):
        if hour >= told or hour == dice.randrange(told):
            visits.write(hour, drawn(dice, hour), bad=["bob"])
            visits.run(hour)
    visits.run(0, HOURS - 1)
    for hour, rows in visits.rows.items():
        clean.write(hour, [row for row in rows if not _is(row, key)] or [(0, person, "x", 1.0, "a")])
    clean.run(0, HOURS - 1)
    if "page" not in key and not (kind == "by event" or any(len(rows) == 0 for rows in clean.rows.values())):
        others_are(visits.tables(), clean.tables(), person, totals=False)
    assert plan_forget(visits.pipeline, [key], root=visits.root).found == ()


def _is(row: tuple[float, str, str, float, str], key: dict[str, str]) -> bool:
    return row[1] == key["person"] and key.get("page", row[2]) == row[2]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_not_forgotten_any_more_comes_back_as_it_was(kind: str, tmp_path: Path) -> None:
    visits, dice = Visits(tmp_path, kind), random.Random(7)
    for hour in range(4):
        visits.write(hour, drawn(dice, hour))
    visits.run(0, 3)
    before = {name: visits.published(name) for name in visits.pipeline.windows}
    for _ in range(2):
        assert forget(visits.pipeline, [{"person": "bob"}], root=visits.root).done
        undo(visits.pipeline, [{"person": "bob"}], root=visits.root)
        visits.run(0, 3)
        for name, wanted in before.items():
            assert bitwise(visits.published(name), wanted), name
