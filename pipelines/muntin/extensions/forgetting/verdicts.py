"""Verdicts of suites, without values of forgotten keys."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from muntin.extensions.forgetting.texts import without
from muntin.files.readable import opened
from muntin.jobs.records.verdicts_table import TABLE, write_verdicts
from muntin.store.reading import read_files
from muntin.store.store import Change, after_conflicts

if TYPE_CHECKING:
    from muntin.files.paths import AnyPath
    from muntin.jobs.state.bound import Bound
    from muntin.states.forgotten_keys import Plain

_TRIES = 20
_TEXTS = ("verdict", "observed_value", "error")


def texts_in(table: str, path: AnyPath, keys: Plain) -> int:
    """How many rows of a file of verdicts tell of some keys; 0 of any other table."""
    if table != TABLE:
        return 0
    with opened(path) as file:
        rows = file.read([*_TEXTS])
    return sum(
        row != clean for row, clean in zip(rows.to_pylist(), _clean(rows, keys).to_pylist(), strict=True)
    )


def verdicts_without(bound: Bound, keys: Plain) -> None:
    """Overwrite the values of keys in the table of verdicts.

    Raises:
        StateError: a file is damaged, or the disk refuses.
    """
    folder = bound.table(TABLE)
    for attempt in after_conflicts(
        _TRIES, f"{folder}: other runs keep writing verdicts; run again when they are done"
    ):
        with attempt:
            base = bound.store.snapshot(TABLE)
            old = [file for file in base.files if texts_in(TABLE, folder / file.path, keys)]
            if old and base.schema is not None:
                rows = (read_files(folder, replace(base, files=(file,))) for file in old)
                new = [write_verdicts(_clean(each, keys), folder) for each in rows]
                bound.store.commit(TABLE, base, Change(base.schema, new, old, []))


def _clean(rows: pa.Table, keys: Plain) -> pa.Table:
    for name in _TEXTS:
        texts = [
            None if text is None else without(text, keys).rstrip("\n") for text in rows[name].to_pylist()
        ]
        rows = rows.set_column(
            rows.column_names.index(name), rows.schema.field(name), pa.array(texts, pa.string())
        )
    return rows
