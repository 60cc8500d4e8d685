"""Changes of the current windows since a version of their table.

Only files that commits removed or added are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from muntin.definition.spelling import many
from muntin.errors import DefinitionError, StateError, VersionGoneError
from muntin.files.paths import AnyPath
from muntin.files.readable import opened
from muntin.jobs.published.ledger_segments import is_segment
from muntin.jobs.published.revisions import CHANGE, REVISION, Step, revisions, with_old
from muntin.jobs.published.window_files import key_columns
from muntin.jobs.published.window_tables import Published, current
from muntin.jobs.state.bound import Bound
from muntin.store.contents import problem_once
from muntin.store.log_append import Commit, commits_between
from muntin.store.paths import batches_of_windows
from muntin.store.reading import read_files
from muntin.store.tier_files import is_mark

BEFORE_ALL_VERSIONS = -1
_NONE = pa.schema([])
VERSION = b"muntin.version"
"""Where the metadata of a table in memory name the version of the table that was read."""


@dataclass(frozen=True, slots=True)
class Since:
    """The changes since a version.

    Attributes:
        rows: a row for each window that differs, sorted by `identity`; see `revisions` for the columns.
        version: of the table that the rows lead to: where the next question begins.
        identity: the columns that tell one window from another.
    """

    rows: pa.Table
    version: int
    identity: tuple[str, ...]


def changes_since(
    bound: Bound, window: str, since: int, *, touched: bool = False, old: Sequence[str] = ()
) -> Since:
    """The changes of the current windows since a version of their table.

    Files that were put together change nothing. The batch that closed a window is no value of it. `since`:
    -1: all windows are new, and their revision is the version that they are read at. `touched`: windows that
    a commit changed count too where later commits made them again what they were. `old`: results whose
    earlier values follow. VersionGoneError says from which version on changes are known.
    """
    now = current(bound.store, window)
    version, table = now.snapshot.version, bound.table(now.table)
    names, identity = _columns(bound, window, now)
    if not BEFORE_ALL_VERSIONS <= since <= version:
        raise StateError(
            f"{table} has no version {since}: it is at {version}; was the state put back or made anew? "
            f"Read all windows, then go on from {version}"
        )
    if since == BEFORE_ALL_VERSIONS:
        rows = _all(table, now, names, identity)
        nulls = pa.table(
            {name: pa.nulls(len(rows), rows[name].type) for name in old if name in rows.column_names}
        )
        return Since(with_old(rows, nulls, old), version, identity)
    commits = commits_between(table, since, version)
    if len(commits) < version - since:
        raise _forgotten(table, since, commits, version)
    # a publication adds a segment of the ledger, an expiry a mark
    published = [
        commit for commit in commits if any(is_segment(path) or is_mark(path) for path in commit.adds)
    ]
    steps = list[Step]()
    for commit in reversed(published):
        try:
            went, came = set(commit.removes) - set(commit.adds), set(commit.adds) - set(commit.removes)
            both = (list(_tables(table, sorted(paths), names, identity)) for paths in (went, came))
            steps.append(
                Step(
                    commit.version,
                    *(
                        pa.concat_tables(tables or [_NONE.empty_table()], promote_options="permissive")
                        for tables in both
                    ),
                )
            )
        except (OSError, pa.ArrowException):  # removed, or damaged: then a later commit has replaced it
            raise _forgotten(
                table, since, [each for each in commits if each.version > commit.version], version
            ) from None
    schemas = [
        now.snapshot.schema or _NONE,
        *(table.schema for step in steps for table in (step.came, step.went)),
    ]
    return Since(
        revisions(steps[::-1], _schema(names, schemas), identity, touched=touched, old=old), version, identity
    )


def at_version(rows: pa.Table, version: int) -> pa.Table:
    """Windows in memory whose metadata name the version of the table that they were read at.

    >>> at_version(pa.table({"n": [1]}), 7).schema.metadata
    {b'muntin.version': b'7'}
    """
    return rows.replace_schema_metadata({**(rows.schema.metadata or {}), VERSION: str(version)})


def version_of(rows: pa.Table) -> int:
    """The version that windows in memory were read at."""
    return int((rows.schema.metadata or {})[VERSION])


def _columns(bound: Bound, window: str, now: Published) -> tuple[list[str], tuple[str, ...]]:
    """The columns of windows, without the batch that closed them and states of aggregates; and the columns
    that identify windows.
    """
    pipeline, kind = bound.pipeline, bound.windows[window]
    identity = tuple(dict.fromkeys((*bound.keys_of(window), *kind.order)))
    there = (now.snapshot.schema or _NONE).names
    missing_columns = [name for name in identity if name not in there]
    if missing_columns and any(file.rows for file in now.snapshot.files):
        raise StateError(
            f"{bound.table(now.table)} holds windows of another definition, without"
            f" {', '.join(missing_columns)}; promote this one first"
        )
    names = [
        *bound.keys_of(window),
        "window_start",
        "window_end",
        *kind.columns,
        *pipeline.results,
    ]
    if reserved_names := {REVISION, CHANGE} & {*names}:
        raise DefinitionError(
            f"{window}: changes have a column {min(reserved_names)!r} of their own; give the key or result of"
            " this name another"
        )
    return names, identity


def _schema(names: Sequence[str], schemas: Sequence[pa.Schema]) -> pa.Schema:
    """The columns that are known, with the type that the first schema has: a table without windows may lack
    some.
    """
    types = {field.name: field.type for schema in reversed(schemas) for field in schema}
    return pa.schema([pa.field(name, types[name]) for name in names if name in types])


def _all(table: AnyPath, now: Published, names: Sequence[str], identity: Sequence[str]) -> pa.Table:
    """All windows, as new windows."""
    schema = _schema(names, [now.snapshot.schema or _NONE])
    if not any(file.rows for file in now.snapshot.files):
        return revisions([], schema, identity)
    rows = read_files(table, now.snapshot, schema.names)
    rows = rows.sort_by([(name, "ascending") for name in identity]).combine_chunks()
    revision = pa.array(np.full(len(rows), now.snapshot.version, np.int64))
    return rows.append_column(REVISION, revision).append_column(CHANGE, pa.repeat("new", len(rows)))


def _tables(
    table: AnyPath, paths: Sequence[str], names: Sequence[str], identity: Sequence[str]
) -> Iterator[pa.Table]:
    """The windows in some files, with the columns that windows still have now."""
    for path in paths:
        if batches_of_windows(path):
            if problem := problem_once(f"{table}/{path}"):
                raise OSError(problem)
            file = opened(f"{table}/{path}")
            there = file.schema_arrow.names
            if key_columns(there) != key_columns(names) or ("window_index" in there) != (
                "window_index" in identity
            ):
                raise StateError(
                    f"{table}: other columns told the windows of an earlier version apart; read all windows"
                )
            yield file.read([name for name in names if name in there])


def _forgotten(
    table: AnyPath, since: int, newest_commits: Sequence[Commit], version: int
) -> VersionGoneError:
    """The error that changes are not known; `newest_commits`: the newest commits that are there with their
    files.
    """
    first = newest_commits[0].version - 1 if newest_commits else version
    gone = many(first - since, "commit")
    return VersionGoneError(
        f"{table}: what changed since version {since} cannot be told any more: {gone} after it, or files of"
        f" them, are removed or damaged. It can be told since version {first}; read all windows, then go on"
        f" from version {version}"
    )
