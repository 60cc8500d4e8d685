"""Reports of batches whose states were written anew in wider types: they name the new versions, so that no batch seems to be unreported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.jobs.pending import accumulated
from pipelines.jobs.reports_table import record_versions, utc_now
from pipelines.states.stored_types import has_types
from pipelines.timeline.batches import spelled

if TYPE_CHECKING:
    from pipelines.jobs.bound import Bound
    from pipelines.jobs.run.read_batches import Read
    from pipelines.states.frames import Ints
    from pipelines.store.store import Snapshot
    from pipelines.timeline.batches import Batches


def carried(bound: Bound, base: Snapshot, starts: Ints, done: Read) -> Batches | None:
    """The batches of the first frame set as they are now, if a run has made types wider; else None. The others' reports are carried over.

    Args:
        bound: the definition beside its state.
        base: the table of the first frame set before the run.
        starts: of the batches that the run read.
        done: what it read.
    """
    table = bound.frame_sets[0].table
    now = bound.store.snapshot(table)
    if now.schema is None or not (done.wider[table] or (base.schema and not has_types(base.schema, now.schema))):
        return None
    before, after = accumulated(bound, table, base), accumulated(bound, table, now)
    new = dict(zip(after.start_us.tolist(), map(spelled, after.version.tolist()), strict=True))
    old = dict(zip(before.start_us.tolist(), map(spelled, before.version.tolist()), strict=True))
    others = {start: (version, new[start]) for start, version in old.items() if start in new and start not in {*starts.tolist()}}
    record_versions(bound.store, {start: pair for start, pair in others.items() if pair[0] != pair[1]}, utc_now())
    return after
