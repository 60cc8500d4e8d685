"""The history beside the ledger: what is vectorised, against loops over batches.

ledger    0  1  2  .  4  5        the entries: versions and watermarks as they were
history   0  1  .  3  4  5  6     the batches now
"""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from muntin.definition.instants import AFTER_ALL, BEFORE_ALL
from muntin.timeline.batches import Batches
from muntin.timeline.closing import Closing, Compared
from muntin.timeline.ledger import NOTES, Entries, no_entries

SLACK = 1
FACTS = st.tuples(
    st.integers(1, 2), st.integers(0, 6), st.integers(0, 8), st.integers(-1, 3)
)  # version, watermark, frames from, so many more
SIDE = st.dictionaries(st.integers(0, 7), FACTS, max_size=8)
Side = dict[int, tuple[int, int, int, int]]


def numbers(side: Side) -> tuple[list[int], list[int], list[int], list[int], list[int]]:
    """Starts, versions, ascending watermarks, first and last frames."""
    starts = sorted(side)
    watermarks_us = np.maximum.accumulate([side[start][1] for start in starts]).tolist() if starts else []
    held = [side[start][3] >= 0 for start in starts]
    low = [side[start][2] if some else AFTER_ALL for start, some in zip(starts, held, strict=True)]
    high = [side[start][2] + side[start][3] if some else BEFORE_ALL for start, some in zip(starts, held, strict=True)]
    return starts, [side[start][0] for start in starts], watermarks_us, low, high


def naive(now: Side, then: Side) -> tuple[list[int], list[int], dict[int, tuple[int, int]]]:
    """Positions that changed, positions that moved, and the frames of states of a batch whose lateness changed."""
    starts, versions, watermarks_us, lows, highs = numbers(now)
    old, old_versions, old_watermarks_us, old_lows, old_highs = numbers(then)
    changed, moved, late = [], [], {}
    for at, start in enumerate(starts):
        if start not in then:
            changed.append(at)
            continue
        entry = old.index(start)
        if versions[at] != old_versions[entry]:
            changed.append(at)
        before, was_before = ([BEFORE_ALL, *watermarks_us][at], [BEFORE_ALL, *old_watermarks_us][entry])
        if (before, watermarks_us[at]) != (was_before, old_watermarks_us[entry]):
            moved.append(at)
        closed, was_closed = (watermark_us if watermark_us == BEFORE_ALL else watermark_us - SLACK for watermark_us in (before, was_before))
        low, high, until = min(lows[at], old_lows[entry]), max(highs[at], old_highs[entry]), max(closed, was_closed)
        if closed != was_closed and low <= high and low < until:
            late[at] = (low, min(high, until))
    return changed, moved, late


@given(SIDE, SIDE)
def test_as_batch_by_batch(now: Side, then: Side) -> None:
    starts, versions, watermarks_us, low, high = numbers(now)
    batches = Batches.of(
        [(start, start + 1, version, 0, a, b, 1) for start, version, a, b in zip(starts, versions, low, high, strict=True)]
    )
    old = dict(zip(("start_us", "version", "watermark_us", "low_us", "high_us"), numbers(then), strict=True))
    blank = {name: np.zeros(len(then), getattr(no_entries(), name).dtype) for name in Entries.__slots__ if name not in (*old, "note")}
    known = {name: np.array(values, getattr(no_entries(), name).dtype) for name, values in old.items()}
    compared = Compared(batches, np.array(watermarks_us, np.int64), Entries(**known, **blank, note=pa.nulls(len(then), NOTES)))
    changed, moved, late = naive(now, then)
    assert compared.changed.tolist() == changed
    assert compared.moved.tolist() == moved
    assert dict(compared.changed_lateness(Closing(compared.watermarks_us, SLACK))) == late
