"""Windows in order of arrival: the engine's rows are the oracle's, window by window.

`MUNTIN_CORE=30000` runs more of them.
"""

import random
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from muntin.engine.arrival.reading import note_after
from muntin.engine.windows import Combined, combine_arranged
from muntin.states.columns import ARRIVAL_TIME, FILE_NUMBER, ROW_IN_BATCH
from muntin.states.sorted import Batches, arrange_rows
from muntin.testing.oracle import Batch
from muntin.timeline.closing import closing
from tests.case_counts import random_seeds
from tests.catalogue.kinds import ARRIVAL_DRAWS
from tests.oracle import judge_arrival
from tests.properties.equal_values import alike, bitwise
from tests.properties.naive_lift import AGGREGATES, ORACLE, positioned, states
from tests.properties.random_arrivals import DEEP, batches

CASES = random_seeds(300)
CHUNKS = 5
Window = tuple[Any, ...]


def lifted(window: Any, at: int, batch: Batch) -> pa.Table:
    """A state a row, in order of arrival, with what the window reads of it; `first` and `last` go by arrival."""
    rows = [{**row, "place": at * 1000 + n} for n, row in enumerate(batch.rows)]
    parts = [states([row], 1) for row in rows or [NOTHING]]
    found = pa.concat_tables(parts).slice(0, len(rows))
    for name in ("first_s_time", "last_v_time"):
        found = found.set_column(found.column_names.index(name), name, column(rows, "place", pa.int64()))
    found = found.append_column(ARRIVAL_TIME, column(rows, "a", pa.int64())).append_column(FILE_NUMBER, column(rows, "file", pa.string()))
    found = found.append_column(ROW_IN_BATCH, column(rows, "place", pa.int64()))
    for name, values in read(window, rows).items():
        found = found.append_column(name, values)
    return found


NOTHING = {"t": 0, "k": "", "v": 0, "x": 0.0, "s": "", "a": 0, "file": "", "place": 0}
TYPES = {"place": pa.int64(), "v": pa.int64(), "x": pa.float64(), "s": pa.string()}


def column(rows: Sequence[Mapping[str, Any]], name: str, kind: pa.DataType) -> pa.Array:
    """One value of each row."""
    return pa.array([row[name] for row in rows], kind)


def read(window: Any, rows: Sequence[Mapping[str, Any]]) -> dict[str, pa.ChunkedArray]:
    """The window's SQL aggregates over each row."""
    source = pa.table({name: column(rows, name, kind) for name, kind in TYPES.items()})
    sql = ", ".join(f"{sql} as {name}" for name, sql in window.made_of.lifts.items())
    found = SESSION().from_arrow(source).query("source", f"select place, {sql} from source group by place order by place") if sql else None
    return {} if found is None else {name: found.to_arrow_table()[name] for name in window.made_of.lifts}


SESSION = cache(duckdb.connect)


def ours(window: Any, found: tuple[Batch, ...], cuts: Sequence[int] = ()) -> dict[Window, list[Any]]:
    """The engine's word: (key, index, group) -> closing batch, bounds, values.

    `cuts`: numbers of batches before which the work stops, to go on from a note.
    """
    said, note = list[tuple[Window, list[Any]]](), None
    for low, high in pairwise([0, *cuts, len(found)]):
        combined, note = derived(window, found, low, high, note)
        last = len(found) if high == len(found) else high - 1
        said += [(name, values) for name, values in named(window, combined) if values[0] <= last]
    assert len({name for name, _ in said}) == len(said)
    return dict(said)


def derived(window: Any, found: tuple[Batch, ...], low: int, high: int, note: pa.Table | None) -> tuple[Combined, pa.Table]:
    """The windows of the batches `low` up to `high`, behind a note; and the note after them."""
    starts, ends = (np.array([getattr(batch, name) for batch in found], np.int64) for name in ("start", "end"))
    rows = positioned([(at, lifted(window, at, found[at])) for at in range(low, high)])
    of_notes = [name for name in (FILE_NUMBER, ROW_IN_BATCH) if name not in window.made_of.places]
    batches = Batches(starts, ends, DEEP, np.array([high - 1], np.int64))
    arranged = arrange_rows(rows, note, ("k",), batches, of_notes=of_notes)
    combined = combine_arranged(arranged, window=window, when=closing(window, ends), keys=("k",), aggregates=AGGREGATES)
    assert combined.candidates.held is not None
    return combined, note_after(arranged, combined.candidates.held, high - 1)


def named(window: Any, combined: Combined) -> list[tuple[Window, list[Any]]]:
    """(key, index, group) of each window, and its closing batch, bounds, values."""
    table = combined.windows
    bounds = [table[name].combine_chunks().view("int64").to_pylist() for name in ("window_start", "window_end")]
    groups = table["s"].to_pylist() if "s" in table.column_names else [None] * len(table)
    names = zip(table["k"].to_pylist(), table["window_index"].to_pylist(), groups, strict=True)
    values = zip(combined.closed.tolist(), *bounds, *(table[name].to_pylist() for name in AGGREGATES), strict=True)
    return list(zip(names, map(list, values), strict=True))


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


def disagreement(draw: str, seed: int, *, cut: bool) -> list[str]:
    """What engine and oracle say differently of a case; `cut`: the engine goes on from notes at random."""
    dice = random.Random(seed)
    given, found = ARRIVAL_DRAWS[draw](dice), batches(dice)
    cuts = [at for at in range(1, len(found)) if dice.random() < 0.6] if cut else []
    right, said = theirs(given.theirs, found), ours(given.ours, found, cuts)
    return [f"{name}: {said.get(name)} not {right.get(name)}" for name in right | said if not alike(said.get(name), right.get(name))]


@pytest.mark.parametrize("draw", ARRIVAL_DRAWS)
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_engine_and_oracle_agree(chunk: int, draw: str) -> None:
    wrong = {seed: said for seed in CASES[chunk::CHUNKS] if (said := disagreement(draw, seed, cut=False))}
    assert wrong == {}


@pytest.mark.parametrize("draw", ARRIVAL_DRAWS)
def test_work_that_goes_on_from_notes_gives_the_same(draw: str) -> None:
    wrong = {seed: said for seed in CASES[: len(CASES) // 3] if (said := disagreement(draw, seed, cut=True))}
    assert wrong == {}


@pytest.mark.parametrize("draw", ARRIVAL_DRAWS)
def test_a_note_says_the_same_wherever_the_work_began(draw: str) -> None:
    wrong = {seed: said for seed in CASES[: len(CASES) // 3] if (said := other_notes(draw, seed))}
    assert wrong == {}


def other_notes(draw: str, seed: int) -> list[str]:
    """The notes that differ between work that goes on from each note, and work from the beginning of history."""
    dice = random.Random(seed)
    given, found = ARRIVAL_DRAWS[draw](dice), batches(dice)
    note, lines = None, list[str]()
    for at in range(len(found)):
        note = derived(given.ours, found, at, at + 1, note)[1]
        whole = derived(given.ours, found, 0, at + 1, None)[1]
        lines += [] if bitwise(note, whole) else [f"batch {at}: {note.to_pylist()} not {whole.to_pylist()}"]
    return lines
