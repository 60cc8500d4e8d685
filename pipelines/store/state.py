"""The state folder of a pipeline: `<root>/<pipeline>/<fingerprint>/`, and a note that says whose it is."""

from __future__ import annotations

import json
from pathlib import Path
from uuid import uuid4

from pipelines.errors import StateError
from pipelines.store.disk import refused, write_whole

NOTE = "muntin.json"
FORMAT = 1  # of the state


def state_folder(pipeline: str, fingerprint: str, root: str | Path) -> str:
    """The absolute path of the state of a pipeline of this name under a definition.

    Raises:
        StateError: the folder belongs to another pipeline, or a newer Muntin wrote it.
    """
    home = Path(root).absolute() / pipeline
    _check(home, pipeline)
    return str(home / fingerprint)


def claim(pipeline: str, state: str) -> None:
    """Make the folder of a state, and mark the one above it as the pipeline's.

    Raises:
        StateError: the folder cannot be made.
    """
    folder = Path(state)
    note = folder.parent / NOTE
    try:
        if not note.exists():  # whole, and the first thing in the folder: two runs may come at once
            draft = folder.parent.with_name(f".{pipeline}.{uuid4().hex}")
            write_whole(draft, (json.dumps({"format": FORMAT, "pipeline": pipeline}) + "\n").encode())
            note.parent.mkdir(exist_ok=True)
            draft.replace(note)
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as wrong:
        raise refused(str(folder), wrong) from wrong


def _check(home: Path, name: str) -> None:
    note = home / NOTE
    if not note.exists():
        foreign = [path.name for path in home.iterdir() if not path.name.startswith(".")] if home.is_dir() else []
        if foreign and not note.exists():  # another first run may have left it meanwhile
            raise StateError(f"{home} holds something that is not Muntin's (there is no {NOTE}); give another root")
        return
    try:
        facts = json.loads(note.read_text(encoding="utf-8"))
        found, owner = int(facts["format"]), facts["pipeline"]
    except (ValueError, KeyError, TypeError) as wrong:
        raise StateError(f"{note} cannot be read ({wrong}); give another root, or bring the note back") from wrong
    if found > FORMAT:
        raise StateError(f"{home} has state format {found}, this Muntin knows formats up to {FORMAT}; upgrade Muntin, or give another root")
    if owner != name:
        raise StateError(f"{home} is the state of pipeline {owner!r}, not of {name!r}; give another root or the pipeline its own name")
