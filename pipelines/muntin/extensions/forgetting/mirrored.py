"""Bounds in the own files of mirrors that tell of some keys: a key may be the least or the greatest of a file
of windows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from muntin.definition.extras import is_installed
from muntin.extensions.forgetting.contents import UnreadableError, file_says
from muntin.files.paths import sizes_below
from muntin.jobs.published.mirrors import METADATA
from muntin.registry import extension
from muntin.states.forgotten_keys import text_of_value

if TYPE_CHECKING:
    from muntin.files.paths import AnyPath
    from muntin.states.forgotten_keys import Plain


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
