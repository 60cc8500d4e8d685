"""Copies of a user's own tables: of dimensions, and of tables that say where windows lie. They are looked
through, and stay as they are.

A copy without the key would be another table than the user's: rows that look it up would find something else
than the table says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from muntin.extensions.forgetting.table_files import other_values
from muntin.extensions.forgetting.without_keys import rows_among
from muntin.files.paths import sizes_below
from muntin.files.readable import opened
from muntin.store.paths import DIMENSIONS, GIVEN

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from muntin.files.paths import AnyPath
    from muntin.jobs.state.bound import Bound
    from muntin.states.forgotten_keys import Plain

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
