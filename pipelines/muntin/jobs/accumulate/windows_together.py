"""Windows of an upstream that are read together: the column of the closing batch separates batches that share
files.

files of the upstream    f1: batches 0..511     f2: batch 512     f3: batch 513
a bundle                 0 .. 511, 512, 513                       each file is read once, not once a batch
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from duckdb import DuckDBPyConnection

from muntin.aggregates.aggregate import runs_code
from muntin.errors import SourceError
from muntin.files.readable import opened
from muntin.jobs.accumulate.bundles import MOST_ROWS, SMALL, Bundle, Seen
from muntin.jobs.accumulate.shares import Split
from muntin.jobs.state.bound import Bound
from muntin.sources.listing import SourceFile, source_file
from muntin.sources.reading.row_times import staged_batches
from muntin.sources.reading.scan import quoted, scan
from muntin.sources.sessions.duckdb_session import described
from muntin.sources.source import Source
from muntin.states.columns import LATEST, ROW_BATCH, ROW_IN_SPLIT
from muntin.states.frames import Ints
from muntin.states.sorted import instants

_OWN, _PLACES, _NUMBER = "muntin_own", "muntin_places", "muntin_number"


class _File:
    """A file of windows: as it is, its schema, and how many rows of it each batch has."""

    def __init__(self, source: Source, path: str) -> None:
        self.file: SourceFile = source_file(source, path)
        file = opened(path)
        self.schema = file.schema
        self.starts, self.rows = np.unique(
            instants(file.read([str(source.batch_column)]).column(0)), return_counts=True
        )

    def rows_of(self, batch_us: int) -> int:
        at = int(np.searchsorted(self.starts, batch_us))
        return int(self.rows[at]) if at < len(self.starts) and self.starts[at] == batch_us else 0

    def bytes_of(self, rows: int) -> int:
        """About the bytes of some of its rows."""
        return self.file.size * rows // max(int(self.rows.sum()), 1)


def seen_windows(bound: Bound, splits: Sequence[Split]) -> list[Seen | None]:
    """Each split with the present facts of its files; None for a split to be read alone.

    A file that is gone or damaged is to be read alone, which says what is wrong; so are windows with pickles,
    which are checked first.
    """
    if any(map(runs_code, bound.fields)):
        return [None] * len(splits)
    files: dict[str, _File | None] = {}
    for path in dict.fromkeys(path for split in splits for path in split.paths):
        try:
            files[path] = _File(bound.source, path)
        except (OSError, pa.ArrowException):
            files[path] = None
    schemas: list[pq.ParquetSchema] = []
    return [
        _seen(split, [file for path in split.paths if (file := files[path])], schemas) for split in splits
    ]


def _seen(split: Split, files: Sequence[_File], schemas: list[pq.ParquetSchema]) -> Seen | None:
    rows = [file.rows_of(split.batch_us) for file in files]
    size = sum(file.bytes_of(count) for file, count in zip(files, rows, strict=True))
    same = len(files) == len(split.paths) > 0 and all(file.schema.equals(files[0].schema) for file in files)
    if not same or not split.only or size > SMALL or sum(rows) > MOST_ROWS:
        return None
    if not schemas or not files[0].schema.equals(schemas[-1]):
        schemas.append(files[0].schema)
    return Seen(split, [file.file for file in files], rows, len(schemas), size)


def stage_windows(
    session: DuckDBPyConnection,
    source: Source,
    bundle: Bundle,
    latest: Ints,
    table: str,
    *,
    ordinal: bool,
) -> None:
    """Read the windows of a bundle into a table, as `staged_batches` gives them, each batch's windows in the
    order of the source.

    `latest`: the latest time that each batch takes. `ordinal`: whether the places of rows are asked for.
    Files with other rows than were counted are an error.
    """
    paths = _in_order(bundle)
    session.register(_PLACES, pa.table({ROW_BATCH: bundle.starts, LATEST: latest}))
    columns = described(session, f"FROM {scan(source, paths[:1])}")
    read = f"(SELECT *, row_number() OVER () AS {_NUMBER} FROM {scan(source, paths)})"
    place = f"row_number() OVER (PARTITION BY {ROW_BATCH} ORDER BY {_NUMBER})"
    batch = f"epoch_us({quoted(str(source.batch_column))})"
    own = (
        f"(SELECT * EXCLUDE ({_NUMBER}), {place} AS {ROW_IN_SPLIT} FROM {read} JOIN {_PLACES} ON {batch} ="
        f" {ROW_BATCH})"
    )
    order = ", ".join([ROW_BATCH, *map(quoted, source.order)])
    try:
        session.execute(f"CREATE TEMP TABLE {_OWN} AS FROM {own}")
        session.execute(
            f"CREATE TEMP TABLE {table} AS FROM ({staged_batches(source, _OWN, columns, ordinal=ordinal)})"
            f" ORDER BY {order}"
        )
    finally:
        session.execute(f"DROP TABLE IF EXISTS {_OWN}")
    count = session.execute(f"SELECT {ROW_BATCH}, count(*) FROM {table} GROUP BY ALL ORDER BY ALL").fetchall()
    if count != [
        (start, rows)
        for start, rows in zip(bundle.starts.tolist(), bundle.rows.tolist(), strict=True)
        if rows
    ]:
        raise SourceError(f"{paths[0]} and others: other rows than were counted")


def _in_order(bundle: Bundle) -> list[str]:
    """The distinct files, in each batch's order; SourceError if two batches have them in another order."""
    place = {path: at for at, path in enumerate(dict.fromkeys(bundle.paths))}
    for part in bundle.parts:
        places = [place[path] for path in part.split.paths]
        if places != sorted(places):
            raise SourceError(f"{part.split.paths[0]}: batches share files in another order")
    return [*place]
