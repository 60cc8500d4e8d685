"""States in wider types: a batch brings a type that is wider than in the state, and all states take it, in
the same commit.

state     batch 0, n INTEGER   batch 1, n INTEGER                           batch 2 has n BIGINT
becomes   batch 0, n BIGINT    batch 1, n BIGINT    batch 2, n BIGINT       as if all files had had it

No source is read. The values of a batch are the same, so that it keeps its version, and its windows stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

import numpy as np
import pyarrow as pa

from muntin.errors import SourceError
from muntin.files.paths import AnyPath
from muntin.sources.reading.scan import nulls
from muntin.sources.reading.sql_types import common_type, storable
from muntin.sources.sessions.duckdb_session import any_session, described
from muntin.states.columns import BUCKET, FRAME, ROW_IN_BATCH
from muntin.states.derived_columns import has_types, storable_type, whole, wider
from muntin.states.keys import buckets, contiguous, key_codes
from muntin.states.order import sorted_order, take_rows
from muntin.states.sorted import instants
from muntin.store.batch_facts import batches_of
from muntin.store.contents import check_whole
from muntin.store.parquet import read_parquet
from muntin.store.paths import StatesPath, parse_states_path
from muntin.store.shared_files import write_shared
from muntin.store.store import File


def common_schema(schemas: Sequence[pa.Schema]) -> pa.Schema:
    """The columns of all given schemas, with types that hold the values of each; SourceError if two types
    contradict.
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
    nothing = session.sql(f"SELECT {nulls({name: wide})} LIMIT 0").to_arrow_table()
    return storable(nothing).schema.field(0).type


def in_types(
    folder: AnyPath, files: Iterable[File], wide: pa.Schema, keys: Sequence[str], after: Callable[[int], int]
) -> list[File]:
    """Files of states with the columns `wide`; a file that has them stays. Batches keep their versions: their
    values are the same.

    `files`: of the table, all of a batch. `after`: from the start of an interval to its end. A value that the
    wider type cannot hold as it is raises SourceError.
    """
    wide_files: list[File] = []
    for _, of_batch in groupby(sorted(files, key=_place), _place):
        together = list(of_batch)
        check_whole(folder, together)
        tables = [whole(read_parquet(f"{folder}/{file.path}")) for file in together]
        if all(table.column_names == wide.names and has_types(table.schema, wide) for table in tables):
            wide_files += together
        else:
            wide_tables = [
                with_columns(table, wide, f"{folder}/{file.path}")
                for table, file in zip(tables, together, strict=True)
            ]
            rows = _sorted(pa.concat_tables(wide_tables), keys)
            batches = batches_of(folder, together, after)
            wide_files.append(write_shared(rows, folder, batches, keys))
    return wide_files


def _place(file: File) -> str:
    """The key that separates files of different batches, ascending by split."""
    path = parse_states_path(file.path)
    return file.path.partition("/")[0] if isinstance(path, StatesPath) else file.path


def with_columns(table: pa.Table, wide: pa.Schema, path: str) -> pa.Table:
    """The rows of a file with all columns; a column that an empty batch lacks has no rows.

    A value that the wider type cannot hold as it is raises SourceError.
    """
    columns = []
    for each in wide:
        narrow = table[each.name] if each.name in table.column_names else pa.nulls(len(table), each.type)
        try:
            columns.append(wider(narrow, each.type))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as wrong:
            raise SourceError(
                f"{each.name} is {narrow.type} in earlier batches and {each.type} in this one, and a state"
                f" does not go into the wider type as it is ({wrong}; {path}); say the type of the column in"
                " sources.files(..., types={...}), and all batches are read as it"
            ) from wrong
    return pa.table(columns, wide)


def _sorted(table: pa.Table, keys: Sequence[str]) -> pa.Table:
    """The states by bucket, key and frame; states that are rows by bucket and key.

    Of decimals of another scale the bucket is another.
    """
    columns = [contiguous(table[key]) for key in keys]
    bucket = buckets(columns, len(table))
    table = table.set_column(table.column_names.index(BUCKET), BUCKET, pa.array(bucket))
    frame = [] if ROW_IN_BATCH in table.column_names else [instants(table[FRAME])]
    return take_rows(table, sorted_order(bucket.astype(np.int64), key_codes(columns, len(table)), *frame))
