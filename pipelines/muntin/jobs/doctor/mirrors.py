"""Mirrors of windows in Iceberg: what is lost or damaged of their own files, and mending it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from muntin.errors import MuntinError, StateError
from muntin.files.paths import path_of
from muntin.jobs.doctor.finding import Finding
from muntin.jobs.published.mirrors import is_filled, note_mirror, problem_of_note
from muntin.jobs.published.window_tables import current
from muntin.jobs.sending.mirror import mirror, problems_of
from muntin.jobs.sending.patience import Patience
from muntin.sinks.addresses import of_environment
from muntin.sinks.delivery import Reach
from muntin.sinks.errors import SinkError
from muntin.sinks.mirrors.mirror import place_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muntin.files.paths import AnyPath
    from muntin.jobs.state.bound import Bound
    from muntin.sinks.mirrors.declaration import IcebergSink

_MEND = "muntin repair FILE: makes anew what the mirror lacks; snapshots that name it go, but for those with a branch or tag"


def examine_mirrors(bound: Bound, *, deep: bool) -> Iterator[Finding]:
    """The damage of mirrors. `deep`: whether all snapshots are looked at; else the newest."""
    for sink in _mirrors(bound):
        folder = _folder(bound, sink)
        if of_note := problem_of_note(folder, sink.catalog, sink.table):
            yield Finding(*of_note, "muntin repair FILE: writes it anew")
        try:
            problems = problems_of(bound, sink, Reach(of_environment), deep=deep)
        except (SinkError, MuntinError) as wrong:
            yield Finding(sink.name, f"cannot be looked at ({wrong})", "let the catalog be reached, then muntin doctor FILE")
            continue
        for path, problem in problems:
            yield Finding(path, problem, _MEND)


def repair_mirrors(bound: Bound) -> list[AnyPath]:
    """Make anew what is lost or damaged of mirrors; the paths of that.

    Raises:
        StateError: a mirror with damage cannot be mended, as its catalog refuses.
    """
    found: list[AnyPath] = []
    for sink in _mirrors(bound):
        folder = _folder(bound, sink)
        if of_note := problem_of_note(folder, sink.catalog, sink.table):
            note_mirror(folder, sink.catalog, sink.table)
            found.append(path_of(of_note[0]))
        try:
            problems = problems_of(bound, sink, Reach(of_environment), deep=True)
        except (SinkError, MuntinError):
            continue  # doctor says so
        try:
            if problems:
                mirror(bound, sink, Reach(of_environment), Patience(sink.patience_us / 1e6), deep=True)
        except SinkError as wrong:
            raise StateError(
                f"{problems[0][0]} {problems[0][1]}, and {sink.name} cannot be mended: {wrong}; then muntin repair FILE"
            ) from wrong
        found += [path_of(path) for path, _ in problems]
    return found


def _mirrors(bound: Bound) -> list[IcebergSink]:
    """The mirrors that were filled."""
    found = [cast("IcebergSink", sink) for sink in bound.sinks if sink.takes == "versions"]
    return [sink for sink in found if _is_filled(_folder(bound, sink), sink)]


def _is_filled(folder: AnyPath, sink: IcebergSink) -> bool:
    return is_filled(folder, sink.catalog, sink.table, place_of(sink, str(folder)))


def _folder(bound: Bound, sink: IcebergSink) -> AnyPath:
    return bound.table(current(bound.store, str(sink.window)).table)
