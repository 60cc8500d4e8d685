"""Bring one sink up to date: ask how far it is, work out what lacks, send it, note it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from muntin.definition.spelling import many
from muntin.errors import VersionGoneError
from muntin.jobs.published.as_defined import check_as_defined, check_live
from muntin.jobs.published.changes_since import BEFORE_ALL_VERSIONS, changes_since
from muntin.jobs.published.window_tables import current
from muntin.jobs.records.reports_table import utc_now
from muntin.jobs.sending.newest import newest_changes
from muntin.jobs.sending.notes import Note, mark_of, read_note, write_note
from muntin.sinks.delivery import Delivery, Misfit, Position
from muntin.sinks.errors import AllNeededError, BlockedError, MovedError, SinkError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from muntin.files.paths import AnyPath
    from muntin.jobs.sending.notes import Patience
    from muntin.jobs.state.bound import Bound
    from muntin.sinks import Sink
    from muntin.sinks.delivery import Reach

_TRIES = 5


@dataclass(frozen=True, slots=True)
class Sent:
    """The result of sending to one sink.

    Attributes:
        sink, window: its name, and the window that goes there.
        version: of the window's table, which the sink has; None: nothing, or it is not known.
        rows: how many changes were sent.
        remark: why all windows were sent and not the changes alone; "": they were not.
        misfits: windows that the sink does not have as they are published, since their values do not fit.
        failed: why the sink does not have what is published; "": it has, but for the misfits.
        blocked: whether no later run mends that by itself.
        what: what a row is: a change of a window, of a mirror a version of the table, of a catalog a name.
    """

    sink: str
    window: str
    version: int | None = None
    rows: int = 0
    remark: str = ""
    misfits: tuple[Misfit, ...] = ()
    failed: str = ""
    blocked: bool = False
    what: str = "change"

    @property
    def line(self) -> str:
        if self.failed:
            later = "no later run mends that by itself" if self.blocked else "the next run catches up"
            return f"{self.window} not sent to {self.sink} ({self.failed}); {later}"
        why = f", all windows, since {self.remark}" if self.remark else ""
        text = (
            f"{many(self.rows, self.what)} of {self.window} sent to {self.sink}{why}; it is at version"
            f" {self.version}"
        )
        return f"{text}; {of_misfits(self.misfits)}" if self.misfits else text

    @property
    def needs_a_person(self) -> bool:
        """Whether something is left behind that no later run mends by itself."""
        return self.blocked or any(not one.replaced for one in self.misfits)


def of_misfits(misfits: Sequence[Misfit]) -> str:
    """Misfits in words: how many, and the first."""
    counts = {
        "left out": sum(not one.replaced for one in misfits),
        "sent with another value": sum(one.replaced for one in misfits),
    }
    counts_text = ", ".join(f"{many(count, 'window')} {what}" for what, count in counts.items() if count)
    return f"{counts_text}: {misfits[0].line}" + (
        "; muntin status --sinks FILE has all" if len(misfits) > 1 else ""
    )


def catch_up(bound: Bound, sink: Sink, reach: Reach, patience: Patience, *, anew: bool = False) -> Sent:
    """Send what a sink lacks; SinkError if it could not be reached, or refused."""
    window: Any = sink.window
    patience.alive()
    why = ""
    with sink.opened(bound.pipeline.name, reach) as opened:
        for _ in range(_TRIES):
            patience.alive()
            note = read_note(bound, sink)
            position = _doubted(opened.position(note.position), note.position)
            patience.own_work()
            delivery, remark = lacking(bound, window, position, anew=anew, why=why, tried=note.tried)
            if delivery and sink.latest:
                delivery = _of_newest(bound, delivery)
            if delivery is None:
                patience.alive()
                sent = Sent(
                    sink.name, window, *((position.version, 0, "", position.misfits) if position else ())
                )
                return _noted(bound, sink, note, sent, position)
            check_as_defined(bound, window)
            check_live(bound, window)
            note = replace(note, tried=note.tried or delivery.until)
            write_note(bound, sink, replace(note, position=None))
            patience.alive()
            try:
                now = opened.send(delivery, patience.alive)
            except MovedError:
                continue
            except AllNeededError as needed:
                why = str(needed)
                continue
            patience.own_work()
            rows = len(delivery.rows) - sum(
                not one.replaced for one in {*now.misfits} - {*delivery.known_misfits()}
            )
            sent = Sent(
                sink.name, window, now.version, rows, remark or _forgotten(note, position), now.misfits
            )
            return _noted(bound, sink, note, sent, now)
    raise SinkError("other runs keep sending to it")


def _doubted(position: Position | None, noted: Position | None) -> Position | None:
    """The position of a sink; it does not count where the sink was further when that was noted, as rows may
    be newer than its ledger.
    """
    if position and noted and position.table == noted.table and position.version < noted.version:
        return replace(
            position,
            lost=position.lost or f"its ledger went back from version {noted.version} to {position.version}",
        )
    return position


def _of_newest(bound: Bound, delivery: Delivery) -> Delivery:
    """The same changes for a sink that keeps the newest window of each key."""
    rows = newest_changes(bound, delivery.window, delivery.rows)
    return replace(delivery, rows=rows, identity=bound.keys_of(delivery.window), latest=True)


def _forgotten(note: Note, position: Position | None) -> str:
    """The remark on a sink that was filled and knows nothing of it."""
    return "it does not know any more what it has" if note.position and position is None else ""


def _noted(bound: Bound, sink: Sink, before: Note, sent: Sent, position: Position | None) -> Sent:
    """Note how far the sink is, if anything changed; what was sent.

    `before`: what was noted when the sink was spoken to.
    """
    if before.failed or before.tried or before.position != position:
        write_note(bound, sink, Note(position, at=utc_now().isoformat()), before.position)
    return sent


def lacking(
    bound: Bound,
    window: str,
    position: Position | None,
    *,
    anew: bool = False,
    why: str = "",
    tried: Position | None = None,
) -> tuple[Delivery | None, str]:
    """The changes to send to a sink, None for nothing; and a remark where all windows are sent instead.

    The position must have been read before this is called: then a table that is behind it was put back. A
    sink that was filled from another table is an error. `anew`: all windows are sent, whatever the sink has.
    `why`: the reason why the changes would not do. `tried`: how far the first attempt since then would have
    brought the sink, if the end of an attempt is not known.
    """
    now = current(bound.store, window)
    version, identity, table = now.snapshot.version, now.snapshot.identity, bound.table(now.table)
    column_names = now.snapshot.schema.names if now.snapshot.schema else ()
    # of keys the types come with the first window
    if version < 0 or not {*bound.keys_of(window)} <= {*column_names}:
        return None, ""
    reached = [each for each in (position, tried) if each and each.table == identity]
    is_back = any(each.version > version or _is_another(each, table) for each in reached)
    if position is None or anew:
        tried = None if anew or is_back else tried
        return (
            _delivery(
                bound, window, position, BEFORE_ALL_VERSIONS, anew=anew, may_alter=bool(why), tried=tried
            ),
            why,
        )
    if position.table != identity:
        raise BlockedError(
            f"it was filled from another table of windows than {table}: of another root, or made anew since. "
            "Let this one take its place: muntin status --sinks FILE --send --anew"
        )
    remark = why or position.lost or (f"{table} was put back to an earlier state" if is_back else "")
    if position.version == version and not remark:
        return None, ""
    try:
        since = BEFORE_ALL_VERSIONS if remark else position.version
        return _delivery(bound, window, position, since, may_alter=bool(why), tried=tried), remark
    except VersionGoneError:
        return (
            _delivery(bound, window, position, BEFORE_ALL_VERSIONS),
            f"commits or files since version {position.version} are removed",
        )


def _is_another(position: Position, table: AnyPath) -> bool:
    """Whether the version was made by another commit than the sink knows: the state was put back, and went on
    otherwise.
    """
    now = mark_of(table, position.version)
    return bool(now and position.mark and now != position.mark)


def _delivery(
    bound: Bound,
    window: str,
    position: Position | None,
    since: int,
    *,
    anew: bool = False,
    may_alter: bool = False,
    tried: Position | None = None,
) -> Delivery:
    """The changes since a version.

    After an attempt whose end is not known, also windows that are again what they were.
    """
    whole = since == BEFORE_ALL_VERSIONS
    changes = changes_since(bound, window, since, touched=tried is not None)
    rows = changes.rows
    if whole and tried and position is None:
        with suppress(VersionGoneError):
            later = changes_since(bound, window, tried.version, touched=True).rows
            rows = pa.concat_tables([rows, later.filter(pc.equal(later["change"], "gone"))])
    now = current(bound.store, window)
    until = Position(now.snapshot.identity, changes.version, mark_of(bound.table(now.table), changes.version))
    return Delivery(
        bound.pipeline.name, window, rows, changes.identity, position, until, whole, anew, may_alter
    )
