"""Look-ups of batches, for people: how many answers, how many found nothing, and whether they hold still."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from muntin.definition.instants import from_us
from muntin.files.pages import opened
from muntin.jobs.inputs.dimensions.changed_rows import lookup_changes
from muntin.sources.reading.dimensions.answers import MET
from muntin.states.columns import BATCH, INSTANT
from muntin.states.sorted import instants
from muntin.store.contents import whole_content
from muntin.store.paths import LOOKED_UP
from muntin.store.shared_files import within

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from muntin.jobs.state.bound import Bound
    from muntin.states.frames import Ints
    from muntin.store.store import File

_LOOKUP, _KEY, _FIRST, _LAST, _ANSWER = MET.names[1:]


@dataclass(frozen=True, slots=True)
class LookedUp:
    """The rows of a dimension that the events of a batch looked up.

    Attributes:
        batch: start of its interval.
        lookup: name of the look-up.
        answers: number of the answers: of a key, each row that was met, or that there was none.
        without: number of the answers that are no row.
        changed: whether the dimension would answer otherwise now: the next run reads the batch again.
    """

    batch: datetime
    lookup: str
    answers: int
    without: int
    changed: bool


def looked_up(bound: Bound, starts: Ints) -> tuple[LookedUp, ...]:
    """The look-ups of some batches, by batch and name; () where nothing looks up. `starts`: of the batches, ascending."""
    if not bound.pipeline.lookups or not len(starts):
        return ()
    files = [file for file in bound.store.snapshot(LOOKED_UP).files if len(within(starts, file.path))]
    changed = {interval.start_us for interval in lookup_changes(bound).why}
    counts = (
        _met(bound, files, starts)
        .group_by([BATCH, _LOOKUP])
        .aggregate([(_KEY, "count"), (_ANSWER, "count", pc.CountOptions(mode="only_null"))])
    )
    counts = counts.sort_by([(BATCH, "ascending"), (_LOOKUP, "ascending")])
    columns = [counts[name].to_pylist() for name in (_LOOKUP, f"{_KEY}_count", f"{_ANSWER}_count")]
    return tuple(
        LookedUp(from_us(batch), name, answers, without, batch in changed)
        for batch, name, answers, without in zip(instants(counts[BATCH]).tolist(), *columns, strict=True)
    )


def _met(bound: Bound, files: Sequence[File], starts: Ints) -> pa.Table:
    """The rows of what some batches met."""
    tables = [MET.empty_table(), *(opened(whole_content(bound.table(LOOKED_UP), file)).read().cast(MET) for file in files)]
    met = pa.concat_tables(tables)
    return met.filter(pc.is_in(met[BATCH], value_set=pa.array(starts).view(INSTANT)))
