"""Bring one sink up to date: ask how far it is, work out what lacks, send it, note it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from muntin.jobs.reports_table import utc_now
from muntin.jobs.sending.lacking import lacking
from muntin.jobs.sending.notes import Note, read_note, write_note
from muntin.sinks.errors import MovedError, SinkError

if TYPE_CHECKING:
    from typing import Any

    from muntin.jobs.bound import Bound
    from muntin.jobs.sending.patience import Patience
    from muntin.sinks import Sink
    from muntin.sinks.delivery import Delivery, Opened, Position, Reach

_TRIES = 5


@dataclass(frozen=True, slots=True)
class Sent:
    """What became of one sink.

    Attributes:
        sink, window: its name, and the window that goes there.
        version: of the window's table, which the sink has; None: nothing, or it is not known.
        rows: how many changes were sent.
        remark: why all windows were sent and not the changes alone; "": they were not.
        failed: why the sink does not have what is published; "": it has.
    """

    sink: str
    window: str
    version: int | None = None
    rows: int = 0
    remark: str = ""
    failed: str = ""

    @property
    def line(self) -> str:
        """In words."""
        if self.failed:
            return f"{self.window} not sent to {self.sink} ({self.failed}); the next run catches up"
        why = f", all windows, since {self.remark}" if self.remark else ""
        return f"{self.rows:,} changes of {self.window} sent to {self.sink}{why}; it is at version {self.version}"


def catch_up(bound: Bound, sink: Sink, reach: Reach, patience: Patience, *, anew: bool = False) -> Sent:
    """Send what a sink lacks.

    Raises:
        SinkError: it could not be reached, or refused.
        MissingPackageError: a package is not installed.
        MuntinError: the windows cannot be read.
    """
    window: Any = sink.window
    patience.alive()
    with sink.opened(bound.pipeline.name, reach) as opened:
        for _ in range(_TRIES):
            patience.alive()
            note = read_note(bound, sink)
            position = opened.position(note.position)
            patience.own_work()
            delivery, remark = lacking(bound, window, position, anew=anew)
            patience.alive()
            if delivery is None:
                return _noted(bound, sink, note, Sent(sink.name, window, position.version if position else None), position)
            if _is_sent(opened, delivery, patience):
                patience.own_work()
                sent = Sent(sink.name, window, delivery.until.version, len(delivery.rows), remark)
                return _noted(bound, sink, note, sent, delivery.until)
    raise SinkError("other runs keep sending to it")


def _is_sent(opened: Opened, delivery: Delivery, patience: Patience) -> bool:
    try:
        opened.send(delivery, patience.alive)
    except MovedError:
        return False
    return True


def _noted(bound: Bound, sink: Sink, before: Note, sent: Sent, position: Position | None) -> Sent:
    """Note how far the sink is, if anything changed; what was sent. `before`: what was noted when the sink was spoken to."""
    if before.failed or before.position != position:
        write_note(bound, sink, Note(position, at=utc_now().isoformat()), before.position)
    return sent
