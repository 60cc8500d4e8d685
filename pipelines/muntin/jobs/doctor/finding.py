"""A finding: a place, what is wrong there, and what mends it.

Bad files: files that a commit names and that are lost or damaged, of every table of a state; and the state
as it is without them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq

from muntin.errors import StateError
from muntin.files.paths import AnyPath, relative
from muntin.files.readable import size_and_footer
from muntin.jobs.published.ledger_segments import is_segment
from muntin.jobs.published.lost_commits import LostCommits
from muntin.jobs.records.reports_table import TABLE as REPORTS
from muntin.jobs.state.bound import Bound
from muntin.store.batch_facts import shared_batches
from muntin.store.contents import problem_of, problem_of_size
from muntin.store.paths import SharedPath, parse_states_path
from muntin.store.state import WINDOWS
from muntin.store.store import File, Snapshot, Store

Bad = dict[str, dict["File", str]]
"""Table -> its bad files, each with what is wrong."""


def logs_of(bound: Bound) -> list[AnyPath]:
    """The logs of all tables of a state, and of the live tables: a table of a new kind is among them."""
    return sorted({*bound.folder.rglob("_delta_log"), *(bound.home / WINDOWS).glob("*/_delta_log")})


def tables_of(bound: Bound) -> list[str]:
    """The names of these tables, below the state."""
    live, folders = bound.home / WINDOWS, [log.parent for log in logs_of(bound)]
    return [
        f"../{WINDOWS}/{folder.name}" if folder.parent == live else relative(folder, bound.folder)
        for folder in folders
    ]


def bad_files(bound: Bound, *, deep: bool) -> Bad:
    """The bad files of all tables.

    `deep`: whether each file is read; else its size and its footer, and what a doctor reads itself.
    """
    problems_of_tables = {}
    for table in tables_of(bound):
        folder, whole = bound.table(table), deep or table == REPORTS
        problems = {
            file: problem_of_file(folder, file, deep=whole) for file in bound.store.snapshot(table).files
        }
        problems_of_tables[table] = {file: problem for file, problem in problems.items() if problem}
    return {table: files for table, files in problems_of_tables.items() if files}


def problem_of_file(folder: AnyPath, file: File, *, deep: bool) -> str | None:
    """The problem of a file that a commit names; None: the file is whole."""
    path = folder / file.path
    try:
        size, footer = size_and_footer(path)
    except OSError:
        return "is gone"
    if problem := problem_of_size(size, file.size):
        return problem
    if deep or is_segment(file.path):
        return problem_of(path)
    try:
        rows = pq.read_metadata(footer).num_rows
        if isinstance(_states_path(file.path), SharedPath):
            shared_batches(str(path))
    except (OSError, pa.ArrowException, StateError):
        return "is damaged: its footer cannot be read"
    return None if rows == file.rows else f"is damaged: it has {rows:,} rows instead of {file.rows:,}"


def _states_path(path: str) -> object:
    try:
        return parse_states_path(path)
    except StateError:
        return None


@dataclass(frozen=True, eq=False)
class _Without:
    """A store whose tables have no bad files. It is only read."""

    store: Store
    bad: Mapping[str, Mapping[File, str]]

    @property
    def root(self) -> AnyPath:
        return self.store.root

    def snapshot(self, table: str) -> Snapshot:
        now = self.store.snapshot(table)
        gone = self.bad.get(table, {})
        return replace(now, files=tuple(file for file in now.files if file not in gone)) if gone else now

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - the other verbs are the store's
        return getattr(self.store, name)


def without(bound: Bound, bad: Bad) -> Bound:
    """The state as it is without its bad files: the batches in them are missing, and what is compared with
    them is found.
    """
    return replace(bound, given=cast("Store", _Without(bound.store, bad)))


def paths_of(bound: Bound, bad: Bad) -> Sequence[AnyPath]:
    """The paths of bad files."""
    return [bound.table(table) / file.path for table, files in bad.items() for file in files]


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong.

    Attributes:
        place: a path.
        problem: what is wrong with it.
        mend: what to do.
    """

    place: str
    problem: str
    mend: str


@dataclass(frozen=True, slots=True)
class Damage:
    """The lost or damaged parts of a state, for a repair.

    Attributes:
        states: starts of batches whose states or refused rows are lost, microseconds.
        windows: window -> starts of batches whose published windows are lost.
        bad: table -> its lost or damaged files, which a repair takes out of the way, each with what is wrong.
        notes: window -> the paths of the files of its lost or damaged notes.
        behind: tables that have lost commits.
        unpublished: window -> starts of batches that reports call published, and whose windows are not there.
    """

    states: tuple[int, ...]
    windows: dict[str, tuple[int, ...]]
    bad: Bad
    notes: dict[str, tuple[tuple[str, ...], ...]]
    behind: tuple[LostCommits, ...] = ()
    unpublished: dict[str, tuple[int, ...]] = field(default_factory=dict)
