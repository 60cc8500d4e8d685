"""Bounds in the own files of mirrors that tell of some keys: a key may be the least or the greatest of a file of windows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.definition.extras import is_installed
from muntin.errors import StateError
from muntin.files.paths import sizes_below
from muntin.sinks.mirrors.bounds import bounds_of, is_cut_from
from muntin.sinks.mirrors.mirror import METADATA
from muntin.states.forgotten_keys import text_of_value

if TYPE_CHECKING:
    from muntin.files.paths import AnyPath
    from muntin.states.forgotten_keys import Plain


def manifests_that_tell(table: AnyPath, keys: Plain) -> dict[AnyPath, int]:
    """The files of Avro below a table of windows, each with how many of its bounds tell of some keys.

    A bound has the first characters of a long text alone. Where its file of windows is there, that file tells whose they are; where it is
    gone, they count.

    Raises:
        StateError: a file is damaged.
    """
    texts: dict[str, set[str]] = {}
    for key in keys.keys:
        if len(key) == 1:  # one of several columns alone is others' as well
            texts.setdefault(key[0][0], set()).add(key[0][1])
    return {path: _bounds_that_tell(path, table, texts) for path in _manifests(table)} if texts and _can_read() else {}


def unread(table: AnyPath) -> bool:
    """Whether there are manifests that nobody can read here, as pyiceberg is not installed."""
    return not _can_read() and bool(_manifests(table))


def _can_read() -> bool:
    return is_installed("pyiceberg") and is_installed("fastavro")


def _manifests(table: AnyPath) -> list[AnyPath]:
    return [path for path, *_ in sizes_below(table / METADATA) if path.suffix == ".avro"]


def _bounds_that_tell(path: AnyPath, table: AnyPath, texts: dict[str, set[str]]) -> int:
    try:
        bounds = [each for each in bounds_of(path.read_bytes()) if each[1] in texts]
    except FileNotFoundError:
        return 0
    except Exception as wrong:  # whatever the two libraries raise of a damaged file
        raise StateError(f"{path} cannot be read ({wrong}); let the mirror be made again: muntin sinks FILE --send --anew") from wrong
    whole = sum(text_of_value(bound) in texts[column] for _, column, bound in bounds)
    cut = {file for file, column, bound in bounds for text in texts[column] if is_cut_from(bound, text)}
    return whole + sum(not (table / file.rpartition(f"/{table.name}/")[2]).exists() for file in cut)
