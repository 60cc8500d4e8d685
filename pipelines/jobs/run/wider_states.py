"""States in wider types: a batch brings a type that is wider than in the state, and all states take it, in the same commit.

state     batch 0, n INTEGER   batch 1, n INTEGER                           batch 2 has n BIGINT
becomes   batch 0, n BIGINT    batch 1, n BIGINT    batch 2, n BIGINT       as if all files had had it

No source is read. A batch in other types is another version of it, so that its windows are derived anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pipelines.errors import SourceError
from pipelines.files.readable import readable
from pipelines.jobs.run.bundle_states import encoding, facts
from pipelines.sources.common_types import common_type
from pipelines.sources.duckdb_session import any_session, described
from pipelines.sources.scan import quoted
from pipelines.sources.sql_types import storable
from pipelines.states.columns import BATCH, BUCKET
from pipelines.states.frames import sorted_order
from pipelines.states.keys import buckets, contiguous, key_codes
from pipelines.states.sorted import instants
from pipelines.states.stored_types import has_types, storable_type
from pipelines.store.batch_facts import shared_batches
from pipelines.store.contents import check_whole
from pipelines.store.parquet import write_named
from pipelines.store.paths import StatesPath, parse_states_path
from pipelines.store.shared_files import write_shared
from pipelines.store.store import File

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pipelines.definition.frame_sets import FrameSet


def common_schema(schemas: Sequence[pa.Schema]) -> pa.Schema:
    """The columns of all of these, with types that hold the values of each.

    Raises:
        SourceError: two types contradict.
    """
    merged: dict[str, pa.DataType] = {}
    for schema in schemas:
        for each in schema:
            merged[each.name] = _common(each.name, merged.get(each.name, each.type), each.type)
    return pa.schema(list(merged.items()))


def _common(name: str, one: pa.DataType, other: pa.DataType) -> pa.DataType:
    one, other = storable_type(one), storable_type(other)
    if one == other:
        return one
    session = any_session()
    session.register("muntin_types", pa.schema([("one", one), ("other", other)]).empty_table())
    kinds = described(session, "FROM muntin_types")
    wide = common_type(kinds["one"], kinds["other"])
    if wide is None:
        raise SourceError(
            f"{name} is {kinds['other']} in some files and {kinds['one']} in others; "
            f'say the type of its column in sources.files(..., types={{"x": "DOUBLE"}})'
        )
    return storable(session.sql(f"SELECT NULL::{wide} AS {quoted(name)} LIMIT 0").to_arrow_table()).schema.field(0).type


def in_types(folder: str, files: Iterable[File], wide: pa.Schema, frames: FrameSet, keys: Sequence[str]) -> list[File]:
    """Files of states with these columns; a file that has them already as it is.

    Args:
        folder: of the table.
        files: of the table.
        wide: all columns.
        frames: the frame set.
        keys: the key columns.

    Raises:
        StateError: a file is gone or damaged.
        SourceError: a value does not go into the wider type as it is.
    """
    return [_in_types(folder, file, wide, frames, keys) for file in files]


def _in_types(folder: str, file: File, wide: pa.Schema, frames: FrameSet, keys: Sequence[str]) -> File:
    check_whole(folder, [file])
    table = pq.read_table(readable(f"{folder}/{file.path}"), partitioning=None)
    if table.column_names == wide.names and has_types(table.schema, wide):
        return file
    table = _sorted(_cast(table, wide, f"{folder}/{file.path}"), keys)
    path, how = parse_states_path(file.path), encoding(frames, keys)
    if isinstance(path, StatesPath):
        return File(**write_named(table, folder, path.named, **how))
    batches = shared_batches(f"{folder}/{file.path}")
    by_batch = table.take(pa.array(np.argsort(instants(table[BATCH]), kind="stable")))
    return write_shared(table, folder, facts(by_batch, batches.start_us, batches.end_us, batches.newest_us, how), keys)


def _cast(table: pa.Table, wide: pa.Schema, path: str) -> pa.Table:
    """The rows with all columns; a column that an empty batch lacks has no rows."""
    columns: Mapping[str, pa.ChunkedArray] = {name: table[name] for name in table.column_names}
    try:
        found = [columns[each.name].cast(each.type) if each.name in columns else pa.nulls(len(table), each.type) for each in wide]
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as wrong:
        raise SourceError(
            f"a type is wider than in earlier batches, and a state of these does not go into it as it is ({wrong}; {path}); "
            f'say the type of the column in sources.files(..., types={{"x": "DOUBLE"}}), and all batches are read as it'
        ) from wrong
    return pa.table(found, wide)


def _sorted(table: pa.Table, keys: Sequence[str]) -> pa.Table:
    """The states by the buckets of their keys: of decimals that have another scale now, the bucket is another."""
    columns = [contiguous(table[key]) for key in keys]
    bucket = buckets(columns, len(table))
    if np.array_equal(bucket, contiguous(table[BUCKET]).to_numpy()):
        return table
    table = table.set_column(table.column_names.index(BUCKET), BUCKET, pa.array(bucket))
    return table.take(pa.array(sorted_order(bucket.astype(np.int64), key_codes(columns, len(table)))))
