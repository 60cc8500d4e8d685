"""The windows as they were known at instants: published windows, and on request the windows that were open
then.

batches           0        1        2
published         a b      c        d
at, of a row                  *           a, b and c were known
open then                     e           derived from the states of batches 0 and 1 alone

Windows sorted by key, to find the last window of a key that was known at an instant.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.engine.versions import last_row_at, settled
from muntin.errors import DefinitionError, StateError
from muntin.jobs.inspect.one_key import unpublished_work
from muntin.jobs.inspect.read import columns_of, published_windows, shaped, unpublished
from muntin.jobs.published.pending import Pending, expired_to, refusal
from muntin.jobs.state.bound import Bound
from muntin.states.columns import INSTANT
from muntin.states.derived_columns import storable_type
from muntin.states.frames import NO_INTS, Ints, run_starts
from muntin.states.keys import contiguous, key_codes
from muntin.states.order import sorted_order
from muntin.states.sorted import instants
from muntin.tasks.local import cores
from muntin.timeline.batches import positions_of
from muntin.timeline.closing import Knowledge, Publications, closing, last_ended
from muntin.timeline.history import missing_states
from muntin.windows.kind import Window

_FAMILIES = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)


class KeyIndex:
    """Windows by key and, within a key, by the place that a kind gives them.

    Attributes:
        windows: the columns of published windows; `rows` of `last` are rows of it.
        place: of each window, an integer by which windows of a key follow each other: its index, or its end.
    """

    def __init__(self, windows: pa.Table, keys: Sequence[str], known_us: Ints | None = None) -> None:
        """Sort the windows. `known_us`: when each of them was known, microseconds; None: at its end."""
        with ThreadPoolExecutor(cores()) as threads:
            pieces = [*threads.map(contiguous, windows.columns)]
        self.windows = windows = pa.Table.from_arrays(pieces, schema=windows.schema)
        self.place = place_of(windows)
        columns = [contiguous(windows[key]) for key in keys]
        end_us = instants(windows["window_end"])
        self._order, key, place = _ordered(
            key_codes(columns, len(windows)), self.place, instants(windows["window_start"])
        )
        heads = np.flatnonzero(run_starts(key)) if len(windows) else NO_INTS
        self._begins = np.append(heads, len(windows)).astype(np.int64)
        # then windows are known in their order
        is_end = known_us is None and np.shares_memory(self.place, end_us)
        self._settled = (
            place
            if is_end
            else settled(self._begins, (end_us if known_us is None else known_us)[self._order])
        )
        firsts = pa.array(self._order[heads])
        self._keys = [column.take(firsts) for column in columns]

    def last(self, keys: Sequence[pa.Array], at_us: Ints) -> Ints:
        """The row of the last window of each key that was known at an instant; -1 if none was.

        `keys`: as `comparable` gives them.
        """
        places = last_row_at(self._begins, self._settled, self._group(keys, len(at_us)), at_us)
        return np.where(places >= 0, self._order[places], -1) if len(self._order) else places

    def _group(self, keys: Sequence[pa.Array], rows: int) -> Ints:
        """The number of each key among the keys of the windows; -1 where no window has it."""
        count = len(self._begins) - 1
        both = [
            pa.concat_arrays([window_key.cast(asked.type), asked])
            for window_key, asked in zip(self._keys, keys, strict=True)
        ]
        codes = key_codes(both, count + rows)
        return positions_of(codes[count:], codes[:count])


def _ordered(codes: Ints, place: Ints, start_us: Ints) -> tuple[Ints, Ints, Ints]:
    """The order by key, place and start, and the keys and places in it.

    Batches come in order, so that to sort by key is often enough.
    """
    order = sorted_order(codes)
    key, then = codes[order], place[order]
    if not ((key[1:] > key[:-1]) | (then[1:] > then[:-1])).all():
        order = sorted_order(codes, place, start_us)
        key, then = codes[order], place[order]
    return order, key, then


def place_of(windows: pa.Table) -> Ints:
    """The integer by which windows of a key follow each other: `window_index` by arrival, else the end."""
    if "window_index" in windows.column_names:
        return contiguous(windows["window_index"]).to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]
    return instants(windows["window_end"])


def comparable(name: str, asked: pa.Array, kind: pa.DataType) -> pa.Array:
    """The values of a key column in a type that also holds the keys of the windows, which have the type
    `kind`; else DefinitionError.
    """
    if pa.types.is_dictionary(asked.type):
        asked = asked.dictionary_decode()
    if pa.types.is_null(kind):
        return asked
    plain = storable_type(asked.type)
    try:
        if plain == kind or pa.types.is_null(plain):
            return asked.cast(kind)
        if _family(plain) == _family(kind) is not None:
            [both] = pa.unify_schemas(
                [pa.schema({name: each}) for each in (kind, plain)], promote_options="permissive"
            ).types
            return asked.cast(both)
    except pa.ArrowException:  # no type holds both
        pass
    raise DefinitionError(
        f"rows: column {name!r} is {asked.type}, and the key {name!r} of the windows is {kind}; cast the"
        f" column of the rows to {kind}"
    )


def _family(kind: pa.DataType) -> int | None:
    return next((at for at, family in enumerate(_FAMILIES) if family(kind)), None)


@dataclass(frozen=True)
class WindowsThen:
    """The windows of one name, by what was known at an instant.

    Attributes:
        bound, todo: the pipeline state, and what is published of the window and accumulated for it.
        knowledge: see `timeline.known`.
    """

    bound: Bound
    todo: Pending
    knowledge: Knowledge

    @property
    def kind(self) -> Window:
        return self.bound.windows[self.todo.window]

    @property
    def keys(self) -> tuple[str, ...]:
        return self.bound.keys_of(self.todo.window)

    @cached_property
    def known(self) -> Publications:
        ledger = self.todo.published.ledger
        starts = self.todo.published.starts
        ends = (
            np.append(starts[1:], self.bound.pipeline.intervals.after(int(starts[-1])))
            if len(starts)
            else starts
        )
        return Publications(
            starts,
            ends,
            closing(self.kind, ledger.entries.watermark_us if ledger else starts),
            self.knowledge,
            self._low_us(starts),
        )

    def _low_us(self, starts: Ints) -> Ints:
        """An instant by which windows end that rows of each published batch do not revise."""
        batches, kind = self.todo.history.batches, self.kind
        low_us = batches.low_us[positions_of(starts, batches.start_us)] if kind.lateness_us else starts
        return low_us - max(kind.inside_us, kind.beyond_us)

    @property
    def schema(self) -> pa.Schema:
        """The columns of an answer: without keys; null where nothing tells the type yet."""
        names = [name for name in columns_of(self.bound.pipeline, self.todo.window) if name not in self.keys]
        return pa.schema(
            [
                self.types.field(name) if name in self.types.names else pa.field(name, pa.null())
                for name in names
            ]
        )

    @cached_property
    def types(self) -> pa.Schema:
        """The columns of the windows with their keys; StateError if no window yet could tell the types."""
        schema = self.todo.published.snapshot.schema
        if schema is None and len(self.todo.history.batches):
            schema = self.open_after(len(self.todo.history.batches) - 1).windows.schema
        if schema is None:
            raise StateError(
                f"{self.bound.pipeline.name}: no window {self.todo.window!r} is published below"
                f" {self.bound.root}; run it first, as muntin run FILE"
            )
        return schema

    def published(self, low_us: int, high_us: int) -> KeyIndex:
        """The published windows that end between two instants, both included."""
        between = [pa.scalar(us, pa.int64()).cast(INSTANT) for us in (low_us, high_us)]
        condition = (pc.field("window_end") >= between[0]) & (pc.field("window_end") <= between[1])
        table = published_windows(self.bound, self.todo.published, condition)
        known_us = None  # a window of a grid is asked for by its end
        if self.kind.grid is None:
            known_us = self.known.known_us(instants(table["batch"]), instants(table["window_end"]))
        return KeyIndex(shaped(self.bound.pipeline, self.todo.window, table), self.keys, known_us)

    def open_after(self, position: int, *, published: bool = False) -> KeyIndex:
        """The windows that were not published after a batch of the history, and windows that later batches
        might revise, from the states of batches up to it; these must be kept.

        `published`: whether windows that were not published are left out.
        """
        bound, count = self.bound, position + 1
        todo = replace(
            self.todo,
            history=replace(self.todo.history, batches=self.todo.history.batches.take(slice(count))),
            watermarks_us=self.todo.watermarks_us[:count],
        )
        since = self._first_asked(todo.watermarks_us) if self.kind.lateness_us else count
        if len(missing_states(todo.history.batches, unpublished_work(bound, todo, since))):
            windows, ask = (
                ("windows that were revised since are", "Ask")
                if published
                else ("windows that were open then are", "Leave provisional=True out, or ask")
            )
            raise StateError(
                f"{bound.pipeline.name}: {refusal(bound, expired_to(bound))}; {windows} not known any more."
                f" {ask} for later instants"
            )
        table = unpublished(bound, todo, since)
        table = table.filter(table["batch"].is_valid()) if published else table
        return KeyIndex(shaped(bound.pipeline, todo.window, table), self.keys)

    def _first_asked(self, watermarks_us: Ints) -> int:
        """The first batch that closed windows which were asked for after the last: the windows that later
        batches might revise; of a grid the window that had ended last, and later ones.
        """
        when = closing(self.kind, watermarks_us)
        end_us = when.final[-1:] + 1
        if self.kind.grid is not None:
            last_us = np.minimum(when.floor[-1:], self.todo.history.batches.end_us[len(watermarks_us) - 1])
            end_us = np.maximum(end_us, last_ended(self.kind, last_us)[1])
        return int(when.batch_of(end_us)[0])
