"""Look-ups of batches, for people: which rows they met, how many had an answer and how many none, and whether
answers still hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.definition.instants import from_us
from muntin.files.readable import opened
from muntin.jobs.inputs.dimensions.changed_rows import lookup_changes, noted_versions
from muntin.jobs.inputs.dimensions.read_dimensions import version_at
from muntin.jobs.state.bound import Bound
from muntin.sources.reading.answers import MET
from muntin.sources.reading.dimension import FOREVER, Versions
from muntin.states.columns import BATCH, INSTANT
from muntin.states.frames import Ints
from muntin.states.sorted import instants
from muntin.store.contents import whole_content
from muntin.store.paths import LOOKED_UP
from muntin.store.shared_files import within
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
    """The look-ups of some batches, by batch and name; () where nothing looks up.

    `starts`: of the batches, ascending.
    """
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


@dataclass(frozen=True, slots=True)
class MetRow:
    """A row of a dimension that events met.

    Attributes:
        lookup: name of the look-up.
        key: the values of its key columns.
        since: from when on it is valid.
        until: until when; None: still.
    """

    lookup: str
    key: tuple[Any, ...]
    since: datetime
    until: datetime | None


def met_rows(bound: Bound, starts: Ints, within_us: tuple[int, int]) -> tuple[MetRow, ...]:
    """The rows of dimensions that events of some batches met in a stretch of time, by
    look-up, key and time.
    """
    if not bound.pipeline.lookups or not len(starts):
        return ()
    files = [file for file in bound.store.snapshot(LOOKED_UP).files if len(within(starts, file.path))]
    met = _met(bound, files, np.sort(starts))
    met = met.filter(
        pa.array((instants(met[_LAST]) >= within_us[0]) & (instants(met[_FIRST]) < within_us[1]))
    )
    return tuple(
        row for name, versions in sorted(noted_versions(bound).items()) for row in _rows(name, versions, met)
    )


def _rows(name: str, versions: Versions, met: pa.Table) -> Iterator[MetRow]:
    """The rows of a dimension that were met and still give the noted answers."""
    own = met.filter(pc.equal(met[_LOOKUP], name)).drop_null()
    number, _ = version_at(versions, own[_KEY].to_numpy(), instants(own[_FIRST]))
    same = np.append(versions.answer, 0)[number] == own[_ANSWER].to_numpy()
    owner = np.repeat(np.arange(len(versions.key)), np.diff(versions.first))
    for each in np.unique(number[(number >= 0) & same]).tolist():
        (key,) = versions.keys.drop_columns("id").slice(owner[each], 1).to_pylist()
        until = int(versions.until[each])
        yield MetRow(
            name,
            tuple(key.values()),
            from_us(int(versions.since[each])),
            None if until == FOREVER else from_us(until),
        )


def _met(bound: Bound, files: Sequence[File], starts: Ints) -> pa.Table:
    """The rows of what some batches met."""
    tables = [
        MET.empty_table(),
        *(opened(whole_content(bound.table(LOOKED_UP), file)).read().cast(MET) for file in files),
    ]
    met = pa.concat_tables(tables)
    return met.filter(pc.is_in(met[BATCH], value_set=pa.array(starts).view(INSTANT)))
