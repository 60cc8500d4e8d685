"""The batches that a run would read again, since batches that it reads anew change rows of theirs, or change
them no more.

The new batches are read for their ids, and compared with the ids that are known. Only batches that lie behind
a known batch by no more than rows may change are read; nothing is written.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from muntin.definition.schedule import Interval
from muntin.jobs.accumulate.row_changes.later_batches import later_batch
from muntin.jobs.accumulate.row_changes.later_rows import ids_in
from muntin.jobs.accumulate.shares import Share
from muntin.jobs.deduplication.changed_rows import names_of_changes
from muntin.jobs.deduplication.kept_decisions import changed_by
from muntin.jobs.deduplication.known import earlier_ids, known_ids

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muntin.jobs.inputs.listings.listing import Inputs
    from muntin.jobs.state.bound import Bound

WHY = "rows of later batches change rows of it or take them back (changes_within)"


def foreseen(bound: Bound, given: Inputs, anew: Sequence[Interval]) -> dict[Interval, str]:
    """Known batches that would be read again, each with the reason in words. `anew`: the batches that are new
    or have changed.

    Their files are read.
    """
    changes, noted_ids = bound.source.changes, known_ids(bound) if bound.source.changes else None
    if changes is None or noted_ids is None or not len(noted_ids.batches):
        return {}
    starts, own = noted_ids.batches.start_us, np.array([each.start_us for each in anew], np.int64)
    near = [
        each
        for each in anew
        if ((starts < each.start_us) & (starts >= each.start_us - changes.within_us)).any()
    ]
    bound = given.of(bound)
    earlier = earlier_ids(bound, noted_ids, anew)
    share = Share(bound, (), {}, earlier=replace(earlier, left_out=(*earlier.left_out, *own.tolist())))
    homes = {home for each in near for home in _homes(share, each, given)}
    after = bound.pipeline.intervals.after
    return {Interval(home, after(home)): WHY for home in sorted(homes & {*starts.tolist()} - {*own.tolist()})}


def _homes(share: Share, interval: Interval, given: Inputs) -> set[int]:
    """Starts of the batches whose rows a batch changes otherwise than when it was read last."""
    assert share.earlier is not None, "batches are compared"  # noqa: S101 - as said
    before, files = {*changed_by(share.bound, interval.start_us)}, given.files.get(interval, [])
    if not files:
        return {home for home, _ in before}
    ids = ids_in(share, later_batch(interval, files))
    home, names = names_of_changes(ids, share.earlier.homes(ids, share.earlier.begins[interval.start_us]))
    return {start for start, _ in before ^ {*zip(home.tolist(), names.tolist(), strict=True)}}
