"""What windows of adjacent rows hand from batch to batch: the same wherever the work began, and enough to go on from.

`MUNTIN_CORE=30000` runs more of them.
"""

import random
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from muntin.definition.instants import BEFORE_ALL
from muntin.engine.arrival.reading import note_after
from muntin.engine.windows import Combined, combine_arranged
from muntin.testing.oracle.time import watermarks
from muntin.timeline.closing import closing
from tests.case_counts import random_seeds
from tests.catalogue.kinds import DRAWS
from tests.properties.combining import arranged, lifted
from tests.properties.equal_values import bitwise
from tests.properties.naive_lift import AGGREGATES, positioned
from tests.properties.random_cases import Case, case_of

OF_ROWS = [draw for draw in DRAWS if case_of(draw, 0).ours.made_of.of_rows]
CASES = random_seeds(600)


def derived(given: Case, low: int, high: int, note: pa.Table | None) -> tuple[Combined, pa.Table]:
    """The windows of the batches `low` up to `high`, behind a note; and the note after them."""
    states = positioned([(at, lifted(given.batches[at].rows, given)) for at in range(low, high)])
    known = watermarks(given.batches, given.policy, 10**18)
    when = closing(given.ours, np.array([max(each, BEFORE_ALL) for each in known]).astype(np.int64))
    found = arranged(states, note, given, [high - 1])
    combined = combine_arranged(found, window=given.ours, when=when, keys=given.keys, aggregates=AGGREGATES)
    assert combined.candidates.held is not None
    return combined, note_after(found, combined.candidates.held, high - 1)


def closed_by(combined: Combined, batches: range) -> pa.Table:
    """The windows that some batches closed, and the batch of each."""
    chosen = np.isin(combined.closed, list(batches))
    return combined.windows.append_column("closed", pa.array(combined.closed)).filter(pa.array(chosen))


def mistakes(given: Case) -> list[str]:
    """Where work that goes on from each note says something else than work from the beginning of history."""
    note, lines = None, list[str]()
    for at in range(len(given.batches)):
        steps, note = derived(given, at, at + 1, note)
        whole, from_beginning = derived(given, 0, at + 1, None)
        lines += [] if bitwise(note, from_beginning) else [f"note {at}: {note.to_pylist()} not {from_beginning.to_pylist()}"]
        ours, right = closed_by(steps, range(at, at + 1)), closed_by(whole, range(at, at + 1))
        lines += [] if bitwise(ours, right) else [f"batch {at}: {ours.to_pylist()} not {right.to_pylist()}"]
    return lines


@pytest.mark.parametrize("draw", OF_ROWS)
def test_a_note_says_the_same_wherever_the_work_began(draw: str) -> None:
    assert {seed: said for seed in CASES if (said := mistakes(case_of(draw, seed)))} == {}


@pytest.mark.parametrize("draw", OF_ROWS)
def test_so_it_is_of_rows_of_few_instants(draw: str) -> None:
    """Windows that begin at one instant, some of them in notes."""
    for seed in CASES:
        given, dice = case_of(draw, seed), random.Random(seed)
        times = dice.choices([row["t"] for batch in given.batches for row in batch.rows] or [0], k=4)
        few = (replace(batch, rows=[{**row, "t": dice.choice(times)} for row in batch.rows]) for batch in given.batches)
        assert mistakes(replace(given, batches=tuple(few))) == [], seed
