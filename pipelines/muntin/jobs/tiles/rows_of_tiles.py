"""The rows of tiles: states read and combined, a row for each key and tile."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds

from muntin.engine.merged_states import merged
from muntin.errors import SourceError
from muntin.states.columns import BATCH, BUCKET, FRAME, INSTANT, ROW_IN_BATCH
from muntin.states.keys import buckets, contiguous, odd_floats
from muntin.states.sorted import instants
from muntin.store.paths import parse_states_path
from muntin.store.reading import read_files

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muntin.files.paths import AnyPath
    from muntin.jobs.state.bound import Bound
    from muntin.states.frames import Ints
    from muntin.store.store import Snapshot
    from muntin.timeline.tiers import Stretch


@dataclass(frozen=True, slots=True)
class Made:
    """The rows of some tiles of one length, with the columns of states but for the batch; and which of the
    tiles are usable.
    """

    rows: pa.Table
    usable: np.ndarray


def schema_of_tiles(states: pa.Schema) -> pa.Schema:
    """The columns of tiles: the columns of states without the batch and without the place in it, which states
    of an upstream have.
    """
    return pa.schema([column for column in states if column.name not in (BATCH, ROW_IN_BATCH)])


def states_in(folder: AnyPath, snapshot: Snapshot, within: Sequence[Stretch], batches: Stretch) -> pa.Table:
    """The states in some stretches of time, of the batches that start between two instants, both included."""
    files = [file for file in snapshot.files if _touches(file.path, within)]
    inside = [(ds.field(FRAME) >= _instant(low)) & (ds.field(FRAME) < _instant(high)) for low, high in within]
    of_batches = (ds.field(BATCH) >= _instant(batches[0])) & (ds.field(BATCH) <= _instant(batches[1]))
    return read_files(
        folder, replace(snapshot, files=tuple(files)), condition=reduce(or_, inside) & of_batches
    )


def _touches(path: str, within: Sequence[Stretch]) -> bool:
    facts = parse_states_path(path)
    low, high = facts.low_us, facts.high_us
    return low is not None and high is not None and any(start <= high and low < end for start, end in within)


def _instant(us: int) -> pa.Scalar:
    return pa.scalar(us, pa.int64()).cast(INSTANT)


def rows_of_tiles(bound: Bound, states: pa.Table, schema: pa.Schema, numbers: Ints, span_us: int) -> Made:
    """A row for each key and tile, of the ascending `numbers`, that has states; states of other tiles are
    left out.

    A tile with an odd float, and tiles whose sums do not fit their types, are not usable and get no rows. The
    states are of frames or of smaller tiles.
    """
    number = instants(states[FRAME]) // span_us
    odd = np.unique(
        number[odd_floats(states, [column for field in bound.fields for column in field.columns])]
    )
    usable = ~np.isin(numbers, odd)
    row_is_usable = np.isin(number, numbers[usable])
    columns = {name: states[name] for name in schema.names if name not in (BUCKET, FRAME)}
    table = pa.table(columns | {FRAME: pa.array(number * span_us)})
    try:
        rows = merged(
            table if row_is_usable.all() else table.filter(pa.array(row_is_usable)),
            bound.pipeline.keys,
            bound.fields,
        )
    except SourceError:
        return Made(schema.empty_table(), np.zeros(len(numbers), np.bool_))
    bucket = buckets([contiguous(rows[key]) for key in bound.pipeline.keys], len(rows))
    rows = rows.append_column(BUCKET, pa.array(bucket))
    return Made(pa.table({column.name: rows[column.name].cast(column.type) for column in schema}), usable)
