"""Which mirrors name the files of a table of windows: a small note beside its log, so that whoever removes
files asks them first.
"""

from __future__ import annotations

import json
from hashlib import sha256

from muntin.errors import StateError
from muntin.files.paths import AnyPath, names_in, remove_folder
from muntin.jobs.state.notes import rewrite

FOLDER = "_sinks"  # readers of Delta pass folders by that begin with a low line
METADATA = "_iceberg"
"""The folder of the own files of mirrors, below the table of windows: readers of Delta pass it by."""
_SUFFIX = ".mirror"


def note_mirror(table: AnyPath, catalog: str, name: str) -> None:
    """Note that a table of a catalog mirrors a table of windows; before the first snapshot names a file."""
    path, text = _note(table, catalog, name)
    rewrite(path, lambda _: text)


def problem_of_note(table: AnyPath, catalog: str, name: str) -> tuple[str, str] | None:
    """The path of the note, and what is wrong with it; None: it is whole."""
    path, text = _note(table, catalog, name)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return str(path), "is gone: it says which mirror names files of the table"
    return (
        None
        if content == text
        else (str(path), "is damaged: it does not say which mirror names files of the table")
    )


def is_filled(table: AnyPath, catalog: str, name: str, own: str) -> bool:
    """Whether a mirror was begun: a note says so, or it has files of its own. `own`: their folder."""
    return _note(table, catalog, name)[0].exists() or bool(names_in(own))


def _note(table: AnyPath, catalog: str, name: str) -> tuple[AnyPath, bytes]:
    text = json.dumps({"catalog": catalog, "table": name}).encode()
    return table / FOLDER / f"{sha256(text).hexdigest()[:12]}{_SUFFIX}", text


def without_history(table: AnyPath) -> None:
    """Remove the own files of all mirrors of a table of windows: the next run makes each again, without
    earlier snapshots.

    What manifests say of files has the ends of their keys, and snapshots name files that are to go.
    """
    if mirrors_of(table):
        remove_folder(table / METADATA)


def mirrors_of(table: AnyPath) -> list[tuple[str, str]]:
    """The mirrors that a table of windows has, or had: catalog and table; StateError if a note is damaged."""
    return [_noted(table / FOLDER / name) for name in names_in(str(table / FOLDER)) if name.endswith(_SUFFIX)]


def _noted(path: AnyPath) -> tuple[str, str]:
    try:
        content = path.read_bytes()
        facts = json.loads(content)
        if path.name == f"{sha256(content).hexdigest()[:12]}{_SUFFIX}":
            return str(facts["catalog"]), str(facts["table"])
    except (ValueError, KeyError, TypeError):
        pass
    raise StateError(
        f"{path} is damaged: it says which mirror names files of the table; muntin doctor --mend FILE writes"
        " it anew"
    )
