"""Which mirrors name the files of a table of windows: a small note beside its log, so that whoever removes files asks them first."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING

from muntin.files.paths import names_in, remove_folder
from muntin.sinks.mirrors.mirror import METADATA
from muntin.store.disk import write_whole

if TYPE_CHECKING:
    from muntin.files.paths import AnyPath

FOLDER = "_sinks"  # readers of Delta pass folders by that begin with a low line
_SUFFIX = ".mirror"


def note_mirror(table: AnyPath, catalog: str, name: str) -> None:
    """Note that a table of a catalog mirrors a table of windows; before the first snapshot names a file.

    Raises:
        StateError: the disk refuses.
    """
    text = json.dumps({"catalog": catalog, "table": name}).encode()
    path = table / FOLDER / f"{sha256(text).hexdigest()[:12]}{_SUFFIX}"
    if not path.exists():
        write_whole(path, text)


def without_history(table: AnyPath) -> None:
    """Remove the own files of all mirrors of a table of windows: the next run makes each again, without earlier snapshots.

    What manifests say of files has the ends of their keys, and snapshots name files that are to go.
    """
    if mirrors_of(table):
        remove_folder(table / METADATA)


def mirrors_of(table: AnyPath) -> list[tuple[str, str]]:
    """The mirrors that a table of windows has, or had: catalog and table."""
    names = [name for name in names_in(str(table / FOLDER)) if name.endswith(_SUFFIX)]
    facts = [json.loads((table / FOLDER / name).read_text(encoding="utf-8")) for name in names]
    return [(str(each["catalog"]), str(each["table"])) for each in facts]
