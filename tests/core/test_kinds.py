"""The kinds that came later: windows, closing batches, late rows and cuts, as the oracle says.

`MUNTIN_CORE=10000` runs more of them.
"""

import os
from typing import Any

import pytest

from pipelines.engine.tallies import tallies
from pipelines.engine.windows import Combined
from tests.core.cases import Case
from tests.core.kinds import KINDS, case_of
from tests.core.lift import AGGREGATES, ORACLE
from tests.core.test_against_oracle import by_window, derived, row_key, windows_missed
from tests.core.values import alike
from tests.oracle import DAY, Judgement, Session, judge

CASES = int(os.environ.get("MUNTIN_CORE", "3000")) // 10


def disagreement(given: Case) -> list[str]:
    """What engine and oracle say differently of a case."""
    said = judge(given.theirs, given.batches, ORACLE, keys=given.keys, watermark=given.policy, max_ahead=1000 * DAY)
    combined = derived(given, said.marks)
    found, wanted = with_cuts(given, combined), expected(given, said)
    wrong = [f"{key}: {found.get(key)} not {wanted.get(key)}" for key in wanted | found if not alike(found.get(key), wanted.get(key))]
    return wrong + tallied(given, combined, said)


def expected(given: Case, said: Judgement) -> dict[tuple[Any, ...], list[Any]]:
    """(keys, start, end) -> closing batch, values, cut."""
    never = len(given.batches)
    return {
        row_key(given, row): [never if row["batch"] is None else row["batch"], *(row[name] for name in AGGREGATES), row.get("cut")]
        for row in said.published + said.still_open
    }


def with_cuts(given: Case, combined: Combined) -> dict[tuple[Any, ...], list[Any]]:
    """The same of the engine."""
    table = combined.windows
    cuts = table["cut"].to_pylist() if "cut" in table.column_names else [None] * len(table)
    return {key: [*values, cut] for (key, values), cut in zip(by_window(given, combined).items(), cuts, strict=True)}


def tallied(given: Case, combined: Combined, said: Judgement) -> list[str]:
    """Rows that are late; where windows are there by the clock also how many of them they missed."""
    told = tallies(combined, len(given.batches), opened=isinstance(given.theirs, Session))
    right = {"late": [len(said.late[at]) for at in range(len(given.batches))]}
    if isinstance(given.theirs, Session) or hasattr(given.theirs, "windows_for"):
        right["missed"] = windows_missed(given, said)
    return [f"{name}: {told[name]} not {counted}" for name, counted in right.items() if told[name] != counted]


@pytest.mark.parametrize("kind", KINDS)
def test_engine_and_oracle_agree(kind: str) -> None:
    wrong = {seed: said for seed in range(CASES) if (said := disagreement(case_of(kind, seed)))}
    assert wrong == {}
