"""Bring one sink up to date: ask how far it is, work out what lacks, send it, note it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from muntin.errors import VersionGoneError
from muntin.jobs.published.changes_since import BEFORE_ALL_VERSIONS, changes_since
from muntin.jobs.published.window_tables import current
from muntin.jobs.records.reports_table import utc_now
from muntin.jobs.sending.notes import Note, mark_of, read_note, write_note
from muntin.sinks.delivery import Delivery, Position
from muntin.sinks.errors import MovedError, SinkError

if TYPE_CHECKING:
    from typing import Any

    from muntin.files.paths import AnyPath
    from muntin.jobs.sending.patience import Patience
    from muntin.jobs.state.bound import Bound
    from muntin.sinks import Sink
    from muntin.sinks.delivery import Opened, Reach

_TRIES = 5


@dataclass(frozen=True, slots=True)
class Sent:
    """The result of sending to one sink.

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
        """The result in words."""
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


def lacking(bound: Bound, window: str, position: Position | None, *, anew: bool = False) -> tuple[Delivery | None, str]:
    """The changes to send to a sink, None for nothing; and a remark where all windows are sent instead.

    The position must have been read before this is called: then a table that is behind it was put back.

    Args:
        bound, window: the pipeline state, and the name of the window.
        position: of the sink; None: it has nothing.
        anew: whether all windows are to be sent, whatever the sink has.

    Raises:
        SinkError: the sink was filled from another table.
        StateError: the table cannot be read.
    """
    now = current(bound.store, window)
    version, identity, table = now.snapshot.version, now.snapshot.identity, bound.table(now.table)
    if version < 0:
        return None, ""
    if position is None or anew:
        return _delivery(bound, window, position, BEFORE_ALL_VERSIONS, anew=anew), ""
    if position.table != identity:
        raise SinkError(
            f"it was filled from another table of windows than {table}: of another root, or made anew since. "
            "Let this one take its place: muntin sinks FILE --send --anew"
        )
    if position.version > version or _is_another(position, table):
        return _delivery(bound, window, position, BEFORE_ALL_VERSIONS), f"{table} was put back to an earlier state"
    if position.version == version:
        return None, ""
    try:
        return _delivery(bound, window, position, position.version), ""
    except VersionGoneError:
        return _delivery(bound, window, position, BEFORE_ALL_VERSIONS), f"commits or files since version {position.version} are removed"


def _is_another(position: Position, table: AnyPath) -> bool:
    """Whether the version was made by another commit than the sink knows: the state was put back, and went on otherwise."""
    now = mark_of(table, position.version)
    return bool(now and position.mark and now != position.mark)


def _delivery(bound: Bound, window: str, position: Position | None, since: int, *, anew: bool = False) -> Delivery:
    found = changes_since(bound, window, since)
    now = current(bound.store, window)
    until = Position(now.snapshot.identity, found.version, mark_of(bound.table(now.table), found.version))
    whole = since == BEFORE_ALL_VERSIONS
    return Delivery(bound.pipeline.name, window, found.rows, found.identity, position, until, whole, anew)
