"""For keys and instants, the windows that ended last as they were known then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from threading import Lock

import numpy as np
import pyarrow as pa

from muntin.definition.instants import AFTER_ALL, BEFORE_ALL, label
from muntin.errors import StateError
from muntin.jobs.lookups.windows_then import KeyIndex, WindowsThen, comparable
from muntin.jobs.schema_check.derive_expressions import derived, of_nothing
from muntin.states.columns import INSTANT
from muntin.states.derived_columns import with_types
from muntin.states.frames import Ints
from muntin.states.sorted import instants
from muntin.store.tier_files import expired_before
from muntin.timeline.closing import last_before, last_ended

_PROVISIONAL = "provisional"
_READING = Lock()
"""Held while windows are read: several threads ask, and the first reads for all.

Answers travel to workers, as locks do not.
"""


@dataclass(slots=True)
class Asked:
    """Questions of a key and an instant each, and the windows found for them so far.

    Attributes:
        keys: an array for each key column.
        at_us: the instants; `BEFORE_ALL` where a row has none.
        reach: the last batch that had come by then, of all that may answer; -1 where none had, or the row has
            no instant.
        start_us, end_us: of kinds with a grid the window asked for; `BEFORE_ALL` where none is.
        closed_to_us: windows that end by then were published at the instant.
        settled_to_us: windows that end by then were published at the instant as they are now.
        row: of the window found, in `tables` joined; -1 while none is.
        place: of this window among the windows of its key.
        tables: the windows that were searched.
    """

    keys: Sequence[pa.Array]
    at_us: Ints
    reach: Ints
    closed_to_us: Ints
    settled_to_us: Ints
    start_us: Ints = field(init=False)
    end_us: Ints = field(init=False)
    row: Ints = field(init=False)
    place: Ints = field(init=False)
    tables: list[pa.Table] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.start_us, self.end_us, self.place = (np.full(len(self.at_us), BEFORE_ALL) for _ in range(3))
        self.row = np.full(len(self.at_us), -1)

    def look(self, some: Ints, index: KeyIndex, until_us: Ints, since_us: Ints) -> None:
        """Look for some questions among further windows: the last of the key that was known by an instant,
        and ends at or after another.
        """
        keys = self.keys if len(some) == len(self.at_us) else [key.take(pa.array(some)) for key in self.keys]
        window_rows = index.last(keys, until_us)
        some, window_rows, since_us = (each[window_rows >= 0] for each in (some, window_rows, since_us))
        place = index.place[window_rows]
        better = (instants(index.windows["window_end"])[window_rows] >= since_us) & (
            place >= self.place[some]
        )
        self.row[some[better]] = window_rows[better] + sum(map(len, self.tables))
        self.place[some[better]] = place[better]
        self.tables.append(index.windows)


def _taken(tables: Sequence[pa.Table], rows: Ints) -> pa.Table:
    """Rows of tables by their numbers, which go on from table to table; all null for -1.

    Only the wanted rows are copied.
    """
    if len(tables) == 1:
        return tables[0].take(pa.array(rows, mask=rows < 0))
    parts, at, begin = list[pa.Table](), np.full(len(rows), -1), 0
    for table in tables:
        inside = np.flatnonzero((begin <= rows) & (rows < begin + len(table)))
        at[inside] = sum(map(len, parts)) + np.arange(len(inside))
        parts.append(table.take(pa.array(rows[inside] - begin)))
        begin += len(table)
    return (
        pa.concat_tables(parts, promote_options="permissive").combine_chunks().take(pa.array(at, mask=at < 0))
    )


@dataclass(slots=True)
class Answers:
    """Answers to questions.

    Attributes:
        then: the windows by what was known.
        within_us: how long before the instant a window may have ended; None: at any time. Only for windows
            that data make.
        provisional: whether windows that were not published then are answers, too.
    """

    then: WindowsThen
    within_us: int | None = None
    provisional: bool = False
    _published: tuple[int, int, KeyIndex] | None = field(default=None, init=False)
    _open: dict[int, KeyIndex] = field(default_factory=dict, init=False)

    def of(self, keys: Sequence[pa.Array], at_us: Ints) -> pa.Table:
        """A row for each question, in order: the columns of a window without its keys, and `provisional`
        (bool) if asked; null: no window.

        `keys`: an array for each key column. `at_us`: of each question; `BEFORE_ALL` where it has no instant.
        """
        known_windows = self.then.known
        position, reach = (
            np.where(at_us > BEFORE_ALL, last_before(ends, at_us, known_windows.knowledge), -1)
            for ends in (
                known_windows.end_us,
                self.then.todo.history.batches.end_us if self.provisional else known_windows.end_us,
            )
        )
        self._check_kept(position)
        names, types = self.then.keys, self.then.types
        keys = [
            comparable(name, key, types.field(name).type if name in types.names else pa.null())
            for name, key in zip(names, keys, strict=True)
        ]
        asked = Asked(
            keys, at_us, reach, known_windows.closed_to(position), known_windows.settled_to(position)
        )
        if self.then.kind.grid is not None:
            self._find_on_grid(asked)
        else:
            some = np.flatnonzero(asked.reach >= 0)
            settled = asked.settled_to_us[some] == asked.closed_to_us[some]
            derived = some if self.provisional else some[~settled]
            for rows, index in ((some, None), *self._derived(asked, derived)):
                if len(rows):
                    at = asked.at_us[rows]
                    least = np.full(len(at), BEFORE_ALL) if self.within_us is None else at - self.within_us
                    asked.look(rows, index or self._published_in(int(least.min()), int(at.max())), at, least)
        return self._told(asked)

    def _find_on_grid(self, asked: Asked) -> None:
        """The windows of the grid that ended last, and what is known of them."""
        until = asked.at_us if self.provisional else np.minimum(asked.at_us, asked.closed_to_us)
        some = np.flatnonzero((until > BEFORE_ALL) & (asked.reach >= 0))
        asked.start_us[some], asked.end_us[some] = last_ended(self.then.kind, until[some])
        settled = asked.end_us[some] <= asked.settled_to_us[some]
        for rows, index in ((some[settled], None), *self._derived(asked, some[~settled])):
            if len(rows):
                end = asked.end_us[rows]
                asked.look(rows, index or self._published_in(int(end.min()), int(end.max())), end, end)

    def _derived(self, asked: Asked, some: Ints) -> Iterator[tuple[Ints, KeyIndex]]:
        """Questions by the last batch that was known, with the windows that are not published as they were
        after it.
        """
        for each in np.unique(asked.reach[some]).tolist():
            with _READING:
                if each not in self._open:
                    self._open[each] = self.then.open_after(each, published=not self.provisional)
            yield some[asked.reach[some] == each], self._open[each]

    def _published_in(self, low_us: int, high_us: int) -> KeyIndex:
        """The published windows that end in a range, or more of them: kept for further questions."""
        with _READING:
            if self._published:
                low, high, index = self._published
                if low <= low_us and high_us <= high:
                    return index
                low_us = min(low, low_us)
                high_us = max(high, high_us)
            # else rows that ascend would have all windows read anew for each piece of them
            further = high_us - low_us
            low = max(low_us - further, BEFORE_ALL)
            high = min(high_us + further, AFTER_ALL)
            index = self.then.published(low, high)
            self._published = low, high, index
            return index

    def _check_kept(self, position: Ints) -> None:
        """Refuse questions about windows that `retain` has removed."""
        before_us = expired_before(self.then.todo.published.snapshot.files)
        starts = self.then.known.start_us
        if before_us is not None and (
            gone := int(((position >= 0) & (starts[np.maximum(position, 0)] < before_us)).sum())
        ):
            raise StateError(
                f"{self.then.bound.pipeline.name}: {gone:,} rows ask for windows that batches before"
                f" {label(before_us)} closed; these are removed, as retain says. Ask for later instants, or"
                " keep windows longer"
            )

    def _told(self, asked: Asked) -> pa.Table:
        """The windows found, and empty windows of a grid, unless windows may be hidden."""
        empty = np.flatnonzero(
            (asked.row < 0) & (asked.end_us > BEFORE_ALL) & (self.then.kind.having is None)
        )
        asked.row[empty] = sum(map(len, asked.tables)) + np.arange(len(empty))
        schema = self.then.schema
        tables = [*asked.tables, *([self._empty(asked, empty)] if len(empty) else [])]
        alike = [with_types(table.select(schema.names), schema) for table in tables] or [schema.empty_table()]
        out = _taken(alike, asked.row)
        if self.provisional:
            out = out.append_column(
                _PROVISIONAL, pa.compute.and_(out["window_end"].is_valid(), out["batch"].is_null())
            )
        return out

    def _empty(self, asked: Asked, rows: Ints) -> pa.Table:
        """Windows without a row, with the aggregates of no rows; null where no event was ever accepted."""
        then, at = self.then, pa.array(rows)
        columns = {name: key.take(at) for name, key in zip(then.keys, asked.keys, strict=True)}
        columns |= {
            "window_start": pa.array(asked.start_us[rows]).view(INSTANT),
            "window_end": pa.array(asked.end_us[rows]).view(INSTANT),
        }
        zero = pa.array(np.zeros(len(rows), np.int64))
        columns |= {name: value.take(zero) for name, value in self._of_nothing().items()}
        closed = then.known.closing.batch_of(asked.end_us[rows])
        is_published = asked.end_us[rows] <= asked.closed_to_us[rows]
        batch = pa.array(np.append(then.known.start_us, 0)[closed], mask=~is_published).view(INSTANT)
        return derived(then.bound, then.todo.window, pa.table(columns)).append_column("batch", batch)

    def _of_nothing(self) -> dict[str, pa.Array]:
        """The aggregates of no rows; null where no states tell their types."""
        bound = self.then.bound
        state_schema = self.then.todo.states.schema
        if state_schema is None or not {column for each in bound.fields for column in each.columns} <= {
            *state_schema.names
        }:
            return {name: pa.nulls(1) for name in bound.aggregates}
        return of_nothing(bound, state_schema)
