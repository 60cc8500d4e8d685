"""What a sink lacks, by how far it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.errors import VersionGoneError
from muntin.jobs.look.changes_since import BEFORE_ALL_VERSIONS, changes_since
from muntin.jobs.sending.notes import mark_of
from muntin.jobs.window_tables import current, place
from muntin.sinks.delivery import Delivery, Position
from muntin.sinks.errors import SinkError

if TYPE_CHECKING:
    from muntin.jobs.bound import Bound


def lacking(bound: Bound, window: str, position: Position | None, *, anew: bool = False) -> tuple[Delivery | None, str]:
    """What to send to a sink, None for nothing; and a remark where it is all windows and not the changes alone.

    The position must have been read before this is called: then a table that is behind it was put back.

    Args:
        bound, window: whose windows.
        position: of the sink; None: it has nothing.
        anew: whether all windows are to be sent, whatever the sink has.

    Raises:
        SinkError: the sink was filled from another table.
        StateError: the table cannot be read.
    """
    now = current(bound.store, window)
    version, identity, table = now.snapshot.version, now.snapshot.identity, place(bound.folder, now.table)
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


def _is_another(position: Position, table: str) -> bool:
    """Whether the version was made by another commit than the sink knows: the state was put back, and went on otherwise."""
    now = mark_of(table, position.version)
    return bool(now and position.mark and now != position.mark)


def _delivery(bound: Bound, window: str, position: Position | None, since: int, *, anew: bool = False) -> Delivery:
    found = changes_since(bound, window, since)
    now = current(bound.store, window)
    until = Position(now.snapshot.identity, found.version, mark_of(place(bound.folder, now.table), found.version))
    whole = since == BEFORE_ALL_VERSIONS
    return Delivery(bound.pipeline.name, window, found.rows, found.identity, position, until, whole, anew)
