"""Tables as bytes of the simulated disk: the texts in a footer, the names of columns, and the columns; all hold integers."""

import marshal
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from muntin.states.columns import BATCH, FRAME, INSTANT
from muntin.store.store import File, Snapshot
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
_TYPES = {each.name: each.type for each in (*STATES, *WINDOWS, *NOTE)}
_TIMES = (0, 1, 4)  # of a window
_SAME = 2  # equal values have equal bytes, as names by content ask: later formats tell what is the same object


class Columns(NamedTuple):
    """What a file holds."""

    texts: dict[str, str]
    names: list[str]
    values: list[list[int]]


def written(names: Sequence[str], values: Sequence[Sequence[int]], texts: dict[str, str] | None = None) -> bytes:
    return marshal.dumps([texts or {}, [*names], [*values]], _SAME)


def encoded(table: pa.Table, _how: object = None) -> pa.Buffer:
    """As `muntin.store.parquet.encoded`."""
    texts = {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
    values = [column.combine_chunks().view(pa.int64()).to_pylist() for column in table.columns] if len(table) else [[]] * len(table.columns)
    return pa.py_buffer(written(table.schema.names, values, texts))


@lru_cache(maxsize=4096)
def decoded(content: bytes) -> Columns:
    """Raises ArrowInvalid where the bytes are torn."""
    try:
        return Columns(*marshal.loads(content))  # noqa: S302 - bytes of this process
    except (EOFError, ValueError, TypeError) as wrong:
        raise pa.ArrowInvalid(str(wrong)) from wrong


def read_table(path: object, **_how: Any) -> pa.Table:
    texts, names, values = decoded(at_hand.disk.read(str(path)))
    schema = pa.schema([(name, _TYPES[name]) for name in names], texts or None)
    return pa.Table.from_arrays([_array(column, each.type) for column, each in zip(values, schema, strict=True)], schema=schema)


def _array(values: Sequence[int], kind: pa.DataType) -> pa.Array:
    return pa.array(np.array(values, np.int64)).view(kind)


def read_schema(path: object) -> pa.Schema:
    return _schema(tuple(decoded(at_hand.disk.read(str(path))).names))


@lru_cache(maxsize=64)
def _schema(names: tuple[str, ...]) -> pa.Schema:
    return pa.schema([(name, _TYPES[name]) for name in names])


def footer(path: str) -> dict[str, str]:
    return decoded(at_hand.disk.read(path)).texts


def read_files(folder: str, snapshot: Snapshot) -> pa.Table:
    return pa.concat_tables([read_table(f"{folder}/{file.path}").replace_schema_metadata(None) for file in snapshot.files])


def states(batch_us: int, rows: Sequence[Row]) -> bytes:
    frames = [START_US + event * MINUTE_US for event, _ in rows]
    return written(STATES.names, [[batch_us] * len(rows), frames, [amount for _, amount in rows]])


@lru_cache(maxsize=4096)
def rows_of_states(content: bytes) -> list[tuple[int, int, int]]:
    """(start of the batch, frame, amount); microseconds."""
    found = decoded(content)
    return list(zip(*(found.values[found.names.index(name)] for name in STATES.names), strict=True))


def windows(found: Sequence[Window]) -> bytes:
    start, end, batch = ([START_US + window[at] * MINUTE_US for window in found] for at in _TIMES)
    counts, totals = ([window[at] for window in found] for at in (2, 3))
    return written(WINDOWS.names, [start, end, counts, totals, batch, [*range(len(found))]])


@lru_cache(maxsize=4096)
def rows_of_windows(content: bytes) -> list[Window]:
    found = decoded(content)
    rows = zip(*(found.values[found.names.index(name)] for name in WINDOWS.names[:5]), strict=True) if any(found.values) else ()
    return [tuple((value - START_US) // MINUTE_US if at in _TIMES else value for at, value in enumerate(row)) for row in rows]  # type: ignore[misc]


def note(before: int) -> bytes:
    return written(NOTE.names, [[before]])


def noted(path: str) -> int:
    """What a note holds."""
    return decoded(at_hand.disk.read(path)).values[0][0]


def content_of(folder: object, file: File) -> bytes:
    return at_hand.disk.read(f"{folder}/{file.path}")
