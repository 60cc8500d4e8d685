"""Copies of a user's own tables: of dimensions, and of tables that say where windows lie. They are looked
through, and stay as they are.

A copy without the key would be another table than the user's: rows that look it up would find something else
than the table says.

Bounds in the own files of mirrors that tell of some keys: a key may be the least or the greatest of a file
of windows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from muntin.definition.extras import is_installed
from muntin.extensions.forgetting.contents import UnreadableError, file_says
from muntin.extensions.forgetting.table_files import other_values
from muntin.extensions.forgetting.without_keys import rows_among
from muntin.files.paths import AnyPath, sizes_below
from muntin.files.readable import opened
from muntin.jobs.published.mirrors import METADATA
from muntin.jobs.state.bound import Bound
from muntin.registry import extension
from muntin.states.forgotten_keys import Plain, text_of_value
from muntin.store.paths import DIMENSIONS, GIVEN

COPIES = "copies of your tables"
MEND = (
    f"{COPIES} are not written anew: take the key out of the table itself, run the pipeline, which makes a"
    " new copy, remove the old one by muntin maintain --root ROOT --older-than 1h, and forget again"
)


def copies_of(bound: Bound) -> Iterator[AnyPath]:
    """The files of a state that are copies."""
    for folder in (DIMENSIONS, GIVEN):
        yield from (path for path, *_ in sizes_below(bound.folder / folder) if path.suffix == ".parquet")


def copy_says(bound: Bound, path: AnyPath, keys: Plain) -> int:
    """How many rows of a copy are of some keys, or hold a value of them."""
    rows = _rows_of_copy(bound, path)
    return int(rows_among("", rows, keys).sum()) + other_values(rows, keys)


def _rows_of_copy(bound: Bound, path: AnyPath) -> pa.Table:
    """The rows of a copy: of a dimension its keys, by the names of the columns of events that look them up,
    and its other columns as one.

    Raises:
        OSError, pa.ArrowInvalid: it is gone or damaged.
    """
    with opened(path) as file:
        rows = file.read()
    lookup: Any = (
        bound.pipeline.lookups.get(path.name.rpartition("_")[0]) if path.parent.name == DIMENSIONS else None
    )
    if not lookup:
        return rows
    names = [f"k{number}" for number in range(len(lookup.keys))]
    return rows.select([*names, "value"]).rename_columns([*lookup.keys, ""])


def bounds_that_tell(table: AnyPath, meant: Plain, path: AnyPath, keys: Plain) -> int:
    """How many bounds in a manifest below a table of windows tell of some keys; of another file of Avro, how
    many records say them.

    A bound has the first characters of a long text alone. Where its file of windows is there, that file tells
    whose they are; where it is gone, they count. `meant`: the keys that the definition does not say itself.

    Raises:
        UnreadableError: pyiceberg is not installed.
        Exception: what the two libraries raise of a damaged file.
    """
    if not (is_installed("pyiceberg") and is_installed("fastavro")):
        raise UnreadableError("pip install 'muntin[iceberg]' reads it")
    mirrors: Any = extension("mirrors", "iceberg")
    texts: dict[str, set[str]] = {}
    for key in keys.keys:
        if len(key) == 1:  # one of several columns alone is others' as well
            texts.setdefault(key[0][0], set()).add(key[0][1])
    bounds = [each for each in mirrors.bounds_of(path.read_bytes()) if each[1] in texts]
    whole = sum(text_of_value(bound) in texts[column] for _, column, bound in bounds)
    cut = {
        file for file, column, bound in bounds for text in texts[column] if mirrors.is_cut_from(bound, text)
    }
    lost = sum(not (table / file.rpartition(f"/{table.name}/")[2]).exists() for file in cut)
    return whole + lost or file_says(path, meant)


def manifests_of(table: AnyPath) -> list[AnyPath]:
    """The files of Avro of the mirrors of a table of windows."""
    return [path for path, *_ in sizes_below(table / METADATA) if path.suffix == ".avro"]
