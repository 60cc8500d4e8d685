"""Rows that a test gives, batch by batch, as the files of a source."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from muntin.definition.instants import instant_us
from muntin.definition.schedule import Interval
from muntin.errors import DefinitionError
from muntin.sources.file_source import FileSource

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from muntin.definition.pipeline import Pipeline
    from muntin.sources.source import Source

Rows: TypeAlias = Sequence[Mapping[str, Any]] | pa.Table
Batch: TypeAlias = Rows | Mapping[str, Rows]
Batches: TypeAlias = Sequence[Batch] | Mapping["datetime", Batch]
_ALIKE = ("unit", "timezone", "types", "arrival_order", "arrival_time", "time_format", "dedupe")
_FILE = "{start_utc:%Y%m%dT%H%M%S.%f}.parquet"


def intervals_of(pipeline: Pipeline, batches: Batches) -> list[Interval]:
    """The interval of each batch, ascending: of a list neighbours from the pipeline's start on, of a mapping
    the intervals of its keys.

    A key that is no border of the schedule is refused.
    """
    schedule = pipeline.intervals
    if isinstance(batches, Mapping):
        starts = sorted(instant_us(start, "batches") for start in batches)
        return [schedule.intervals(start, schedule.after(start))[0] for start in starts]
    intervals = list[Interval]()
    for _ in batches:
        start = intervals[-1].end_us if intervals else schedule.after(schedule.first_us - 1)
        intervals.append(Interval(start, schedule.after(start)))
    return intervals


def of_source(batches: Batches, name: str, names: Collection[str]) -> Batches:
    """The rows of one of several sources. A batch that does not name it has none."""
    if isinstance(batches, Mapping):
        return {start: _of_source(batch, name, names) for start, batch in batches.items()}
    return [_of_source(batch, name, names) for batch in batches]


def _of_source(batch: Batch, name: str, names: Collection[str]) -> Rows:
    if not isinstance(batch, Mapping) or set(batch) - set(names):
        raise DefinitionError(
            f"batches: a batch of several sources is a mapping from {', '.join(map(repr, names))} to rows"
        )
    return batch.get(name, [])


def tables_of(batches: Batches) -> list[pa.Table]:
    """The rows of each batch, in the order of the intervals, all with the same columns and types.

    A column with values of several types is refused.
    """
    given = [rows for _, rows in sorted(batches.items())] if isinstance(batches, Mapping) else list(batches)
    if all(isinstance(rows, pa.Table) for rows in given):
        return given
    listed = [rows.to_pylist() if isinstance(rows, pa.Table) else list(rows) for rows in given]
    rows = [row for batch in listed for row in batch]
    names = dict.fromkeys(name for row in rows for name in row)
    whole = pa.table({name: _column(name, [row.get(name) for row in rows]) for name in names})
    counts = [len(batch) for batch in listed]
    return [whole.slice(sum(counts[:at]), count) for at, count in enumerate(counts)]


def _column(name: str, values: Sequence[Any]) -> pa.Array:
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as wrong:
        raise DefinitionError(
            f"rows: the values of {name!r} are not of one type ({wrong}); give a pyarrow.Table per batch"
        ) from wrong


def as_files(source: Source) -> FileSource:
    """Files with the rows of another kind of source; a field that a row of a topic lacks is null, as in a
    message without it.
    """
    lacked = dict(source.types) if source.message_columns else {}
    return FileSource(
        _FILE,
        event_time=source.event_time,
        columns=lacked,
        **{name: getattr(source, name) for name in _ALIKE},
    )


def source_in(folder: Path, source: FileSource) -> FileSource:
    """The source, with its files in a folder."""
    return replace(source, path=_FILE, format="parquet", missing="empty").below(folder)


def write_rows(source: FileSource, intervals: Sequence[Interval], tables: Sequence[pa.Table]) -> None:
    """A file for each batch with rows."""
    for interval, table in zip(intervals, tables, strict=True):
        if len(table):
            pq.write_table(table, source.patterns(interval))
