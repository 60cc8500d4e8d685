"""Of two ledgers' entries the newest of each batch counts."""

from unittest import mock

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from muntin.timeline.ledger import _COLUMNS, NOTES, Entries, no_entries

BATCHES = st.sets(st.integers(0, 12)).map(sorted)


def entries(starts: list[int], value: int) -> Entries:
    """Of batches with these starts; every other fact is the same number, and every note but those of even batches names it."""
    facts = {name: np.full(len(starts), value, getattr(no_entries(), name).dtype) for name in _COLUMNS if name not in ("start_us", "note")}
    notes = [None if start % 2 == 0 else [f"{value}"] for start in starts]
    return Entries(start_us=np.array(starts, np.int64), note=pa.array(notes, NOTES), **facts)


# earlier   0 1 . 3 . 5         later   . 1 2 3 . .   a stretch          later   0 . 2 . . 5   three stretches; of many, all are sorted
@given(BATCHES, BATCHES, st.integers(0, 7))
def test_later_entries_take_the_place_of_earlier(earlier: list[int], later: list[int], few: int) -> None:
    with mock.patch("muntin.timeline.ledger._FEW", few):
        found = entries(earlier, 1).newest(entries(later, 2)).to_table()
    newest = dict.fromkeys(earlier, 1) | dict.fromkeys(later, 2)
    expected = [entries([start], newest[start]).to_table() for start in sorted(newest)]
    assert found.equals(pa.concat_tables(expected).combine_chunks() if expected else no_entries().to_table())
