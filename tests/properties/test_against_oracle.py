"""Ten thousand cases a minute: windows, closing batches, late rows and windows missed, as the oracle says.

`MUNTIN_CORE=30000` runs more of them.
"""

import time
from collections.abc import Sequence
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from muntin.definition.instants import BEFORE_ALL
from muntin.engine.merged_states import tallies
from muntin.engine.windows import Combined, combine_arranged
from muntin.states.frames import Kernel
from muntin.testing.oracle import DAY, Judgement, OwnGapSession, Session, judge
from muntin.timeline.closing import closing
from tests.case_counts import random_seeds
from tests.catalogue.kinds import DRAWS
from tests.oracle.adjacent import Adjacent
from tests.properties.combining import arranged, lifted
from tests.properties.equal_values import alike
from tests.properties.naive_lift import AGGREGATES, ORACLE, positioned
from tests.properties.random_cases import Case, case, case_of

CASES = random_seeds(3000)
OF_EACH_KIND = random_seeds(300)
CHUNK = 500
NEIGHBOURS = (Session, OwnGapSession, Adjacent)
"""Windows whose rows decide where they begin."""


def derived(given: Case, watermarks: list[float]) -> Combined:
    """The engine's word."""
    found = positioned([(at, lifted(rows, given)) for at, batch in enumerate(given.batches) for rows in splits(given, batch.rows)])
    return combine_arranged(
        arranged(found, None, given),
        window=given.ours,
        when=closing(given.ours, np.array([max(watermark, BEFORE_ALL) for watermark in watermarks]).astype(np.int64)),
        keys=given.keys,
        aggregates=AGGREGATES,
    )


def splits(given: Case, rows: Sequence[Any]) -> list[Sequence[Any]]:
    """A large batch is lifted in pieces; each brings states of its own, in order of arrival."""
    cut = len(rows) // 2 if given.seed % 3 == 0 else len(rows)
    return [rows[:cut], rows[cut:]]


def disagreement(given: Case) -> list[str]:
    """What engine and oracle say differently of a case."""
    said = judge(
        given.theirs, given.batches, ORACLE, keys=given.keys, watermark=given.policy, lateness=given.lateness, max_ahead=1000 * DAY
    )
    combined = derived(given, said.watermarks)
    found, wanted = by_window(given, combined), expected(given, said)
    wrong = [f"{key}: {found.get(key)} not {wanted.get(key)}" for key in wanted | found if not alike(found.get(key), wanted.get(key))]
    return wrong + tallied(given, combined, said) + (by_python(given, said.watermarks, combined) if given.seed % 4 == 0 else [])


def by_python(given: Case, watermarks: list[float], compiled: Combined) -> list[str]:
    """Whether windows differ by a bit where Python runs the loops over few numbers, as in a process without numba."""
    with patch.object(Kernel, "__call__", lambda kernel, *some: (kernel._loop if kernel._few else kernel.code())(*some)):
        again = derived(given, watermarks)
    return [] if in_full(again) == in_full(compiled) else ["Python's loops give other windows"]


def in_full(combined: Combined) -> str:
    """All windows, each double in full, and what reports count."""
    late = (combined.assignment.missed, combined.assignment.late_window, combined.assignment.late_row, combined.candidates_closed)
    return repr((combined.windows.to_pydict(), combined.closed.tolist(), *(each.tolist() for each in late)))


def expected(given: Case, said: Judgement) -> dict[tuple[Any, ...], list[Any]]:
    """(keys, start, end, tie) -> closing batch, values, columns of the kind; a window that no batch closes has one past the last."""
    never, more = len(given.batches), given.ours.columns
    return {
        row_key(given, row): [never if row["batch"] is None else row["batch"], *(row[name] for name in (*AGGREGATES, *more))]
        for row in said.published + said.still_open
    }


def tallied(given: Case, combined: Combined, said: Judgement) -> list[str]:
    """Rows that are late, and rows that correct; where windows are there by the clock also how many of them they missed."""
    told = tallies(combined, len(given.batches), np.arange(len(given.batches)), opened=isinstance(given.theirs, NEIGHBOURS))
    right = {
        name: [len(rows[at]) for at in range(len(given.batches))] for name, rows in (("late", said.late), ("correcting", said.correcting))
    }
    if isinstance(given.theirs, NEIGHBOURS) or hasattr(given.theirs, "windows_for"):
        right["missed"] = windows_missed(given, said)
    return [f"{name}: {told[name]} not {counted}" for name, counted in right.items() if told[name] != counted]


def row_key(given: Case, row: dict[str, Any]) -> tuple[Any, ...]:
    return (*(row[key] for key in given.keys), row["window_start"], row["window_end"], row.get("tie"))


def by_window(given: Case, combined: Combined) -> dict[tuple[Any, ...], list[Any]]:
    """(keys, start, end, tie) -> closing batch, values, columns of the kind; every window once."""
    table = combined.windows
    bounds = [table[name].combine_chunks().view("int64").to_pylist() for name in ("window_start", "window_end")]
    ties = table["tie"].to_pylist() if "tie" in table.column_names else [None] * len(table)
    keys = list(zip(*(table[key].to_pylist() for key in given.keys), *bounds, ties, strict=True))
    values = zip(combined.closed.tolist(), *(table[name].to_pylist() for name in (*AGGREGATES, *given.ours.columns)), strict=True)
    assert len(set(keys)) == len(keys)
    assert given.keys or keys == sorted(keys)
    return dict(zip(keys, map(list, values), strict=True))


def windows_missed(given: Case, said: Judgement) -> list[int]:
    """For each batch, how many windows its rows came too late for; of neighbours each late row misses one."""
    if isinstance(given.theirs, NEIGHBOURS):
        return [len(said.late[at]) for at in range(len(given.batches))]
    before = [-float("inf"), *said.watermarks]
    return [
        sum(given.theirs.closed(end, before[at] - given.lateness) for row in batch.rows for _, end in given.theirs.windows_for(row["t"]))
        for at, batch in enumerate(given.batches)
    ]


@pytest.mark.parametrize("chunk", range(0, len(CASES), CHUNK))
def test_engine_and_oracle_agree(chunk: int) -> None:
    begun = time.process_time()
    wrong = {seed: said for seed in CASES[chunk : chunk + CHUNK] if (said := disagreement(case(seed)))}
    print(f"{CHUNK * 60 / (time.process_time() - begun):.0f} cases a minute")
    assert wrong == {}


@pytest.mark.parametrize("draw", DRAWS)
def test_engine_and_oracle_agree_on_each_kind(draw: str) -> None:
    wrong = {seed: said for seed in OF_EACH_KIND if (said := disagreement(case_of(draw, seed)))}
    assert wrong == {}
