"""Ten thousand cases a minute: windows, closing batches, late rows and windows missed, as the oracle says.

`MUNTIN_CORE=30000` runs more of them.
"""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from muntin.definition.instants import BEFORE_ALL
from muntin.engine.tallies import tallies
from muntin.engine.windows import Combined
from muntin.timeline.closing import closing
from tests.case_counts import cases
from tests.catalogue.kinds import DRAWS
from tests.oracle import DAY, Judgement, OwnGapSession, Session, judge
from tests.properties.combining import combine
from tests.properties.equal_values import alike
from tests.properties.naive_lift import AGGREGATES, ORACLE, positioned, states
from tests.properties.random_cases import Case, case, case_of

CASES = cases(3000)
OF_EACH_KIND = cases(300)
CHUNK = 500
SESSIONS = (Session, OwnGapSession)


def derived(given: Case, watermarks: list[float]) -> Combined:
    """The engine's word."""
    return combine(
        positioned(
            [
                (at, states(rows, given.width, given.keys, given.begin, given.theirs))
                for at, batch in enumerate(given.batches)
                for rows in splits(given, batch.rows)
            ]
        ),
        window=given.ours,
        when=closing(given.ours, np.array([max(watermark, BEFORE_ALL) for watermark in watermarks]).astype(np.int64)),
        keys=given.keys,
        aggregates=AGGREGATES,
        width_us=given.width,
    )


def splits(given: Case, rows: Sequence[Any]) -> list[Sequence[Any]]:
    """A large batch is lifted in pieces; each brings states of its own, in order of arrival."""
    cut = len(rows) // 2 if given.seed % 3 == 0 else len(rows)
    return [rows[:cut], rows[cut:]]


def disagreement(given: Case) -> list[str]:
    """What engine and oracle say differently of a case."""
    said = judge(given.theirs, given.batches, ORACLE, keys=given.keys, watermark=given.policy, max_ahead=1000 * DAY)
    combined = derived(given, said.watermarks)
    found, wanted = by_window(given, combined), expected(given, said)
    wrong = [f"{key}: {found.get(key)} not {wanted.get(key)}" for key in wanted | found if not alike(found.get(key), wanted.get(key))]
    return wrong + tallied(given, combined, said)


def expected(given: Case, said: Judgement) -> dict[tuple[Any, ...], list[Any]]:
    """(keys, start, end) -> closing batch, values, cut; a window that no batch closes has one past the last."""
    never = len(given.batches)
    return {
        row_key(given, row): [
            never if row["batch"] is None else row["batch"],
            *(row[name] for name in AGGREGATES),
            row.get("cut"),
            row.get("ended"),
        ]
        for row in said.published + said.still_open
    }


def tallied(given: Case, combined: Combined, said: Judgement) -> list[str]:
    """Rows that are late; where windows are there by the clock also how many of them they missed."""
    told = tallies(combined, len(given.batches), np.arange(len(given.batches)), opened=isinstance(given.theirs, SESSIONS))
    right = {"late": [len(said.late[at]) for at in range(len(given.batches))]}
    if isinstance(given.theirs, SESSIONS) or hasattr(given.theirs, "windows_for"):
        right["missed"] = windows_missed(given, said)
    return [f"{name}: {told[name]} not {counted}" for name, counted in right.items() if told[name] != counted]


def row_key(given: Case, row: dict[str, Any]) -> tuple[Any, ...]:
    return (*(row[key] for key in given.keys), row["window_start"], row["window_end"])


def by_window(given: Case, combined: Combined) -> dict[tuple[Any, ...], list[Any]]:
    """(keys, start, end) -> closing batch, values, cut; every window once."""
    table = combined.windows
    bounds = [table[name].combine_chunks().view("int64").to_pylist() for name in ("window_start", "window_end")]
    keys = list(zip(*(table[key].to_pylist() for key in given.keys), *bounds, strict=True))
    told = [table[name].to_pylist() if name in table.column_names else [None] * len(table) for name in ("cut", "ended")]
    values = zip(combined.closed.tolist(), *(table[name].to_pylist() for name in AGGREGATES), *told, strict=True)
    assert len(set(keys)) == len(keys)
    assert given.keys or keys == sorted(keys)
    return dict(zip(keys, map(list, values), strict=True))


def windows_missed(given: Case, said: Judgement) -> list[int]:
    """For each batch, how many windows its rows came too late for; of a late chain each row misses one."""
    if isinstance(given.theirs, SESSIONS):
        return [len(said.late[at]) for at in range(len(given.batches))]
    before = [-float("inf"), *said.watermarks]
    return [
        sum(given.theirs.closed(end, before[at]) for row in batch.rows for _, end in given.theirs.windows_for(row["t"]))
        for at, batch in enumerate(given.batches)
    ]


@pytest.mark.parametrize("chunk", range(0, CASES, CHUNK))
def test_engine_and_oracle_agree(chunk: int) -> None:
    begun = time.process_time()
    wrong = {seed: said for seed in range(chunk, min(chunk + CHUNK, CASES)) if (said := disagreement(case(seed)))}
    print(f"{CHUNK * 60 / (time.process_time() - begun):.0f} cases a minute")
    assert wrong == {}


@pytest.mark.parametrize("draw", DRAWS)
def test_engine_and_oracle_agree_on_each_kind(draw: str) -> None:
    wrong = {seed: said for seed in range(OF_EACH_KIND) if (said := disagreement(case_of(draw, seed)))}
    assert wrong == {}
