"""Texts of published tables: name, description, and a comment for each column, which any
Delta reader shows.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from muntin.errors import ConflictError
from muntin.jobs.published.window_tables import published
from muntin.jobs.state.definition_note import spelled
from muntin.states.columns import BATCH
from muntin.store.store import Texts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muntin.aggregates.aggregate import Aggregate
    from muntin.jobs.state.bound import Bound

_OF_ALL = {
    "window_start": "start of the window, inclusive, UTC",
    "window_end": "end of the window, exclusive, UTC",
    BATCH: "start of the interval of the batch that closed the window, UTC",
}


def texts(bound: Bound, window: str) -> Texts:
    """The texts of a window's table."""
    kind = spelled(bound.windows[window])
    description = " ".join(filter(None, (bound.pipeline.description, f"Windows of Muntin: {kind}")))
    return Texts(f"{bound.pipeline.name}.{window}", description, comments(bound, window))


def comments(bound: Bound, window: str) -> Mapping[str, str]:
    """Column of a window's table -> its comment."""
    keys = dict.fromkeys(bound.keys_of(window), "key: windows are kept apart by it")
    aggregates = {name: _of(aggregate) for name, aggregate in bound.aggregates.items()}
    derived = {name: f"derived: {expression}" for name, expression in bound.pipeline.derived.items()}
    return keys | _OF_ALL | aggregates | derived


def _of(aggregate: Aggregate) -> str:
    unit = f" [{aggregate.unit}]" if aggregate.unit else ""
    return f"{aggregate}{unit}" + (f": {aggregate.comment}" if aggregate.comment else "")


def describe(bound: Bound) -> None:
    """Bring the texts of the tables of windows up to date; nothing is written where they are."""
    for window in bound.windows:
        now = published(bound.store, window)
        if now.ledger:
            # another run writes to the table: a later run brings its texts up to date
            with suppress(ConflictError):
                bound.store.describe(now.table, now.snapshot, texts(bound, window))
