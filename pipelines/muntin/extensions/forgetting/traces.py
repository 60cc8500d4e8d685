"""Traces: what lies where of some keys, below the folder of a pipeline. Every file is looked into by its
content, whatever its name.

Where a value cannot be told from what is stored, as from a sketch or a hash, the place is named; so is a file
that cannot be read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial

import pyarrow as pa

from muntin.errors import StateError
from muntin.extensions.forgetting.copies import (
    COPIES,
    MEND,
    bounds_that_tell,
    copies_of,
    copy_says,
    manifests_of,
)
from muntin.extensions.forgetting.loose import is_of_rows, loose_says, words_of
from muntin.extensions.forgetting.said import unsaid
from muntin.extensions.forgetting.table_files import (
    footer_of_file,
    is_of_log,
    log_says,
    old_file_says,
    values_in,
)
from muntin.extensions.forgetting.texts import tells_of, texts_in, texts_of
from muntin.extensions.forgetting.without_keys import rows_in_file
from muntin.files.paths import AnyPath, ascending, relative, sizes_below
from muntin.jobs.published.window_tables import is_of_windows
from muntin.jobs.state.bound import Bound
from muntin.states.forgotten_keys import Plain
from muntin.store.log_checkpoint import old_commits, old_files
from muntin.store.paths import IDS, LOOKED_UP, QUARANTINE
from muntin.store.state import WINDOWS, states_of

Look = Callable[[AnyPath, Plain], int]
"""How many rows, records or texts of a file say some keys."""


UNREADABLE, OTHERS = "cannot be read", "other files"
MENDS = {
    COPIES: MEND,
    OTHERS: (
        f"{OTHERS} are none of Muntin's, and are left alone: take the key out of them, or remove them, and"
        " forget again"
    ),
    UNREADABLE: (
        "what cannot be read is left alone, as nobody can tell what it says: remove it if it is of no use,"
        " and forget again; files of Avro are read where pip install 'muntin[iceberg]' was run"
    ),
}
"""What was found -> what somebody has to do about what the command leaves alone."""


@dataclass(frozen=True, slots=True)
class Trace:
    """Files of one place that hold something of the keys.

    Attributes:
        what: rows, old versions, texts, values (of rows of other keys), bounds in a mirror, names in a log,
            copies of the user's own tables, files that are none of Muntin's, or a file that cannot be read.
        place: a table, a folder, or a file that cannot be read, below the root.
        rows: so many.
        files, bytes: of the files that hold them.
        why: why a file cannot be read.
    """

    what: str
    place: str
    rows: int
    files: int
    bytes: int
    why: str = ""

    @property
    def said(self) -> str:
        return f"{self.what}: {self.why}" if self.why else self.what


def states_below(bound: Bound) -> list[Bound]:
    """The states of a pipeline under all its definitions, the present state first; each as if it were of the
    present definition.
    """
    folders = sorted(states_of(bound.home), key=lambda folder: folder != bound.folder)
    return [replace(bound, folder=folder, given=None) for folder in folders]


def tables_below(bound: Bound) -> Iterator[str]:
    """The tables of a state, and the tables that readers know, by their names below the state."""
    for folder, prefix in ((bound.folder, ""), (bound.home / WINDOWS, f"../{WINDOWS}/")):
        for log in ascending(folder.rglob("_delta_log")):
            yield prefix + relative(log.parent, folder)


@dataclass(slots=True)
class _Looked:
    """The files that were looked into, and what could not be read of them."""

    keys: Plain
    paths: set[AnyPath] = field(default_factory=set)
    unreadable: dict[AnyPath, str] = field(default_factory=dict)

    def now(self, path: AnyPath, look: Look) -> int:
        """The count of a file that a table holds now.

        Raises:
            StateError: it cannot be read.
        """
        self.paths.add(path)
        try:
            return int(look(path, self.keys))
        except FileNotFoundError:  # a run, or another command, has replaced it
            return 0
        except (OSError, pa.ArrowException) as wrong:
            problem = f"{path} cannot be read ({wrong}), so that nobody can tell what it holds"
            raise StateError(f"{problem}; ask muntin doctor FILE") from wrong

    def at(self, path: AnyPath, look: Look) -> int:
        """The count of any other file; 0 of a file that is gone, and of one that cannot be read, which is
        noted.
        """
        self.paths.add(path)
        try:
            return int(look(path, self.keys))
        except Exception as wrong:  # noqa: BLE001 - whatever the readers of formats raise of damaged files
            if path.is_file():  # a draft of a run at work has its name by now
                self.unreadable[path] = str(wrong).partition("\n")[0] or type(wrong).__name__
            return 0

    def all(self, paths: Iterable[AnyPath], look: Look) -> dict[AnyPath, int]:
        return {path: self.at(path, look) for path in paths}


def all_traces(bound: Bound, keys: Plain) -> list[Trace]:
    """Traces of some keys in every file below the folder of a pipeline; files that cannot be read are named
    among them.

    Raises:
        StateError: a file that a table holds now cannot be read.
    """
    states = states_below(bound)
    looked, meant = _Looked(keys), unsaid(keys, words_of(bound.pipeline, [state.folder for state in states]))
    traces = [trace for state in states for trace in _of_state(state, looked, meant)]
    loose = [path for path, *_ in sizes_below(bound.home) if path not in looked.paths]
    counts = looked.all(loose, partial(loose_says, bound.home, meant))
    of_rows = {path: counts.pop(path) for path in loose if is_of_rows(relative(path, bound.home).split("/"))}
    traces += [*_of_files(bound, "rows", "", of_rows), *_of_files(bound, OTHERS, "", counts)]
    unread = (
        Trace(UNREADABLE, relative(path, bound.root), 0, 1, _size(path), why)
        for path, why in looked.unreadable.items()
    )
    return [*dict.fromkeys(traces), *unread]


def _of_state(bound: Bound, looked: _Looked, meant: Plain) -> Iterator[Trace]:
    for table in tables_below(bound):
        yield from _of_table(bound, table, looked, meant)
    yield from _of_files(bound, COPIES, "", looked.all(copies_of(bound), partial(copy_says, bound)))
    yield from _of_files(bound, "texts", "", looked.all(texts_of(bound), tells_of))


def _of_table(bound: Bound, table: str, looked: _Looked, meant: Plain) -> Iterator[Trace]:
    folder, snapshot = bound.table(table), bound.store.snapshot(table)
    looks: dict[str, Look] = {
        "rows": lambda path, keys: rows_in_file(str(path), table, keys),
        **({"values": values_in} if table != QUARANTINE else {}),
        OTHERS: lambda path, _: footer_of_file(path, meant),
        "texts": partial(texts_in, table),
    }
    for what, look in looks.items():
        now = {path: looked.now(path, look) for path in (folder / file.path for file in snapshot.files)}
        yield from _of_files(bound, what, table, now)
    columns = frozenset(snapshot.schema.names if snapshot.schema else ())
    old_rows = looked.all(
        [path for path, *_ in old_files(folder)], partial(old_file_says, table, columns, meant)
    )
    yield from _of_files(bound, "old versions", table, old_rows)
    old = old_commits(folder, snapshot.version)
    log = [path for path in ascending((folder / "_delta_log").glob("*")) if is_of_log(path)]
    counts = looked.all(log, lambda path, keys: log_says(path, keys, meant))
    of_old = {path: counts.pop(path) for path in log if path in old}
    yield from _of_files(bound, "old versions", f"{table}/_delta_log", of_old)
    bounds = looked.all(manifests_of(folder), partial(bounds_that_tell, folder, meant))
    yield from _of_files(bound, "bounds in a mirror", table, bounds)
    yield from _of_files(bound, "names in the log", table, counts)


def _of_files(bound: Bound, what: str, table: str, counts: dict[AnyPath, int]) -> Iterator[Trace]:
    """The trace of some files, by place: that of a table, or their folders."""
    by_place: dict[str, list[AnyPath]] = {}
    for path, count in counts.items():
        if count:
            by_place.setdefault(
                relative(bound.table(table) if table else path.parent, bound.root), []
            ).append(path)
    for place, paths in by_place.items():
        yield Trace(
            what, place, sum(counts[path] for path in paths), len(paths), sum(_size(path) for path in paths)
        )


def _size(path: AnyPath) -> int:
    """The bytes of a file; 0 of a file that a run has removed meanwhile."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def undecided(bound: Bound) -> list[str]:
    """The columns of a state in which a key cannot be told from what is stored: hashes, sketches, and values
    of a user's own aggregates.
    """
    places = [
        f"{bound.state}/{table}: hashes" for table in (IDS, LOOKED_UP) if bound.store.snapshot(table).files
    ]
    for table in tables_below(bound):
        schema = bound.store.snapshot(table).schema or pa.schema([])
        place = relative(bound.table(table), bound.home)
        places += [
            f"{place}: {each.name} ({'result' if is_of_windows(table) else 'state'} in bytes)"
            for each in schema
            if pa.types.is_binary(each.type) or pa.types.is_large_binary(each.type)
        ]
    return places
