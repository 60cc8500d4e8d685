"""The windows that a publication changes: the earlier windows against the windows that replace them, in two
tables (`compared`), or in the files that it replaces and brings (`changed_windows`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any

import numpy as np
import pyarrow as pa

from muntin.files.paths import AnyPath
from muntin.jobs.published.window_tables import Published
from muntin.jobs.state.bound import Bound
from muntin.states.columns import BATCH
from muntin.states.frames import Ints, is_among
from muntin.states.keys import codes_of, contiguous
from muntin.states.sorted import instants
from muntin.store.parquet import read_parquet
from muntin.store.paths import batches_of_windows
from muntin.store.store import File

BOUNDS = ("window_start", "window_end")


@dataclass(frozen=True)
class Changes:
    """The windows of one name that a publication changed.

    Attributes:
        identity: the columns that tell one window from another, as origin, window_start, window_end.
        before, after: row `i` of each is the same window, as it was and as it is: all columns of the
            published table. A row of nulls stands for a window that was not there, or is not there any more,
            as `kinds` says.
        kinds: "changed", "new" or "gone", one for each row.
        uncompared: how many windows were too many to be compared.
    """

    identity: tuple[str, ...]
    before: pa.Table
    after: pa.Table
    kinds: tuple[str, ...]
    uncompared: int = 0

    def __len__(self) -> int:
        return len(self.kinds)

    def __bool__(self) -> bool:
        """Whether any window changed, or may have."""
        return bool(self.kinds) or self.uncompared > 0

    def rows(self, limit: int | None = None) -> Iterator[dict[str, Any]]:
        """The changed windows, a row each: `key` (the other columns of the identity), bounds, `change`, and
        the values that differ, `old` and `new`.

        >>> one = pa.table({"k": ["a"], "n": [1], "total": [5]}), pa.table({"k": ["a"], "n": [1],
        ...     "total": [7]})
        >>> list(compared(*one, identity=("k",)).rows())
        [{'key': {'k': 'a'}, 'change': 'changed', 'old': {'total': 5}, 'new': {'total': 7}}]
        """
        count = len(self) if limit is None else min(limit, len(self))
        both = zip(
            self.before.slice(0, count).to_pylist(), self.after.slice(0, count).to_pylist(), strict=True
        )
        for kind, (old, new) in zip(self.kinds, both, strict=False):
            there = new if kind == "new" else old
            keys = [name for name in there if name in self.identity and name not in BOUNDS]
            values = [name for name in there if name not in self.identity and name != BATCH]
            shown_values = [
                name for name in values if kind != "changed" or repr(old[name]) != repr(new[name])
            ]
            yield {
                "key": {name: there[name] for name in keys},
                **{name: there[name] for name in BOUNDS if name in there},
                "change": kind,
                "old": None if kind == "new" else {name: old[name] for name in shown_values},
                "new": None if kind == "gone" else {name: new[name] for name in shown_values},
            }


def compared(before: pa.Table, after: pa.Table, *, identity: Sequence[str]) -> Changes:
    """The windows that differ between two tables, sorted by identity, which no two rows of a table share.

    Values are compared to the last bit; two NaN of the same bits are equal. The batch that closed a window
    does not count, nor does a column that one table lacks or has in another type. A type that is wider
    afterwards, as long after int, is no other type.
    """
    before = _widened(before, after.schema, identity)
    columns = [
        name
        for name in after.column_names
        if name in before.column_names and before[name].type == after[name].type
    ]
    before, after = before.select(columns), after.select(columns)
    both = pa.concat_tables([before, after])
    codes = codes_of(both, identity)
    old, new = codes[: len(before)], codes[len(before) :]
    places = np.unique(codes)
    at_old, at_new = _rows_of(places, old), _rows_of(places, new)
    shared = (at_old >= 0) & (at_new >= 0)
    values = [name for name in columns if name not in identity and name != BATCH]
    differs = ~shared
    differs[shared] = differing(before, after, values, at_old[shared], at_new[shared])
    at_old, at_new = at_old[differs], at_new[differs]
    kinds = np.where(at_old < 0, "new", np.where(at_new < 0, "gone", "changed"))
    return Changes(tuple(identity), _taken(before, at_old), _taken(after, at_new), tuple(kinds.tolist()))


_FAMILIES = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)


def _widened(before: pa.Table, after: pa.Schema, identity: Sequence[str]) -> pa.Table:
    """The columns with the types that they have afterwards, where the types are wider, and the columns of
    `identity` in any case.
    """
    for at, (name, column) in enumerate(zip(before.column_names, before.columns, strict=True)):
        kind = after.field(name).type if name in after.names else column.type
        if kind != column.type and (
            name in identity or any(family(kind) and family(column.type) for family in _FAMILIES)
        ):
            with suppress(pa.ArrowInvalid, pa.ArrowNotImplementedError):  # then it is another type
                before = before.set_column(at, name, column.cast(kind))
    return before


def _rows_of(places: Ints, codes: Ints) -> Ints:
    """The row that has each code of `places`; -1 where no row has it."""
    rows = np.full(len(places), -1, np.int64)
    rows[np.searchsorted(places, codes)] = np.arange(len(codes))
    return rows


def _taken(table: pa.Table, rows: Ints) -> pa.Table:
    """Rows of a table; -1 is a row of nulls."""
    return table.take(pa.array(rows, mask=rows < 0))


def differing(before: pa.Table, after: pa.Table, values: Sequence[str], old: Ints, new: Ints) -> np.ndarray:
    """Whether a value differs, for pairs of rows."""
    out = np.zeros(len(old), np.bool_)
    for name in values:
        out |= _unequal(
            contiguous(before[name]).take(pa.array(old)), contiguous(after[name]).take(pa.array(new))
        )
    return out


def _unequal(one: pa.Array, other: pa.Array) -> np.ndarray:
    """Whether two values differ in a bit, row by row."""
    if pa.types.is_floating(one.type):
        bits = pa.int64() if pa.types.is_float64(one.type) else pa.int32()
        one, other = one.view(bits), other.view(bits)
    nulls = [np.asarray(each.is_null()) for each in (one, other)]
    if pa.types.is_nested(one.type):  # Arrow compares no lists
        pairs_of_texts = zip(map(repr, one.to_pylist()), map(repr, other.to_pylist()), strict=True)
        return np.fromiter((this != that for this, that in pairs_of_texts), np.bool_, len(one))
    unequal = pa.compute.fill_null(pa.compute.not_equal(one, other), False)  # noqa: FBT003 - what a null becomes
    return (nulls[0] != nulls[1]) | np.asarray(unequal)


MOST = 4_000_000  # windows that one process reads and compares in some seconds


def changed_windows(
    bound: Bound,
    window: str,
    now: Published,
    old: Sequence[File],
    new: Sequence[File],
    starts: Ints,
    folder: AnyPath | None = None,
) -> Changes | None:
    """The windows that differ, of batches that were published before; None where no file differs.

    A file's name is its content, so that only files of other names are read. More than `MOST` windows, and
    files that cannot be read, are not compared, only counted; nor are windows that other columns told apart.
    `old`, `new`: below the window's table, the files to be replaced, and files with windows derived anew.
    `folder`: where the new files lie, if they are not in the table yet.
    What a file to be replaced holds of other batches than `starts`, ascending, is written anew as it was, and
    not compared.
    """
    went, came = _but(old, new), _but(new, old)
    if not went and not any(_holds_one_of(file, now.starts) for file in came):
        return None
    kind = bound.windows[window]
    identity = tuple(dict.fromkeys((*bound.keys_of(window), *kind.order)))
    rows = sum(file.rows for file in (*went, *came))
    unknown = Changes(identity, pa.table({}), pa.table({}), (), rows)
    if rows > MOST:
        return unknown
    try:
        table = bound.table(now.table)
        before, after = (_of_batches(each, starts) for each in _both(table, went, folder or table, came))
        # no window is another's successor
        if not {*identity} <= {*before.column_names} & {*after.column_names}:
            return unknown
        return _of_known(compared(before, after, identity=identity), now.starts)
    except (OSError, pa.ArrowException):  # an old file is gone or damaged: that is why it is replaced
        return unknown


def _holds_one_of(file: File, starts: Ints) -> bool:
    """Whether a file may hold windows of a known batch."""
    first, last = batches_of_windows(file.path) or (0, -1)
    return bool(np.searchsorted(starts, first) < np.searchsorted(starts, last, side="right"))


def _but(files: Sequence[File], others: Sequence[File]) -> list[File]:
    paths = {file.path for file in others}
    return [file for file in files if file.path not in paths]


def _both(
    table: AnyPath, went: Sequence[File], folder: AnyPath, came: Sequence[File]
) -> tuple[pa.Table, pa.Table]:
    """The windows of both files, with the same columns where there is only one file."""
    tables_of_sides = [
        [read_parquet(f"{below}/{file.path}") for file in files]
        for below, files in ((table, went), (folder, came))
    ]
    empty = next(table for tables in tables_of_sides for table in tables).schema.empty_table()
    before, after = (
        pa.concat_tables(tables or [empty], promote_options="permissive") for tables in tables_of_sides
    )
    return before, after


def _of_batches(windows: pa.Table, starts: Ints) -> pa.Table:
    """The windows that some batches closed."""
    own = is_among(instants(windows[BATCH]), starts)
    return windows if own.all() else windows.filter(pa.array(own))


def _of_known(changes: Changes, published_starts: Ints) -> Changes:
    """The changes without windows closed by a batch that was never published: such windows are not changed,
    they are new.
    """
    closed = changes.after[BATCH].cast(pa.int64()).fill_null(0).to_numpy()
    is_change = (np.array(changes.kinds) != "new") | is_among(closed, published_starts)
    if is_change.all():
        return changes
    rows = pa.array(np.flatnonzero(is_change))
    kinds = tuple(compress(changes.kinds, is_change.tolist()))
    return replace(changes, before=changes.before.take(rows), after=changes.after.take(rows), kinds=kinds)
