"""How a definition differs from that of the last run, and what that costs."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from muntin.jobs.accumulate.earlier_states.earlier_state import adoptable
from muntin.jobs.published.window_tables import current, published
from muntin.jobs.records.reports_table import last_accumulated
from muntin.jobs.state.definition_note import described, differences, read
from muntin.jobs.upkeep.outdated import versions
from muntin.jobs.upkeep.rebuild import newest_earlier
from muntin.store.delta import DeltaStore

if TYPE_CHECKING:
    from muntin.jobs.state.bound import Bound


@dataclass(frozen=True, slots=True)
class Redefined:
    """The consequences of a changed definition.

    Attributes:
        changes: what is other, a sentence each; empty where the earlier definition was not noted.
        earlier: the fingerprint of the earlier state, if states hold something else now; None where they do
            not.
        batches, bytes: what must be read again for that: batches, and bytes of their files as they were read.
        windows: name of each published window whose results follow from other rules now -> how many windows
            are derived anew from states.
    """

    changes: tuple[str, ...]
    earlier: str | None
    batches: int
    bytes: int
    windows: dict[str, int]

    def to_dict(self) -> dict[str, Any]:
        """The consequences as JSON has them."""
        return asdict(self)


def redefined(bound: Bound) -> Redefined | None:
    """How the definition differs from that of the last run; None where it does not, or where there was no
    run.
    """
    windows = _derived_anew(bound)
    lost = _to_read_again(bound)
    earlier = newest_earlier(bound) if lost else None
    if not earlier and not windows:
        return None
    noted = read(earlier or adoptable(bound) or bound.folder)
    changes = tuple(differences(noted, described(bound.pipeline))) if noted else ()
    return Redefined(changes, earlier.name if earlier else None, len(lost), sum(lost.values()), windows)


def _derived_anew(bound: Bound) -> dict[str, int]:
    """Window -> how many published windows were derived by another rule, or from a state that this state
    takes over.
    """
    adopting = adoptable(bound) is not None
    ledgers = {name: (current if adopting else published)(bound.store, name).ledger for name in bound.windows}
    return {
        name: int(ledger.entries.published.sum())
        for name, ledger in ledgers.items()
        if ledger and (adopting or ledger.definition != bound.derivation(name))
    }


def _to_read_again(bound: Bound) -> dict[int, int]:
    """Start -> bytes of the batches that the newest earlier state has and the present state lacks."""
    earlier = newest_earlier(bound)
    if earlier is None or adoptable(bound):
        return {}
    there, reports = versions(bound), last_accumulated(DeltaStore(earlier))
    return {
        start: sum(entry[1] for entry in json.loads(said["files"]))
        for start, said in reports.items()
        if start not in there
    }
