"""The files of tables that say some keys: a file that the table holds, one that it does not hold any more, or
never did, and its log.
"""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc

from muntin.extensions.forgetting.contents import file_says, footer_says
from muntin.extensions.forgetting.said import says, values_of
from muntin.extensions.forgetting.texts import texts_in
from muntin.extensions.forgetting.without_keys import may_tell, rows_among, rows_in_file, tells
from muntin.files.paths import AnyPath
from muntin.files.readable import opened
from muntin.states.column_ranges import ends
from muntin.states.forgotten_keys import Plain

_OF_LOG = re.compile(r"\d{20}\.json|\d{20}\.checkpoint\.parquet|_last_checkpoint")
_FACTS = ("add", "remove", "metaData", "protocol", "txn")
"""Actions that say nothing of keys but in ranges."""


def is_of_log(path: AnyPath) -> bool:
    """Whether a file is one of a Delta log."""
    return path.parent.name == "_delta_log" and _OF_LOG.fullmatch(path.name) is not None


def values_in(path: AnyPath, keys: Plain) -> int:
    """How many rows of other keys hold a value of a key in a text: in a column of texts, or inside of lists
    and structs.
    """
    own = {name for key in keys.keys for name, _ in key}
    with opened(path) as file:
        texts = [each.name for each in file.schema_arrow if _may_hold(each.type) and each.name not in own]
        rows = (
            file.read([*texts, *(name for name in file.schema_arrow.names if name in own)])
            if texts
            else pa.table({})
        )
    return other_values(rows, keys)


def other_values(rows: pa.Table, keys: Plain) -> int:
    """How many values are or contain a text of a key, in rows of other keys and columns of no key."""
    own = {name for key in keys.keys for name, _ in key}
    texts = [each.name for each in rows.schema if _may_hold(each.type) and each.name not in own]
    others = rows.filter(pa.array(~rows_among("", rows, keys))) if texts else rows
    return sum(_holds(others[name], keys) for name in texts)


def _may_hold(kind: pa.DataType) -> bool:
    """Whether values of a type may be or contain texts."""
    return (
        pa.types.is_nested(kind)
        or pa.types.is_dictionary(kind)
        or pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
    )


def _holds(column: pa.ChunkedArray, keys: Plain) -> int:
    """How many values of a column are or contain a text of a key.

    Numbers are not compared: 42 of them is no user 42.
    """
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


def of_rows(table: str, path: AnyPath, keys: Plain) -> int:
    """How many rows of a file say some keys, as rows of a table: rows of the keys, else values in rows of
    other keys.
    """
    return rows_in_file(str(path), table, keys) or values_in(path, keys)


def old_file_says(table: str, columns: frozenset[str], meant: Plain, path: AnyPath, keys: Plain) -> int:
    """How many rows of a file that a table does not hold say some keys: rows of the keys, else rows and
    footer in full.

    Args:
        table: the name of the table.
        columns: of the table; a file with the same columns is a version of it, whose other columns are no
            keys.
        meant: the keys that the definition does not say itself.
        path: the file.
        keys: the keys.
    """
    try:
        rows = rows_in_file(str(path), table, keys) or texts_in(table, path, keys)
        with opened(path) as file:
            if not rows and columns == {*file.schema_arrow.names}:
                return int(footer_says(file, meant))
    except pa.ArrowException:  # it is no Parquet, whatever its name
        rows = 0
    return rows or file_says(path, keys)


def footer_of_file(path: AnyPath, keys: Plain) -> int:
    """Whether the footer of a file says some keys: 1 or 0."""
    with opened(path) as file:
        return int(footer_says(file, keys))


def log_says(path: AnyPath, keys: Plain, meant: Plain) -> bool:
    """Whether a file of a log tells of a key: a range of a column begins or ends with it, or what another
    tool says of its commit.

    The begin of a long text counts where its file is gone: of a file that is there, its rows are looked
    through.

    `meant`: the keys that the definition does not say itself.
    """
    if path.suffix == ".parquet":
        with opened(path) as file:
            names = [name for name in ("add", "remove") if name in file.schema_arrow.names]
            rows = file.read(names).to_pylist()
        return any(_told(each, path.parent.parent, keys) for row in rows for each in row.values() if each)
    if path.suffix != ".json":  # the hint to a checkpoint
        return says(values_of(json.loads(path.read_bytes())), meant, numbers=False)
    actions = [json.loads(line) for line in path.read_bytes().splitlines() if line.strip()]
    files = [action[kind] for action in actions for kind in ("add", "remove") if kind in action]
    more = [{kind: facts for kind, facts in action.items() if kind not in _FACTS} for action in actions]
    foreign = [each for each in more if each.get("commitInfo", {}).get("engineInfo") != "muntin"]
    return says(foreign, meant, numbers=False) or any(_told(each, path.parent.parent, keys) for each in files)


def _told(file: dict[str, Any], table: AnyPath, keys: Plain) -> bool:
    """Whether what a log says of a file tells of a key."""
    named_ends = [
        (name, end) for name, ends_of_column in ends(file.get("stats")).items() for end in ends_of_column
    ]
    if any(may_tell(*each, keys) for each in named_ends) and not (table / unquote(file["path"])).exists():
        return True
    return any(tells(*each, keys) for each in named_ends)
