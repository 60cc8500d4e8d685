"""The state folder of a pipeline: `<root>/<pipeline>/<fingerprint>/`, and a note that says whose it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from pipelines.definition.frame_sets import FORMAT, fingerprint
from pipelines.errors import StateError
from pipelines.store.disk import refused, write_whole

if TYPE_CHECKING:
    from pipelines.definition.pipeline import Pipeline

NOTE = "muntin.json"


def state_folder(pipeline: Pipeline, root: str | Path) -> str:
    """The absolute path of the pipeline's state under this definition.

    Raises:
        StateError: the folder belongs to another pipeline, or a newer Muntin wrote it.
    """
    home = Path(root).absolute() / pipeline.name
    _check(home, pipeline.name)
    return str(home / fingerprint(pipeline))


def claim(pipeline: Pipeline, root: str | Path) -> str:
    """`state_folder`, made and marked as this pipeline's.

    Raises:
        StateError: as `state_folder`; or the folder cannot be made.
    """
    folder = Path(state_folder(pipeline, root))
    note = folder.parent / NOTE
    try:
        if not note.exists():  # whole, and the first thing in the folder: two runs may come at once
            draft = folder.parent.with_name(f".{pipeline.name}.{uuid4().hex}")
            write_whole(draft, (json.dumps({"format": FORMAT, "pipeline": pipeline.name}) + "\n").encode())
            note.parent.mkdir(exist_ok=True)
            draft.replace(note)
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as wrong:
        raise refused(str(folder), wrong) from wrong
    return str(folder)


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
