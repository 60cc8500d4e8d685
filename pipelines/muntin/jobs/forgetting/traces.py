"""Traces: what lies where of some keys, below the folder of a pipeline. Every file is looked into, and all that can be decoded is.

Where a value cannot be told from what is stored, as from a sketch or a hash, the place is named.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc

from muntin.errors import StateError
from muntin.files.pages import opened
from muntin.files.paths import ascending, relative, sizes_below
from muntin.jobs.forgetting.copies import COPIES, copies_of, rows_of_copy
from muntin.jobs.forgetting.mirrored import manifests_that_tell, unread
from muntin.jobs.forgetting.texts import tells_of, texts_of
from muntin.jobs.forgetting.verdicts import texts_in
from muntin.jobs.housekeeping.without_keys import may_tell, rows_among, rows_in_file, tells
from muntin.jobs.published.window_tables import is_of_windows
from muntin.states.column_ranges import ends
from muntin.store.log_checkpoint import old_commits, old_files
from muntin.store.paths import IDS, LOOKED_UP, QUARANTINE
from muntin.store.state import WINDOWS, states_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muntin.files.paths import AnyPath
    from muntin.jobs.state.bound import Bound
    from muntin.states.forgotten_keys import Plain


@dataclass(frozen=True, slots=True)
class Trace:
    """Files of one place that hold something of the keys.

    Attributes:
        what: rows, old versions, texts, values (of rows of other keys), bounds in a mirror, names in a log, or copies of the
            user's own tables.
        place: a table or a folder, below the root.
        rows: so many.
        files, bytes: of the files that hold them.
    """

    what: str
    place: str
    rows: int
    files: int
    bytes: int


def states_below(bound: Bound) -> list[Bound]:
    """The states of a pipeline under all its definitions, the present state first; each as if it were of the present definition."""
    folders = sorted(states_of(bound.home), key=lambda folder: folder != bound.folder)
    return [replace(bound, folder=folder, given=None) for folder in folders]


def tables_below(bound: Bound) -> Iterator[str]:
    """The tables of a state, and the tables that readers know, by their names below the state."""
    for folder, prefix in ((bound.folder, ""), (bound.home / WINDOWS, f"../{WINDOWS}/")):
        for log in ascending(folder.rglob("_delta_log")):
            yield prefix + relative(log.parent, folder)


def all_traces(bound: Bound, keys: Plain) -> list[Trace]:
    """Traces of some keys in all states of a pipeline and in the tables that readers know.

    Raises:
        StateError: a file cannot be read.
    """
    return list(dict.fromkeys(trace for state in states_below(bound) for trace in traces(state, keys)))


def traces(bound: Bound, keys: Plain) -> list[Trace]:
    """Traces of some keys in one state and in the tables that readers know.

    Raises:
        StateError: a file cannot be read.
    """
    found = [trace for table in tables_below(bound) for trace in _of_table(bound, table, keys)]
    known = {path for table in tables_below(bound) for path, *_ in sizes_below(bound.table(table))}
    copies = {path: _rows_in_copy(bound, path, keys) for path in copies_of(bound)}
    found += _of_files(bound, COPIES, "", copies)
    loose = [path for path, *_ in sizes_below(bound.folder) if path not in {*known, *copies} and path.suffix == ".parquet"]
    found += _of_files(bound, "rows", "", {path: _rows_of(path, "", keys) for path in loose})
    found += _of_files(bound, "texts", "", {path: int(tells_of(path, keys)) for path in texts_of(bound)})
    return [trace for trace in found if trace.files]


def _of_table(bound: Bound, table: str, keys: Plain) -> Iterator[Trace]:
    folder = bound.table(table)
    now = [folder / file.path for file in bound.store.snapshot(table).files if file.rows]
    yield from _of_files(bound, "rows", table, {path: _rows_of(path, table, keys) for path in now})
    if table != QUARANTINE:
        yield from _of_files(bound, "values", table, {path: _values_in(path, keys) for path in now})
    yield from _of_files(bound, "texts", table, {path: texts_in(path, table, keys) for path in now})
    old_rows = {path: _rows_of(path, table, keys) + texts_in(path, table, keys) for path, *_ in old_files(folder)}
    yield from _of_files(bound, "old versions", table, old_rows)
    old = old_commits(folder, bound.store.snapshot(table).version)
    log = [path for path in ascending((folder / "_delta_log").glob("*")) if path.is_file()]
    told = {path: int(log_tells(path, keys)) for path in log}
    yield from _of_files(bound, "old versions", f"{table}/_delta_log", {path: count for path, count in told.items() if path in old})
    yield from _of_files(bound, "bounds in a mirror", table, manifests_that_tell(folder, keys))
    yield from _of_files(bound, "names in the log", table, {path: count for path, count in told.items() if path not in old})


def _of_files(bound: Bound, what: str, table: str, counts: dict[AnyPath, int]) -> Iterator[Trace]:
    """The trace of some files, by place: that of a table, or their folders."""
    by_place: dict[str, list[AnyPath]] = {}
    for path, count in counts.items():
        if count:
            by_place.setdefault(relative(bound.table(table) if table else path.parent, bound.root), []).append(path)
    for place, paths in by_place.items():
        yield Trace(what, place, sum(counts[path] for path in paths), len(paths), sum(_size(path) for path in paths))


def _size(path: AnyPath) -> int:
    """The bytes of a file; 0 of a file that a run has removed meanwhile."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _rows_of(path: AnyPath, table: str, keys: Plain) -> int:
    try:
        return rows_in_file(str(path), table, keys)
    except (OSError, pa.ArrowException) as wrong:
        raise _unreadable(path, wrong) from wrong


def _rows_in_copy(bound: Bound, path: AnyPath, keys: Plain) -> int:
    try:
        rows = rows_of_copy(bound, path)
    except FileNotFoundError:
        return 0
    except (OSError, pa.ArrowException) as wrong:
        raise _unreadable(path, wrong) from wrong
    return int(rows_among("", rows, keys).sum()) + _other_values(rows, keys)


def _unreadable(path: AnyPath, wrong: Exception) -> StateError:
    return StateError(f"{path} cannot be read ({wrong}), so that nobody can tell what it holds; ask muntin doctor FILE")


def _values_in(path: AnyPath, keys: Plain) -> int:
    """How many rows of other keys hold a value of a key in a text: in a column of texts, or inside of lists and structs."""
    own = {name for key in keys.keys for name, _ in key}
    with opened(path) as file:
        texts = [each.name for each in file.schema_arrow if _may_hold(each.type) and each.name not in own]
        rows = file.read([*texts, *(name for name in file.schema_arrow.names if name in own)]) if texts else pa.table({})
    return _other_values(rows, keys)


def _other_values(rows: pa.Table, keys: Plain) -> int:
    """How many values are or contain a text of a key, in rows of other keys and columns of no key."""
    own = {name for key in keys.keys for name, _ in key}
    texts = [each.name for each in rows.schema if _may_hold(each.type) and each.name not in own]
    others = rows.filter(pa.array(~rows_among("", rows, keys))) if texts else rows
    return sum(_holds(others[name], keys) for name in texts)


def _may_hold(kind: pa.DataType) -> bool:
    """Whether values of a type may be or contain texts."""
    return pa.types.is_nested(kind) or pa.types.is_dictionary(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind)


def _holds(column: pa.ChunkedArray, keys: Plain) -> int:
    """How many values of a column are or contain a text of a key. Numbers are not compared: 42 of them is no user 42."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        asked = pa.array([text for text in keys.texts if not text.isdigit()], column.type)
        return int(pc.sum(pc.is_in(column, asked)).as_py() or 0)
    if pa.types.is_nested(column.type):
        return sum(_nested(value, keys) for value in column.to_pylist())
    return 0


def _nested(value: Any, keys: Plain) -> bool:  # noqa: ANN401 - as Arrow has it
    if isinstance(value, dict):
        return any(_nested(each, keys) for each in value.values())
    if isinstance(value, list | tuple):
        return any(_nested(each, keys) for each in value)
    return isinstance(value, str) and not value.isdigit() and value in keys.texts


def log_tells(path: AnyPath, keys: Plain) -> bool:
    """Whether a file of a log tells of a key: a range of a column begins or ends with it.

    The begin of a long text counts where its file is gone: of a file that is there, its rows are looked through.
    """
    if path.suffix == ".parquet":
        with opened(path) as file:
            adds = [each for each in file.read(["add"])["add"].to_pylist() if each]
    elif path.suffix == ".json":
        actions = [json.loads(line) for line in path.read_bytes().splitlines() if line.strip()]
        adds = [action["add"] for action in actions if "add" in action]
    else:
        return False
    return any(_add_tells(each, path.parent.parent, keys) for each in adds)


def _add_tells(add: dict[str, Any], table: AnyPath, keys: Plain) -> bool:
    told = [(name, end) for name, found in ends(add.get("stats")).items() for end in found]
    if any(may_tell(*each, keys) for each in told) and not (table / unquote(add["path"])).exists():
        return True
    return any(tells(*each, keys) for each in told)


def undecided(bound: Bound) -> list[str]:
    """The columns of a state in which a key cannot be told from what is stored: hashes, sketches, and values of a user's own aggregates."""
    found = [f"{bound.state}/{table}: hashes" for table in (IDS, LOOKED_UP) if bound.store.snapshot(table).files]
    for table in tables_below(bound):
        schema = bound.store.snapshot(table).schema or pa.schema([])
        kinds = {each.name: each.type for each in schema if pa.types.is_binary(each.type) or pa.types.is_large_binary(each.type)}
        place = relative(bound.table(table), bound.home)
        found += (
            [f"{place}: manifests of a mirror in Iceberg; pip install 'muntin[iceberg]' reads them"] if unread(bound.table(table)) else []
        )
        found += [f"{place}: {name} ({'result' if is_of_windows(table) else 'state'} in bytes)" for name in kinds]
    return found
