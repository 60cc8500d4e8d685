"""Checkpoints of a Delta log, so that few commits are read separately; and the end of old commits and old
versions.

https://github.com/delta-io/delta/blob/master/PROTOCOL.md#checkpoints
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pyarrow as pa
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from muntin.errors import StateError
from muntin.files.object_stores import refusal
from muntin.files.paths import AnyPath, ascending, relative, sizes_below
from muntin.store.disk import refused_through, write_whole
from muntin.store.log_check import HINT, hint_of
from muntin.store.seen_tables import open_table

log = logging.getLogger("muntin")
_COMMITS = 20
_CHECKPOINTS = 16  # a clean-up reads every file of the log
SETTINGS = {"delta.checkpointInterval": str(_COMMITS), "delta.logRetentionDuration": "interval 7 days"}


def shorten(path: AnyPath, opened: DeltaTable, version: int) -> None:
    """Behind every 20th commit, write a checkpoint; behind every 320th, remove commits older than the log
    must reach.

    `path`: of the table. `opened`: the table; it is brought up to date. `version`: the commit that was made.
    """
    if version % _COMMITS:
        return
    try:
        opened.update_incremental()
        # of one version there is one checkpoint, as its digest is told beside it: that of its committer
        if opened.version() != version:
            return
        opened.create_checkpoint()
        if hint := hint_of(path, version):
            write_whole(path / "_delta_log" / HINT, hint)
        if version % (_COMMITS * _CHECKPOINTS) == 0:
            opened.cleanup_metadata()
    except (DeltaError, OSError, StateError) as wrong:  # the commit is made all the same
        log.warning(
            "%s: no checkpoint behind commit %d (%s); a later commit tries again",
            opened.table_uri,
            version,
            wrong,
        )


@contextmanager
def writing_log(path: AnyPath) -> Iterator[DeltaTable]:
    """A table whose log is shortened."""
    try:
        yield open_table(path)
    except (DeltaError, OSError) as wrong:
        error = refusal(str(path), str(wrong)) or refused_through(f"the log of {path}", wrong)
        raise error or StateError(
            f"the log of {path} cannot be shortened ({wrong}); muntin doctor FILE says what is damaged"
        ) from wrong


def old_files(table: AnyPath) -> Iterator[tuple[AnyPath, int, bool]]:
    """The data files that the present version of a table does not hold: path, bytes, and whether an old
    version held it.

    Other files belong to runs that have not committed them, or never will.
    """
    opened = open_table(table)
    now = {*pa.table(opened.get_add_actions(flatten=True))["path"].to_pylist()}
    before = {*opened.vacuum(0, dry_run=True, enforce_retention_duration=False)}
    for path, size, _ in sizes_below(table):
        name = relative(path, table)
        if path.suffix == ".parquet" and not name.startswith("_delta_log") and name not in now:
            yield path, size, name in before


def old_commits(table: AnyPath, version: int) -> list[AnyPath]:
    """The files of a log that tell of versions before this."""
    last = f"{version:020d}"
    return [
        path
        for path in ascending((table / "_delta_log").glob("*"))
        if path.name[:20].isdigit() and path.name[:20] < last
    ]


def end_old_versions(table: AnyPath, held: Callable[[AnyPath], bool]) -> tuple[int, int]:
    """Remove the old versions of a table; how many files, and their bytes. Who asks for one of them gets
    Delta's own error.

    `table`: its folder. `held`: whether a file that no version holds is to go, too.
    """
    with writing_log(table) as opened:
        version = opened.version()
        opened.create_checkpoint()
        if hint := hint_of(table, version):
            write_whole(table / "_delta_log" / HINT, hint)
        gone = [(path, size) for path, size, was in old_files(table) if was or held(path)]
        for path in [*old_commits(table, version), *(path for path, _ in gone)]:
            path.unlink(missing_ok=True)
    return len(gone), sum(size for _, size in gone)
