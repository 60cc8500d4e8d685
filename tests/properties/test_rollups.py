"""Rollups over random histories: windows without keys, of states by key, whatever order files give the states in.

After every finalize they equal a clean run's to the last bit; and where values are exact, so do those of a pipeline without keys.
"""

import random
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pytest

from muntin.states.sorted import Arranged, arrange
from muntin.timeline.history import Work
from tests.case_counts import random_seeds
from tests.catalogue.kinds import DRAWS
from tests.properties.equal_values import bitwise
from tests.properties.naive_lift import Rows
from tests.properties.random_cases import Case, case_of
from tests.properties.random_histories import Desk
from tests.properties.test_any_history import steps

OF_EACH_KIND = random_seeds(75)
EXACT = ("window_start", "window_end", "n", "many", "total", "low", "high")
"""Columns whose bits no order and no group changes; of rows at one time, `first` and `last` take those of one key first."""


@dataclass
class Rolled(Desk):
    """A desk whose windows have none of the keys that its states have."""

    dice: random.Random = field(default_factory=lambda: random.Random(5))

    @property
    def keys(self) -> tuple[str, ...]:
        return ()

    def arranged(self, states: pa.Table, note: pa.Table | None, work: Work) -> Arranged:  # noqa: ARG002 - the work is no other
        found = pa.concat_tables([note.select(states.column_names), states]) if note is not None else states
        return arrange(found.take(pa.array(self.shuffled(found))), (), self.given.width, ("k",))

    def shuffled(self, states: pa.Table) -> np.ndarray:
        """An order of the states in which the keys come as they like; the states of a key stay in order."""
        names = {name: self.dice.random() for name in states["k"].to_pylist()}
        return np.argsort(np.array([names[name] for name in states["k"].to_pylist()]), kind="stable")


def first_mistake(given: Case) -> list[str]:
    """A random history until it goes wrong; nothing if it does not."""
    dice = random.Random(given.seed)
    rolled, apart = Rolled(given), Desk(replace(given, keys=()))
    for at, step in enumerate(steps(given, dice)):
        for desk in (rolled, apart):
            desk.finalize([desk.accumulate(number, found) for number, found in step])
        if said := rolled.wrong() or unlike(rolled, apart):
            return [f"step {at}: {lengths(step)}", *said]
    return []


def lengths(step: list[tuple[int, Rows]]) -> list[tuple[int, int]]:
    return [(number, len(found)) for number, found in step]


def unlike(rolled: Desk, apart: Desk) -> list[str]:
    """The batches whose windows differ from those of a pipeline without keys."""
    return [
        f"batch {start}"
        for start in sorted(rolled.published.keys() | apart.published.keys())
        if not bitwise(rolled.published[start].select(EXACT), apart.published[start].select(EXACT))
    ]


OF_FRAMES = [draw for draw in DRAWS if not case_of(draw, 0).ours.made_of.of_rows]


@pytest.mark.parametrize("draw", OF_FRAMES)
def test_every_history_of_each_kind_equals_a_clean_run_and_one_without_keys(draw: str) -> None:
    given = (replace(case_of(draw, seed), keys=("k",)) for seed in OF_EACH_KIND)
    assert {case.seed: said for case in given if (said := first_mistake(case))} == {}
