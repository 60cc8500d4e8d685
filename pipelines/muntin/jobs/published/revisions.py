"""The windows that differ between two versions of a table, from the files that each commit removed and added.
Pure, over tables.

commits            5         6         7         8
window A           2 -> 3              3 -> 4              changed, revision 7
window B                     -> 1      1 -> 1              new, revision 6: the file was written anew, the
window is the same window C           9 ->                -> 9                nothing: it is as it was
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from muntin.errors import StateError
from muntin.jobs.published.changes import BOUNDS, differing
from muntin.states.frames import NO_INTS, Ints
from muntin.states.keys import codes_of

REVISION, CHANGE = "revision", "change"
OLD = "old_"
"""What the columns of earlier values begin with."""
_UNLIKE = "muntin_unlike"  # whether a value of the row does not go into the type that its column has now


@dataclass(frozen=True, slots=True)
class Step:
    """The windows in the files that a commit removed from a table, and in the files that it added."""

    version: int
    went: pa.Table
    came: pa.Table


def revisions(
    steps: Sequence[Step],
    schema: pa.Schema,
    identity: Sequence[str],
    *,
    touched: bool = False,
    old: Sequence[str] = (),
) -> pa.Table:
    """The windows that differ after some commits, ascending, sorted by identity.

    The columns of `schema` (null in windows that are gone, but for identity and bounds), which are the
    columns of the windows now, revision (int64, the version that brought the row or took it), change ("new",
    "changed", "gone"). Values are compared to the last bit. `touched`: windows that a commit changed count
    too where later commits made them again what they were. `old`: columns whose earlier values follow, null
    in new windows. Other columns that identified windows in an earlier version are an error.
    """
    rows, facts = _rows(steps, schema, identity)
    if not len(rows):
        return with_old(_marked(schema.empty_table(), NO_INTS, np.empty(0, str)), schema.empty_table(), old)
    values = [name for name in rows.column_names if name not in identity]
    order = np.lexsort(facts[::-1])
    here, there = facts[:, order[:-1]], facts[:, order[1:]]
    neighbours = (here[:2] == there[:2]).all(axis=0)
    if (neighbours & (here[2] == there[2])).any():
        raise StateError(
            "the windows of an earlier version were told apart by other columns; read all windows"
        )
    at = np.flatnonzero(neighbours)
    same = at[~differing(rows, rows, values, order[at], order[at + 1])]
    out = np.zeros(len(order), np.bool_)
    out[same] = out[same + 1] = True
    first, last = _ends(order[~out], facts[0])
    had, has = facts[2, first] == 0, facts[2, last] == 1
    differs, both = had | has, had & has
    if touched:
        differs[:] = True
    else:
        differs[both] = differing(rows, rows, values, first[both], last[both])
    kinds = np.where(has, np.where(had, "changed", "new"), "gone")[differs]
    newest_rows = rows.drop_columns([_UNLIKE]).take(pa.array(last[differs]))
    marked = _marked(_without_values(newest_rows, kinds == "gone", identity), facts[1, last[differs]], kinds)
    return with_old(marked, rows.take(pa.array(first[differs], mask=kinds == "new")) if old else rows, old)


def with_old(changes: pa.Table, earlier: pa.Table, old: Sequence[str]) -> pa.Table:
    """Changes with the earlier values of some columns. `earlier`: the windows as they were."""
    for name in old:
        if name in earlier.column_names:
            changes = changes.append_column(OLD + name, earlier[name])
    return changes


def _rows(steps: Sequence[Step], schema: pa.Schema, identity: Sequence[str]) -> tuple[pa.Table, Ints]:
    """The rows of all steps; and for each the code of its window, the version, and 1 if the commit brought
    it, 0 if it took it.
    """
    tables = [
        (step.version, after, table)
        for step in steps
        for after, table in ((0, step.went), (1, step.came))
        if len(table)
    ]
    if not tables:
        return schema.empty_table(), np.empty((3, 0), np.int64)
    rows = pa.concat_tables([_aligned(table, schema, identity) for _, _, table in tables])
    lengths = [len(table) for _, _, table in tables]
    version, after = (np.repeat([each[at] for each in tables], lengths).astype(np.int64) for at in (0, 1))
    return rows, np.stack([codes_of(rows, identity), version, after])


def _ends(order: Ints, codes: Ints) -> tuple[Ints, Ints]:
    """The first and the last row of each window in an order of rows."""
    begins = np.append(True, codes[order][1:] != codes[order][:-1])[: len(order)]
    return order[begins], order[np.append(begins[1:], True)[: len(order)]]


def _aligned(table: pa.Table, schema: pa.Schema, identity: Sequence[str]) -> pa.Table:
    """A table with the columns and types that windows have now; null where it lacks a column, or a value is
    of another type.
    """
    if missing_columns := [name for name in identity if name not in table.column_names]:
        raise StateError(
            f"windows of an earlier version have no {', '.join(missing_columns)}, which tells windows apart"
            " now; read all windows"
        )
    columns, unlike = [], False
    for field in schema:
        column = table[field.name] if field.name in table.column_names else pa.nulls(len(table), field.type)
        try:
            columns.append(column.cast(field.type))
            unlike = unlike or not (pa.types.is_null(column.type) or _is_kin(column.type, field.type))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            columns.append(pa.nulls(len(table), field.type))
            unlike = True
    plain = pa.schema([pa.field(field.name, field.type) for field in schema])
    return pa.table(columns, schema=plain).append_column(_UNLIKE, pa.repeat(unlike, len(table)))


def _is_kin(before: pa.DataType, now: pa.DataType) -> bool:
    """Whether a value of one type is the same value in the other: a number in a wider type, but no number as
    text.
    """
    if before.id == now.id or (
        pa.types.is_integer(before) and not (pa.types.is_string(now) or pa.types.is_boolean(now))
    ):
        return True
    return (pa.types.is_floating(before) and pa.types.is_floating(now)) or (
        pa.types.is_decimal(before) and pa.types.is_decimal(now)
    )


def _without_values(table: pa.Table, gone: np.ndarray, identity: Sequence[str]) -> pa.Table:
    """Null in every result of some rows."""
    for at, name in enumerate(table.column_names):
        if name not in identity and name not in BOUNDS:
            rows = np.where(gone, -1, np.arange(len(table)))
            table = table.set_column(at, name, table[name].take(pa.array(rows, mask=gone)))
    return table


def _marked(table: pa.Table, version: Ints, kinds: np.ndarray) -> pa.Table:
    marks = pa.array(version, pa.int64()), pa.array(kinds.tolist(), pa.string())
    return table.append_column(REVISION, marks[0]).append_column(CHANGE, marks[1])
