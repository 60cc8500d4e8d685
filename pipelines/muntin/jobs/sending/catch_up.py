"""Bring one sink up to date: ask how far it is, work out what lacks, send it, note it.

The newest window of each key, for sinks that keep one row a key.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.definition.spelling import many
from muntin.errors import VersionGoneError
from muntin.files.paths import AnyPath
from muntin.jobs.published.as_defined import check_as_defined, check_live
from muntin.jobs.published.changes_since import BEFORE_ALL_VERSIONS, changes_since
from muntin.jobs.published.window_tables import current
from muntin.jobs.sending.notes import Patience, mark_of, note_position, read_note, write_note
from muntin.jobs.state.bound import Bound
from muntin.sinks.declaration import Declared as Sink
from muntin.sinks.delivery import Delivery, Misfit, Position, Reach
from muntin.sinks.errors import AllNeededError, BlockedError, MovedError, SinkError
from muntin.states.frames import Ints, run_starts
from muntin.states.keys import codes_of
from muntin.states.order import sorted_order
from muntin.states.sorted import instants


def newest_changes(bound: Bound, window: str, rows: pa.Table) -> pa.Table:
    """Changes of windows as changes of the row that a key has: at most a row that is gone, and behind it the
    key's newest window.

    A key of which a window is gone gets what is published of it now. Of any other key the newest of its
    changed windows is enough, as long as the sink never puts an older window over a newer one. `rows`: as
    `changes_since` gives them.
    """
    keys = bound.keys_of(window)
    gone, there = (
        rows.filter(each) for each in (pc.equal(rows["change"], "gone"), pc.not_equal(rows["change"], "gone"))
    )
    if not len(gone):
        return newest(there, keys)
    now = changes_since(bound, window, BEFORE_ALL_VERSIONS).rows
    lost = newest(gone, keys)
    left = newest(now.filter(_is_among(now, lost, keys)), keys)
    others = newest(there.filter(pc.invert(_is_among(there, lost, keys))), keys)
    return pa.concat_tables([lost, left, others], promote_options="permissive")


def newest(rows: pa.Table, keys: Sequence[str]) -> pa.Table:
    """The window of each key that ends last; by arrival the last that fired."""
    if not len(rows):
        return rows
    codes, starts = _codes([rows], keys), instants(rows["window_start"])
    ends = (
        rows["window_index"].to_numpy()
        if "window_index" in rows.column_names
        else instants(rows["window_end"])
    )
    order = sorted_order(codes, ends, starts)
    lasts = np.append(np.flatnonzero(run_starts(codes[order]))[1:], len(order)) - 1
    return rows.take(pa.array(order[lasts]))


def _is_among(rows: pa.Table, others: pa.Table, keys: Sequence[str]) -> pa.Array:
    """Whether the key of each row is the key of another row, too."""
    codes = _codes([rows, others], keys)
    return pa.array(np.isin(codes[: len(rows)], codes[len(rows) :]))


def _codes(tables: Sequence[pa.Table], keys: Sequence[str]) -> Ints:
    both = pa.concat_tables([table.select(list(keys)) for table in tables], promote_options="permissive")
    return codes_of(both, keys)


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
                delivery = replace(
                    delivery,
                    rows=newest_changes(bound, window, delivery.rows),
                    identity=bound.keys_of(window),
                    latest=True,
                )
            if delivery is None:
                patience.alive()
                note_position(bound, sink, note, position)
                return Sent(
                    sink.name, window, *((position.version, 0, "", position.misfits) if position else ())
                )
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
            note_position(bound, sink, note, now)
            # a sink that was filled may know nothing of it
            forgotten = "it does not know any more what it has" if note.position and position is None else ""
            return Sent(sink.name, window, now.version, rows, remark or forgotten, now.misfits)
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
