"""States as tests speak of them: one at a time, or lifted by SQL of their own."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from muntin.aggregates.aggregate import Aggregate
from muntin.engine.assignment import Assignment
from muntin.laws import states
from muntin.laws.states import Kinds, Row


def lift(aggregate: Aggregate, rows: Sequence[Row], kinds: Kinds) -> pa.Table:
    """The state of these rows, in order of arrival; of none, the empty state. Each row has a `time`."""
    return states.lifted(aggregate, [rows], kinds)


def pieces(aggregate: Aggregate, rows: Sequence[Row], kinds: Kinds, size: int) -> list[pa.Table]:
    """A state for every `size` rows."""
    found = states.lifted(aggregate, [rows[at : at + size] for at in range(0, len(rows), size)], kinds)
    return [found.slice(at, 1) for at in range(len(found))]


def lifted(muntin_rows: pa.Table, columns: Mapping[str, str], groups: Sequence[str] = ()) -> pa.Table:
    """In the types that states are stored with; one row, or one for each group."""
    return states.queried(muntin_rows, columns, f"GROUP BY {', '.join(groups)}" if groups else "")


def combine(aggregate: Aggregate, *parts: pa.Table, mid: int | None = None) -> pa.Table:
    """One state of several, in order; `mid`: where the window's second block begins."""
    return states.combined(aggregate, *parts, mid=mid or 0)


def assigned(rows: int, windows: Sequence[tuple[int, int, int]]) -> Assignment:
    """Windows over rows in their order; blocks change where a window says so."""
    lo, mid, hi = np.array(windows, np.int64).T
    block = np.isin(np.arange(rows), mid[mid > lo]).cumsum()
    none, zeros = np.empty(0, np.int64), np.zeros(len(lo), np.int64)
    return Assignment(np.arange(rows), block, zeros, lo, hi, lo, mid, hi, none, none, np.zeros(rows, np.int64))


def finish(aggregate: Aggregate, state: pa.Table) -> Any:
    """What a user sees of one state."""
    return states.finished(aggregate, state)[0].as_py()
