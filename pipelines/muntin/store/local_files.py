"""Rows of states on a disk, row group by row group: a dataset of Arrow's would filter every row, and start
threads for a file of ten.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import fs

from muntin.files.readable import opened
from muntin.files.weighted_cache import weighted_cache
from muntin.states.derived_columns import following, footer_of, together
from muntin.states.keys import contiguous

_FEW = 2**17
"""So many rows are filtered at once: to begin to filter takes longer than to filter those of a small file."""
_FOOTERS = 2**21  # bytes of footers, as files have them: once read, they take twelve times as much


@dataclass(frozen=True, slots=True)
class Between:
    """The rows of a file whose value of a column of integers is from `low` on and below `high`."""

    column: str
    low: int
    high: int

    def groups(self, footer: pq.FileMetaData) -> list[int]:
        """The row groups that may hold rows of the condition, by the least and the greatest value in the
        footer.
        """
        at = [footer.schema.column(at).path for at in range(footer.num_columns)].index(self.column)
        statistics = [footer.row_group(group).column(at).statistics for group in range(footer.num_row_groups)]
        return [
            group
            for group, each in enumerate(statistics)
            if not (each and each.has_min_max) or (each.max >= self.low and each.min < self.high)
        ]

    def of(self, table: pa.Table) -> pa.Table:
        """The rows of a table with a value in the range; rows that lie together, as in a file sorted by the
        column, are not copied.
        """
        values = contiguous(table[self.column]).to_numpy()
        inside = (values >= self.low) & (values < self.high)
        positions = np.flatnonzero(inside)
        if len(positions) and int(positions[-1]) - int(positions[0]) + 1 == len(positions):
            return table.slice(int(positions[0]), len(positions))
        return table.filter(pa.array(inside))


def local_rows(
    places: Sequence[str],
    schema: pa.Schema,
    columns: Sequence[str],
    condition: pc.Expression | None = None,
    between: Between | None = None,
) -> pa.Table:
    """Some columns of the states in files on a disk, in the order of the files: as the files hold them if all
    hold the same, else all of the columns; see `states.derived_columns`.

    `places`: the files; at least one. `schema`: of the table. A column that a file lacks is null, and a
    narrower type becomes that of the schema. `columns`: to read. `condition`: on columns that are not of
    fields; row groups that cannot meet it are skipped. `between`: a further condition.
    """
    tables = [_rows(place, schema, columns, condition, between) for place in places]
    if condition is None:
        return together(tables)
    if sum(map(len, tables)) <= _FEW:
        return together(tables).filter(condition)
    return together([table.filter(condition) for table in tables])


@weighted_cache(_FOOTERS, lambda footer: footer.serialized_size)
def _footer(place: str) -> pq.FileMetaData:
    """The footer of a file whose path names its content. Each task of a worker reads a part of all files."""
    return pq.read_metadata(place)


def _rows(
    place: str,
    schema: pa.Schema,
    columns: Sequence[str],
    condition: pc.Expression | None,
    between: Between | None,
) -> pa.Table:
    """The rows of one file that lie between, of the row groups that can meet the condition too."""
    with opened(place, metadata=_footer(place) if between else None) as file:
        there = file.schema_arrow  # made anew each time it is asked for
        footer = footer_of(there)
        gone = following(pa.schema([], footer))
        names = [name for name in columns if name not in gone]
        asked = dict.fromkeys((*names, *([between.column] if between else ())))
        held = [name for name in asked if name in there.names]
        groups = (
            between.groups(file.metadata)
            if between and file.num_row_groups > 1
            else range(file.num_row_groups)
        )
        if condition is not None and len(groups) > 1:
            import pyarrow.dataset as ds  # where there is pandas, it imports that

            # `subset` has an order of its own
            fragment = ds.ParquetFileFormat().make_fragment(
                place, fs.LocalFileSystem(), row_groups=list(groups)
            )
            groups = sorted(group.id for group in fragment.subset(condition, schema=schema).row_groups)
        table = (
            file.read_row_groups(list(groups), columns=held, use_threads=False)
            if held
            else file.read(columns=[])
        )
    table = between.of(table) if between else table
    shaped = {name: _as(table, name, schema.field(name).type) for name in names}
    return pa.table(shaped).replace_schema_metadata(footer)


def _as(table: pa.Table, name: str, kind: pa.DataType) -> pa.ChunkedArray:
    if name not in table.column_names:
        return pa.chunked_array([pa.nulls(len(table), kind)])
    return table[name] if table[name].type == kind else table[name].cast(kind)
