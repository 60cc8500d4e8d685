"""Mirrors of windows in Iceberg: what is lost or damaged of their own files, and mending it."""

from __future__ import annotations

from collections.abc import Iterator

from muntin.errors import MuntinError, StateError
from muntin.extensions.iceberg.mirrors.declaration import IcebergSink
from muntin.extensions.iceberg.mirrors.follow import mirror, problems_of
from muntin.extensions.iceberg.mirrors.mirror import place_of
from muntin.files.paths import AnyPath, path_of
from muntin.jobs.doctor.finding import Finding
from muntin.jobs.published.mirrors import is_filled, note_mirror, problem_of_note
from muntin.jobs.published.window_tables import current
from muntin.jobs.sending.notes import Patience
from muntin.jobs.state.bound import Bound
from muntin.sinks.addresses import of_environment
from muntin.sinks.delivery import Reach
from muntin.sinks.errors import SinkError

_LEFT = "none needed, as no snapshot names it; muntin doctor --mend FILE removes it"
_MEND = (
    "muntin doctor --mend FILE: makes anew what the mirror lacks; snapshots that name it go, but for those"
    " with a branch or tag"
)


def examine(bound: Bound, sink: IcebergSink, *, deep: bool) -> Iterator[Finding]:
    """The damage of a mirror that was filled.

    `deep`: whether all snapshots are looked at; else the newest.
    """
    folder = _folder(bound, sink)
    if not _is_filled(folder, sink):
        return
    if of_note := problem_of_note(folder, sink.catalog, sink.table):
        yield Finding(*of_note, "muntin doctor --mend FILE: writes it anew")
    try:
        problems = problems_of(bound, sink, Reach(of_environment), deep=deep)
        left = _leftovers(bound, sink) if deep and not problems else []
    except (SinkError, MuntinError) as wrong:
        yield Finding(
            sink.name, f"cannot be looked at ({wrong})", "let the catalog be reached, then muntin doctor FILE"
        )
        return
    for path, problem in problems:
        yield Finding(path, problem, _MEND)
    for path in left:
        yield Finding(path, "is damaged: its content is not what its name says", _LEFT)


def _leftovers(bound: Bound, sink: IcebergSink) -> list[str]:
    with sink.opened(bound.pipeline.name, Reach(of_environment)) as opened:
        return opened.leftovers(str(_folder(bound, sink)))


def repair(bound: Bound, sink: IcebergSink) -> list[AnyPath]:
    """Make anew what is lost or damaged of a mirror; the paths of that.

    Raises:
        StateError: a mirror with damage cannot be mended, as its catalog refuses.
    """
    folder = _folder(bound, sink)
    if not _is_filled(folder, sink):
        return []
    mended: list[AnyPath] = []
    if of_note := problem_of_note(folder, sink.catalog, sink.table):
        note_mirror(folder, sink.catalog, sink.table)
        mended.append(path_of(of_note[0]))
    try:
        problems = problems_of(bound, sink, Reach(of_environment), deep=True)
    except (SinkError, MuntinError):
        return mended  # doctor says so
    try:
        if problems:
            mirror(bound, sink, Reach(of_environment), Patience(sink.patience_us / 1e6), deep=True)
        left = [path_of(path) for path in _leftovers(bound, sink)]
    except SinkError as wrong:
        raise StateError(
            f"{problems[0][0]} {problems[0][1]}, and {sink.name} cannot be mended: {wrong}; then muntin"
            " doctor --mend FILE"
        ) from wrong
    for path in left:
        path.unlink(missing_ok=True)
    return list(dict.fromkeys([*mended, *(path_of(path) for path, _ in problems), *left]))


def _is_filled(folder: AnyPath, sink: IcebergSink) -> bool:
    return is_filled(folder, sink.catalog, sink.table, place_of(sink, str(folder)))


def _folder(bound: Bound, sink: IcebergSink) -> AnyPath:
    return bound.table(current(bound.store, str(sink.window)).table)
