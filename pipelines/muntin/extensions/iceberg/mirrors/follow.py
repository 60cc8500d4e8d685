"""Bring a mirror up to date: it names the files of the windows, so it gets versions of their table, and no
rows.

Delta's log decides. What the mirror has is asked of the mirror itself; what it lacks follows from both.
"""

from __future__ import annotations

from collections.abc import Iterable

from muntin.extensions.iceberg.mirrors.declaration import IcebergSink
from muntin.extensions.iceberg.mirrors.mirror import Mirrored, Version
from muntin.files.paths import AnyPath
from muntin.jobs.published.mirrors import note_mirror
from muntin.jobs.published.promotion import texts
from muntin.jobs.published.window_tables import Published, current
from muntin.jobs.records.reports_table import utc_now
from muntin.jobs.sending.catch_up import Sent
from muntin.jobs.sending.notes import Patience, mark_of, note_position, read_note
from muntin.jobs.state.bound import Bound
from muntin.sinks.delivery import Position, Reach
from muntin.sinks.errors import MovedError, SinkError
from muntin.store.column_commits import commented
from muntin.store.log_append import commits_between
from muntin.store.paths import batches_of_windows

_TRIES = 8
MOST_VERSIONS = 32
"""A mirror that lacks more versions of a table gets the newest of them."""


def mirror(
    bound: Bound,
    sink: IcebergSink,
    reach: Reach,
    patience: Patience,
    *,
    anew: bool = False,
    deep: bool = False,
) -> Sent:
    """Let a mirror name the files that its windows have now. `deep`: whether all its snapshots are looked at.

    Raises:
        SinkError: the catalog could not be reached, or refused.
        MissingPackageError: pyiceberg is not installed.
        MuntinError: the table of windows cannot be read.
    """
    patience.alive()
    window, before = str(sink.window), read_note(bound, sink)
    with sink.opened(bound.pipeline.name, reach) as opened:
        for _ in range(_TRIES):
            patience.alive()
            there = opened.position(str(bound.table(current(bound.store, window).table)), deep=deep)
            patience.own_work()
            mirrored, remark = _lacking(bound, window, there, anew=anew or deep)
            if mirrored is None:
                now = there
            else:
                note_mirror(bound.table(current(bound.store, window).table), sink.catalog, sink.table)
                patience.alive()
                try:
                    now = opened.follow(mirrored, utc_now(), anew=anew)
                except MovedError:
                    continue
            note_position(bound, sink, before, now)
            version = now.version if now else None
            return Sent(
                sink.name, window, version, len(mirrored.versions) if mirrored else 0, remark, what="version"
            )
    raise SinkError("other runs keep writing to it")


def problems_of(bound: Bound, sink: IcebergSink, reach: Reach, *, deep: bool) -> list[tuple[str, str]]:
    """The lost or damaged files of a mirror itself, and its description if it says what the windows do not;
    nothing is changed.

    `deep`: whether all snapshots are looked at, and the newest is held against the windows.

    Raises:
        SinkError, MissingPackageError, MuntinError: as `mirror`.
    """
    now = current(bound.store, str(sink.window))
    folder = bound.table(now.table)
    with sink.opened(bound.pipeline.name, reach) as opened:
        problems: list[tuple[str, str]] = opened.problems(str(folder), deep=deep)
        if (
            problems
            or not deep
            or (there := opened.position(str(folder))) is None
            or there.table != now.snapshot.identity
        ):
            return problems
        if there.version > now.snapshot.version or now.snapshot.schema is None:
            return []
        before, versions = _versions(folder, now, there.version)
        schema = None if versions else commented(now.snapshot.schema, texts(bound, str(sink.window)).comments)
        return opened.differs(str(folder), before, schema)  # type: ignore[no-any-return]


def _lacking(bound: Bound, window: str, there: Position | None, *, anew: bool) -> tuple[Mirrored | None, str]:
    """The versions that a mirror lacks, None for nothing; and a remark where the mirror is set right.

    The position must have been read before this is called: then a table that is behind it was put back.
    """
    now = current(bound.store, window)
    if now.snapshot.version < 0 or now.snapshot.schema is None:
        return None, ""
    table, version = bound.table(now.table), now.snapshot.version
    is_same_table = there is not None and there.table == now.snapshot.identity
    remark = there.lost if there else ""
    if (
        is_same_table
        and there
        and (there.version > version or mark_of(table, there.version) not in ("", there.mark))
    ):
        remark = f"{table} was put back to an earlier state"
    follows = is_same_table and there and not anew and not remark
    before, versions = _versions(table, now, there.version if there and follows else None)
    if follows and not versions:
        return None, ""
    comments = texts(bound, window)
    schema = commented(now.snapshot.schema, comments.comments)
    return Mirrored(now.snapshot.identity, str(table), schema, comments.description, before, versions), remark


def _versions(table: AnyPath, now: Published, since: int | None) -> tuple[set[str] | None, list[Version]]:
    """The files at a version; and the versions after it that changed files.

    Where the log does not say it any more, the present version alone. A version whose files are removed is
    passed by.
    """
    version, paths = now.snapshot.version, _of_windows(file.path for file in now.snapshot.files)
    commits = [] if since is None else commits_between(table, since, version)
    if since is None or len(commits) < version - since:
        return None, [Version(version, mark_of(table, version), paths)]
    missed_versions, there = list[Version](), paths
    for commit in reversed(commits):
        changes = commit.adds or commit.removes
        if (
            changes
            and len(missed_versions) < MOST_VERSIONS
            and all((table / path).exists() for path in there - paths)
        ):
            missed_versions.append(Version(commit.version, mark_of(table, commit.version), there))
        there = (there - {*commit.adds}) | _of_windows(commit.removes)
    return there, missed_versions[::-1]


def _of_windows(paths: Iterable[str]) -> set[str]:
    """The files that hold windows: segments of the ledger and marks of expiry have no rows."""
    return {path for path in paths if batches_of_windows(path)}
