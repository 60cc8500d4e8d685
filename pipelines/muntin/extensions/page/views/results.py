"""Results over time: for each aggregate that is a number, its values by window, a line for each key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import pyarrow as pa

from muntin.definition.time_limits import apart_us
from muntin.extensions.page.views.seen import Key, Seen, keys_of
from muntin.jobs.inspect.some_windows import Asked, some_windows
from muntin.states.sorted import instants

KEYS = 5
"""The most lines in a picture; readers cannot tell more lines apart."""
WINDOWS = 400
"""So many of the newest windows of each key."""
PICTURES = 6
"""So many aggregates on a page."""
_WIDER, _USUAL = 1.5, 5
"""A gap is wider than so many times the distance of two windows; of windows at no even distance, so many
times the usual one.
"""


@dataclass(frozen=True, slots=True)
class Series:
    """The values of a key: ends of windows in microseconds, ascending; a value for each, None where the
    result is null, or in a gap.
    """

    key: Key
    end_us: tuple[int, ...]
    values: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Results:
    """The lines of some aggregates; `aggregates`: all that can be drawn; `skipped`: how many of them come
    before.
    """

    window: str
    lines: Mapping[str, tuple[Series, ...]]
    aggregates: tuple[str, ...]
    skipped: int


def results(at: Seen, window: str, asked: Asked, *, skip: int = 0) -> Results:
    """The newest results of the keys asked for, or of the keys of the newest windows."""
    tables = [_of_key(at, window, key, asked.start, asked.end) for key in _keys(at, window, asked)]
    names = [*at.bound.windows[window].columns, *at.pipeline.results]
    numbers = tuple(name for name in names if tables and any(_is_number(table, name) for _, table in tables))
    shown = numbers[skip : skip + PICTURES]
    apart = apart_us(at.bound.windows[window], at.pipeline.intervals.first_us)
    return Results(
        window,
        {name: tuple(_series(key, table, name, apart) for key, table in tables) for name in shown},
        numbers,
        skip,
    )


def _keys(at: Seen, window: str, asked: Asked) -> Sequence[Key]:
    """The keys of the newest windows that are asked for, in their order."""
    rows = some_windows(at.bound, window, asked, limit=20 * KEYS).rows
    return (
        sorted(dict.fromkeys(keys_of(at, window, rows)), key=lambda key: [text or "" for text in key])[:KEYS]
        if len(rows)
        else []
    )


def _of_key(
    at: Seen, window: str, key: Key, start: datetime | None, end: datetime | None
) -> tuple[Key, pa.Table]:
    asked = Asked(dict(zip(at.pipeline.keys_of(window), key, strict=True)), start, end)
    return key, some_windows(at.bound, window, asked, limit=WINDOWS).rows.sort_by("window_end")


def _is_number(table: pa.Table, name: str) -> bool:
    if name not in table.column_names:
        return False
    kind = table.schema.field(name).type
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _series(key: Key, table: pa.Table, name: str, apart_us: int) -> Series:
    """The values of a key; where windows are missing between two, a null, so that no line
    leads over the gap.
    """
    ends, values = (
        instants(table["window_end"]),
        [None if value is None else float(value) for value in table[name].to_pylist()],
    )
    between = np.diff(ends)
    usual = apart_us or _USUAL * float(np.median(between)) if len(between) else 0
    gaps: list[int] = (np.flatnonzero(between > _WIDER * usual) + 1).tolist()
    for at in reversed(gaps):
        values.insert(at, None)
    return Series(
        key, tuple(np.insert(ends, gaps, [ends[at - 1] + 1 for at in gaps]).tolist()), tuple(values)
    )
