"""Texts beside the tables of a state that may tell of a key: verdicts, messages that wait, notes on sinks and
on runs that failed.

They are JSON. A value of a key in them is overwritten; the rest stays.

Verdicts of suites, without values of forgotten keys.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa

from muntin.extensions.forgetting.contents import file_says
from muntin.files.paths import AnyPath, sizes_below
from muntin.files.readable import opened
from muntin.jobs.published.mirrors import METADATA
from muntin.jobs.published.staged_windows import STAGED_FILE
from muntin.jobs.records.verdicts import TABLE, write_verdicts
from muntin.jobs.state.bound import Bound
from muntin.jobs.state.notes import rewrite
from muntin.states.forgotten_keys import Plain, text_of_value, word_of
from muntin.store.reading import read_files
from muntin.store.state import WINDOWS
from muntin.store.store import Change, after_conflicts

IN_PLACE = "(forgotten)"


def texts_of(bound: Bound) -> Iterator[AnyPath]:
    """The files of JSON in folders below a state and the tables that readers know.

    Logs of tables, ledgers that are staged and what a catalog has of mirrors are none of them: to overwrite a
    word there would break them.
    """
    for folder in (bound.folder, bound.home / WINDOWS):
        for path, _, _ in sizes_below(folder):
            own = (
                path.parent == folder or path.parent.name == "_delta_log" or METADATA in str(path).split("/")
            )
            if ".json" in path.name and path.name != STAGED_FILE and not own:
                yield path


def tells_of(path: AnyPath, keys: Plain) -> bool:
    """Whether a file of JSON tells of a key. A run may have removed or renamed it meanwhile."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        text = ""
    except UnicodeDecodeError:  # packed, or no text
        return file_says(path, keys) > 0
    return without(text, keys) != text or file_says(path, keys) > 0


def overwrite(path: AnyPath, keys: Plain) -> bool:
    """Overwrite the values of keys in a file of JSON; whether there were any. What is no text stays.

    Raises:
        StateError: the disk refuses.
    """
    other = False

    def changed(content: bytes | None) -> bytes | None:
        nonlocal other
        try:
            text = (content or b"").decode()
        except UnicodeDecodeError:  # packed, or no text
            return None
        new = without(text, keys)
        other = new != text
        return new.encode() if other else None

    if tells_of(path, keys):
        rewrite(path, changed)
    return other


def without(text: str, keys: Plain) -> str:
    """A text of JSON, or of words, with the values of keys overwritten."""
    try:
        before = json.loads(text)
    except ValueError:
        return _overwritten(text, "", keys)
    after = _clean(before, "", keys)
    return text if after == before else json.dumps(after) + "\n"


def _clean(value: Any, name: str, keys: Plain) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, dict):
        return {_overwritten(key, "", keys): _clean(each, key, keys) for key, each in value.items()}
    if isinstance(value, list):
        return [_clean(each, name, keys) for each in value]
    if isinstance(value, str):
        return _overwritten(value, name, keys)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return IN_PLACE if is_number and _is_of(text_of_value(value), name, keys) else value


def _is_of(text: str, name: str, keys: Plain) -> bool:
    """Whether a value is that of a column of a key."""
    return any((name, text) in key for key in keys.keys)


def _overwritten(text: str, name: str, keys: Plain) -> str:
    """A text with the values of keys overwritten, each as a whole word."""
    if _is_of(text, name, keys):
        return IN_PLACE
    for value in keys.texts:
        text = word_of(value).sub(IN_PLACE, text)
    return text


_TRIES = 20
_TEXTS = ("verdict", "observed_value", "error")


def texts_in(table: str, path: AnyPath, keys: Plain) -> int:
    """How many rows of a file of verdicts tell of some keys; 0 of any other table."""
    if table != TABLE:
        return 0
    with opened(path) as file:
        rows = file.read([*_TEXTS])
    return sum(
        row != clean for row, clean in zip(rows.to_pylist(), _clean_rows(rows, keys).to_pylist(), strict=True)
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
                new = [write_verdicts(_clean_rows(each, keys), folder) for each in rows]
                bound.store.commit(TABLE, base, Change(base.schema, new, old, []))


def _clean_rows(rows: pa.Table, keys: Plain) -> pa.Table:
    for name in _TEXTS:
        texts = [
            None if text is None else without(text, keys).rstrip("\n") for text in rows[name].to_pylist()
        ]
        rows = rows.set_column(
            rows.column_names.index(name), rows.schema.field(name), pa.array(texts, pa.string())
        )
    return rows
