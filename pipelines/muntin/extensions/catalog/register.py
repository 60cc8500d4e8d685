"""Let a name in a catalog lead to the table of a window.

The table says by its own properties what it holds, for all readers of Delta.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from muntin.jobs.published.table_texts import texts
from muntin.jobs.published.window_tables import current
from muntin.jobs.records.reports_table import utc_now
from muntin.jobs.sending.catch_up import Sent
from muntin.jobs.sending.notes import Note, mark_of, read_note, write_note
from muntin.sinks.delivery import Position
from muntin.store.retries import after_conflicts
from muntin.store.store import Texts

if TYPE_CHECKING:
    from muntin.extensions.catalog.sink import CatalogSink
    from muntin.jobs.published.window_tables import Published
    from muntin.jobs.sending.patience import Patience
    from muntin.jobs.state.bound import Bound
    from muntin.sinks.delivery import Reach

_TRIES = 8


def register(
    bound: Bound, sink: CatalogSink, reach: Reach, patience: Patience, *, anew: bool = False
) -> Sent:
    """Let the properties of a window's table be true, and a name lead to the table."""
    window, before = str(sink.window), read_note(bound, sink)
    if current(bound.store, window).ledger is None:
        return Sent(sink.name, window, what="name")
    given_up = f"{bound.pipeline.name}: other runs keep publishing; the next run registers {window}"
    now = after_conflicts(_TRIES, given_up)(lambda: _described(bound, window, sink.owner))
    table, facts = bound.table(now.table), now.snapshot
    patience.alive()
    with sink.opened(bound.pipeline.name, reach) as opened:
        noted = before.position.target if before.position else ""
        is_new_name = opened.lead_to(str(table), facts.identity, noted, patience.alive, anew=anew)
    position = Position(facts.identity, facts.version, mark_of(table, facts.version), str(table))
    if before.failed or before.position != position:
        write_note(bound, sink, Note(position, at=utc_now().isoformat()), before.position)
    return Sent(sink.name, window, facts.version, int(is_new_name), what="name")


def _described(bound: Bound, window: str, owner: str) -> Published:
    """The published windows of a name, whose table has the properties that are true of it.

    Until a changed definition is promoted, these are the windows of the definition before, and keep its
    texts. A `ConflictError` if another run committed first.
    """
    now = current(bound.store, window)
    state = now.ledger.state if now.ledger else ""
    own = texts(bound, window) if state == bound.state else Texts(now.snapshot.name, now.snapshot.description)
    says = {
        "muntin.pipeline": bound.pipeline.name,
        "muntin.window": window,
        "muntin.definition": state,
        "muntin.owner": owner,
    }
    bound.store.describe(now.table, now.snapshot, replace(own, properties=says))
    return current(bound.store, window)
