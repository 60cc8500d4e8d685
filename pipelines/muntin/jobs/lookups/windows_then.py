"""The windows as they were known at instants: published windows, and on request the windows that were open
then.

batches           0        1        2
published         a b      c        d
at, of a row                  *           a, b and c were known
open then                     e           derived from the states of batches 0 and 1 alone
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.errors import StateError
from muntin.jobs.inspect.read import columns_of, published_windows, shaped, unpublished
from muntin.jobs.inspect.unpublished_work import unpublished_work
from muntin.jobs.lookups.key_index import KeyIndex
from muntin.jobs.published.kept_states import expired_to, refusal
from muntin.states.columns import INSTANT
from muntin.states.sorted import instants
from muntin.timeline.closing import Publications, closing
from muntin.timeline.history import missing_states

if TYPE_CHECKING:
    from muntin.jobs.published.pending import Pending
    from muntin.jobs.state.bound import Bound
    from muntin.timeline.closing import Knowledge
    from muntin.windows.kind import Window


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
        """The kind of the windows."""
        return self.bound.windows[self.todo.window]

    @property
    def keys(self) -> tuple[str, ...]:
        """The key columns of the windows."""
        return self.bound.keys_of(self.todo.window)

    @cached_property
    def known(self) -> Publications:
        """The published batches."""
        ledger, starts = self.todo.published.ledger, self.todo.published.starts
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
        )

    @property
    def schema(self) -> pa.Schema:
        """The columns of the windows without their keys, as answers have them; of a type that nothing tells
        yet: null.
        """
        names = [name for name in columns_of(self.bound.pipeline, self.todo.window) if name not in self.keys]
        return pa.schema(
            [
                self.types.field(name) if name in self.types.names else pa.field(name, pa.null())
                for name in names
            ]
        )

    @cached_property
    def types(self) -> pa.Schema:
        """The columns of the windows, with their keys; StateError if there is no window yet that could tell
        the types.
        """
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

    def open_after(self, position: int) -> KeyIndex:
        """The windows that were not published after a batch of the history, from the states of batches up to
        it; these must be kept.
        """
        bound, count = self.bound, position + 1
        todo = replace(
            self.todo,
            history=replace(self.todo.history, batches=self.todo.history.batches.take(slice(count))),
            watermarks_us=self.todo.watermarks_us[:count],
        )
        if len(missing_states(todo.history.batches, unpublished_work(bound, todo))):
            raise StateError(
                f"{bound.pipeline.name}: {refusal(bound, expired_to(bound))}; windows that were open then are"
                " not known any more. Leave provisional=True out, or ask for later instants"
            )
        table = shaped(bound.pipeline, todo.window, unpublished(bound, todo))
        return KeyIndex(table, self.keys)
