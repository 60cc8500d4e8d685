"""How far each sink is, as the state has noted it. No sink is asked."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from muntin.jobs.published.window_tables import current
from muntin.jobs.sending.notes import read_note

if TYPE_CHECKING:
    from muntin.jobs.state.bound import Bound
    from muntin.sinks.delivery import Misfit


@dataclass(frozen=True, slots=True)
class SinkStanding:
    """A sink.

    Attributes:
        sink, window: its name, and the window that goes there.
        version: of the window's table, which it has; None: it has nothing.
        behind: how many versions of the table it lacks.
        at: the last attempt that changed anything or failed; None: there was none.
        failed: why that attempt failed; "": it did not.
        misfits: windows that the sink does not have as they are published, since their values do not fit.
    """

    sink: str
    window: str
    version: int | None
    behind: int
    at: datetime | None
    failed: str
    misfits: tuple[Misfit, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The standing as a plain dict."""
        return asdict(self)


def standings(bound: Bound) -> list[SinkStanding]:
    """The sinks of a definition, in its order."""
    standing_of_sinks = []
    for sink in bound.sinks:
        window = str(sink.window)
        note, version = read_note(bound, sink), current(bound.store, window).snapshot.version
        has = note.position.version if note.position else None
        behind = max(version - (-1 if has is None else has), 0)
        at = datetime.fromisoformat(note.at) if note.at else None
        misfits = note.position.misfits if note.position else ()
        standing_of_sinks.append(SinkStanding(sink.name, window, has, behind, at, note.failed, misfits))
    return standing_of_sinks
