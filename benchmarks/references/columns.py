"""Columns of numpy arrays, and what everyone computes of the rows of a window."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Column = npt.NDArray[Any]
Columns = dict[str, Column]


def as_columns(table: pa.Table) -> Columns:
    """The columns as numpy arrays; instants become microseconds since 1970."""
    return {name: _as_array(table.column(name)) for name in table.column_names}


def _as_array(column: "pa.ChunkedArray[Any]") -> Column:
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us", tz=column.type.tz)).cast(pa.int64())
    return column.to_numpy()


def sorted_events(events: Columns, *by: str) -> Columns:
    """By key, then by the columns named, then in the order of arrival, which is that of the rows."""
    order = np.lexsort([events[name] for name in reversed(("key", *by))])
    return {name: column[order] for name, column in events.items()}


def runs(*columns: Column) -> Column:
    """Where a run of equal rows begins, and at last the number of rows."""
    begins = np.zeros(len(columns[0]), bool)
    begins[:1] = True
    for column in columns:
        begins[1:] |= column[1:] != column[:-1]
    return np.append(np.flatnonzero(begins), len(begins))


def aggregates(events: Columns, first: Column, behind: Column) -> Columns:
    """Every window reduced anew over its rows `[first, behind)`, of which there is at least one."""
    return {
        "n": behind - first,
        "sum_a": reduced(np.add, events["a"], first, behind),
        "sum_b": reduced(np.add, events["b"], first, behind),
        "min_b": reduced(np.minimum, events["b"], first, behind),
        "max_b": reduced(np.maximum, events["b"], first, behind),
    }


def reduced(by: np.ufunc, column: Column, first: Column, behind: Column) -> Column:
    """The rows of each window put together; a row is added that the last window may end before."""
    bounds = np.column_stack([first, behind]).ravel()
    out: Column = by.reduceat(np.append(column, column[-1:]), bounds)[::2]
    return out


def arrived(events: Columns, first: Column, behind: Column) -> Columns:
    """Windows by arrival, in order, of events sorted by key: numbered in each key, from the least to the largest event time."""
    key = events["key"][first]
    begun = runs(key)[:-1]
    return {
        "key": key,
        "window_index": np.arange(len(key)) - np.repeat(begun, np.diff(np.append(begun, len(key)))),
        "window_start": reduced(np.minimum, events["t"], first, behind),
        "window_end": reduced(np.maximum, events["t"], first, behind),
    } | aggregates(events, first, behind)
