"""Tables as bytes of the simulated disk, in Arrow's stream format, and the rows of states, notes and windows in them."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from pipelines.states.columns import BATCH, FRAME, INSTANT
from pipelines.store.store import File, Snapshot
from tests.simulation.definitions import MINUTE_US, START_US
from tests.simulation.disk import at_hand
from tests.simulation.rows import Row, Window

STATES = pa.schema([(BATCH, INSTANT), (FRAME, INSTANT), ("amount", pa.int64())])
WINDOWS = pa.schema(
    [
        ("window_start", INSTANT),
        ("window_end", INSTANT),
        ("n", pa.int64()),
        ("total", pa.int64()),
        (BATCH, INSTANT),
        ("window_index", pa.int64()),
    ]
)
NOTE = pa.schema([("before", pa.int64())])


def encoded(table: pa.Table, **_how: Any) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table.combine_chunks())
    return sink.getvalue()


@lru_cache(maxsize=4096)
def decoded(content: bytes) -> pa.Table:
    """Raises ArrowInvalid where the bytes are torn."""
    return pa.ipc.open_stream(content).read_all()


def read_table(path: object, **_how: Any) -> pa.Table:
    return decoded(at_hand.disk.read(str(path)))


def read_schema(path: object) -> pa.Schema:
    return read_table(path).schema


def footer(path: str) -> dict[str, str]:
    return {key.decode(): value.decode() for key, value in (read_schema(path).metadata or {}).items()}


def read_files(folder: str, snapshot: Snapshot) -> pa.Table:
    return pa.concat_tables([read_table(f"{folder}/{file.path}").replace_schema_metadata(None) for file in snapshot.files])


def states(batch_us: int, rows: Sequence[Row]) -> pa.Table:
    frames = [START_US + event * MINUTE_US for event, _ in rows]
    return _table(STATES, [[batch_us] * len(rows), frames, [amount for _, amount in rows]])


@lru_cache(maxsize=4096)
def rows_of_states(content: bytes) -> list[tuple[int, int, int]]:
    """(start of the batch, frame, amount); microseconds."""
    return _rows(decoded(content).select(STATES.names))


def windows(found: Sequence[Window]) -> pa.Table:
    times = ([START_US + window[at] * MINUTE_US for window in found] for at in (0, 1, 4))
    start, end, batch = times
    return _table(WINDOWS, [start, end, [window[2] for window in found], [window[3] for window in found], batch, range(len(found))])


@lru_cache(maxsize=4096)
def rows_of_windows(content: bytes) -> list[Window]:
    table = decoded(content)
    return _in_minutes(table.select(WINDOWS.names[:5])) if len(table) else []


def _in_minutes(table: pa.Table) -> list[Window]:
    return [tuple((value - START_US) // MINUTE_US if at in (0, 1, 4) else value for at, value in enumerate(row)) for row in _rows(table)]


def _table(schema: pa.Schema, columns: Sequence[Sequence[int]]) -> pa.Table:
    arrays = [pa.array(np.array([*column], np.int64)).view(each.type) for column, each in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


def _rows(table: pa.Table) -> list[Any]:
    return list(zip(*(column.combine_chunks().view(pa.int64()).to_pylist() for column in table.columns), strict=True))


def content_of(folder: str, file: File) -> bytes:
    return at_hand.disk.read(f"{folder}/{file.path}")
