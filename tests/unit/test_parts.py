"""Windows that are handed from batch to batch are derived part by part, as far as notes differ: rules by table.

batches     0    1    2    3    4    5    6    7    8    9
notes            1              4              7              of the ledger: "n1", "n4", "n7"
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from muntin.timeline.batches import Batches
from muntin.timeline.carried import carried_work, first_part, notes_after, part_behind
from muntin.timeline.history import Work
from muntin.timeline.ledger import NOTES, Entries, Ledger

COUNT = 10
NOTED = {1: ("n1",), 4: ("n4",), 7: ("n7",)}


def history(changed: set[int], count: int = COUNT) -> Batches:
    return Batches.of((at, at + 1, 100 + at + 1000 * (at in changed), at, at, at, 1) for at in range(count))


def ledger(noted: Mapping[int, tuple[str, ...]] = NOTED) -> Ledger:
    batches, zeros = history(set()), np.zeros(COUNT, np.int64)
    counts = (zeros, zeros, zeros, zeros, zeros, zeros, zeros, zeros.astype(np.uint64))
    note = pa.array([noted.get(at) for at in range(COUNT)], NOTES)
    return Ledger("d", Entries(batches.start_us, batches.version, zeros, batches.low_us, batches.high_us, *counts, note), "")


def work(changed: set[int], count: int = COUNT, moved: int = 0, *, flushes: bool = False) -> Work:
    """`moved`: how many batches, from the first one on, have another watermark than in the ledger."""
    return carried_work(history(changed, count), (np.arange(count) < moved).astype(np.int64), ledger(), flushes=flushes)


Part = tuple[int, int, int, tuple[str, ...]]


def parts(whole: Work, same: set[int]) -> list[Part]:
    """First and last batch of each part, since when states are read, and from which note. `same`: where notes are what they were."""
    found, part = [], first_part(whole)
    while part:
        last = int(part.positions[-1])
        found.append((int(part.positions[0]), last, part.since, part.note))
        part = part_behind(whole, part, NOTED[last] if last in same else (f"other {last}",))
    return found


@pytest.mark.parametrize(
    ("changed", "same", "expected"),
    [
        #  0  1n  2x  3  4n  5  6  7n  8  9
        #         [------]=
        ({2}, {4}, [(2, 4, 2, ("n1",))]),
        #         [------]/[-----------------]    a part of four times three batches would end behind the last one
        ({2}, set(), [(2, 4, 2, ("n1",)), (5, 9, 5, ("other 4",))]),
        ({2}, {7}, [(2, 4, 2, ("n1",)), (5, 9, 5, ("other 4",))]),
        #             4n= : one batch is a part; the next is four at least
        ({4}, {4}, [(4, 4, 2, ("n1",))]),
        ({4}, {7}, [(4, 4, 2, ("n1",)), (5, 9, 5, ("other 4",))]),
        #  x  x: the note between two changed batches ends no part
        ({1, 2}, {1, 4}, [(1, 4, 0, ())]),
        #         x           =        x          the work goes on at batch 8, behind the last note before it
        ({2, 8}, {4, 7}, [(2, 4, 2, ("n1",)), (8, 9, 8, ("n7",))]),
        ({2, 9}, {4, 7}, [(2, 4, 2, ("n1",)), (9, 9, 8, ("n7",))]),
        #  all: one part
        (set(range(COUNT)), set(), [(0, 9, 0, ())]),
        (set(), set(), []),
    ],
)
def test_work_ends_where_a_note_is_what_it_was(changed: set[int], same: set[int], expected: list[Part]) -> None:
    assert parts(work(changed), same) == expected


def test_new_batches_at_the_end_are_derived_too() -> None:
    assert parts(work({2}, COUNT + 2), {4}) == [(2, 4, 2, ("n1",)), (10, 11, 8, ("n7",))]
    assert parts(work({2}, COUNT + 2, flushes=True), {4}) == [(2, 4, 2, ("n1",)), (9, 11, 8, ("n7",))], "what was flushed is taken back"


def test_batches_with_another_watermark_are_derived_as_well() -> None:
    assert parts(work({2}, moved=7), {4, 7}) == [(2, 7, 2, ("n1",))], "their entries are those of a clean run"


def test_nothing_was_derived_before() -> None:
    whole = carried_work(history(set()), np.zeros(COUNT, np.int64), None, flushes=False)
    assert parts(whole, set()) == [(0, 9, 0, ())]


def test_a_lost_note_is_not_gone_on_from() -> None:
    whole = work({2, 9})
    assert whole.stops is not None
    whole = replace(whole, stops=whole.stops.without_note(("n7",)))
    assert parts(whole, {4}) == [(2, 4, 2, ("n1",)), (9, 9, 5, ("n4",))]


def test_a_part_makes_as_many_files_of_a_note_as_it_is_compared_with() -> None:
    found = carried_work(history({2}), np.zeros(COUNT, np.int64), ledger({4: ("a", "b", "c")}), flushes=False)
    assert (first_part(found).shards, found.shards) == (3, 0)


def test_notes_of_a_long_history_lie_near_each_other() -> None:
    notes = notes_after(np.arange(100_000))
    assert max(np.diff(notes)) == 1024
    assert len(notes) == 99
