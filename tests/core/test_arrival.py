"""Windows in order of arrival: the engine's rows are the oracle's, window by window.

`MUNTIN_CORE=10000` runs more of them.
"""

import os
import random
from collections.abc import Mapping
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from pipelines.engine.arrange import Batches, arrange_by_arrival
from pipelines.engine.combine import combine_arranged
from pipelines.engine.frames import ARRIVAL_TIME, FILE
from pipelines.timeline.closing import closing
from tests.core.arrivals import DEEP, asked, batches
from tests.core.lift import AGGREGATES, ORACLE, positioned, states
from tests.core.values import alike
from tests.oracle import Batch, judge_arrival

CASES = int(os.environ.get("MUNTIN_CORE", "3000")) // 3
CHUNKS = 5
Window = tuple[Any, ...]


def lifted(window: Any, at: int, batch: Batch) -> pa.Table:
    """A state a row, in order of arrival, with what the window reads of it; `first` and `last` go by arrival."""
    parts = [single(window, row, at * 1000 + n) for n, row in enumerate(batch.rows)]
    return pa.concat_tables(parts) if parts else single(window, NOTHING, 0).slice(1)


NOTHING = {"t": 0, "k": "", "v": 0, "x": 0.0, "s": "", "a": 0, "file": ""}


def single(window: Any, row: Mapping[str, Any], place: int) -> pa.Table:
    """One row's state."""
    lone, found = pa.table({name: [row[name]] for name in ("t", "k", "v", "x", "s")}), states([row], 1)
    for name in ("first_s_time", "last_v_time"):
        found = found.set_column(found.column_names.index(name), name, pa.array([place]))
    found = found.append_column(ARRIVAL_TIME, pa.array([row["a"]])).append_column(FILE, pa.array([row["file"]]))
    for column, sql in window.lifts.items():
        found = found.append_column(column, read(lone, sql))
    return found


def read(lone: pa.Table, sql: str) -> pa.ChunkedArray:
    """A SQL aggregate of one row."""
    with duckdb.connect() as session:
        session.register("lone", lone)
        return session.sql(f"select {sql} as value from lone").to_arrow_table()["value"]


def ours(window: Any, found: tuple[Batch, ...]) -> dict[Window, list[Any]]:
    """The engine's word: (key, index, group) -> closing batch, bounds, values."""
    starts, ends = (np.array([getattr(batch, name) for batch in found], np.int64) for name in ("start", "end"))
    rows = positioned([(at, lifted(window, at, batch)) for at, batch in enumerate(found)])
    arranged = arrange_by_arrival(rows, None, ("k",), Batches(starts, ends, DEEP, np.array([], np.int64)))
    combined = combine_arranged(arranged, window=window, when=closing(window, ends), keys=("k",), aggregates=AGGREGATES)
    table = combined.windows
    bounds = [table[name].combine_chunks().view("int64").to_pylist() for name in ("window_start", "window_end")]
    groups = table["s"].to_pylist() if window.group_by else [None] * len(table)
    named = list(zip(table["k"].to_pylist(), table["window_index"].to_pylist(), groups, strict=True))
    assert len(set(named)) == len(named)
    values = zip(combined.closed.tolist(), *bounds, *(table[name].to_pylist() for name in AGGREGATES), strict=True)
    return dict(zip(named, map(list, values), strict=True))


def theirs(window: Any, found: tuple[Batch, ...]) -> dict[Window, list[Any]]:
    """The oracle's."""
    said = judge_arrival(window, found, ORACLE, keys=["k"], start=DEEP)
    return {
        (row["k"], row["window_index"], row["s"] if window.group_by else None): [
            len(found) if row["batch"] is None else row["batch"],
            row["window_start"],
            row["window_end"],
            *(row[name] for name in AGGREGATES),
        ]
        for row in said.published + said.still_open
    }


def disagreement(seed: int) -> list[str]:
    """What engine and oracle say differently of a case."""
    dice = random.Random(seed)
    given, found = asked(dice), batches(dice)
    right, said = theirs(given.theirs, found), ours(given.ours, found)
    return [f"{name}: {said.get(name)} not {right.get(name)}" for name in right | said if not alike(said.get(name), right.get(name))]


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_engine_and_oracle_agree(chunk: int) -> None:
    wrong = {seed: said for seed in range(chunk, CASES, CHUNKS) if (said := disagreement(seed))}
    assert wrong == {}
