"""Standing: how a state stands to the live windows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from muntin.jobs.published.window_tables import current
from muntin.store.delta import DeltaStore
from muntin.store.state import WINDOWS

if TYPE_CHECKING:
    from muntin.files.paths import AnyPath

Standing = Literal["current", "superseded", "candidate"]


def standing(state: AnyPath) -> Standing:
    """How a state stands to the live windows."""
    store, tables = DeltaStore(state), sorted(log.parent.name for log in (state.parent / WINDOWS).glob("*/_delta_log"))
    ledgers = [ledger for name in tables if (ledger := current(store, name).ledger)]
    if not ledgers or any(ledger.state == state.name for ledger in ledgers):
        return "current"
    before = {each.derivation.state for ledger in ledgers for each in ledger.superseded}
    return "superseded" if state.name in before else "candidate"
