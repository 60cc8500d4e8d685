"""The state folder of a pipeline, `<root>/<pipeline>/<fingerprint>/`, and the file that says which pipeline owns it."""

from __future__ import annotations

import json
from pathlib import Path
from uuid import uuid4

from pipelines.errors import StateError
from pipelines.store.disk import refused, write_whole

OWNER_FILE = "muntin.json"
FORMAT = 1  # of the state


def state_folder(pipeline: str, fingerprint: str, root: str | Path) -> str:
    """The absolute path of the state of a pipeline under one definition.

    Raises:
        StateError: the folder belongs to another pipeline, or a newer Muntin wrote it.
    """
    home = Path(root).absolute() / pipeline
    _check(home, pipeline)
    return str(home / fingerprint)


def claim(pipeline: str, state: str) -> None:
    """Make the folder of a state, and mark the folder above it as the pipeline's.

    Raises:
        StateError: the folder cannot be made.
    """
    folder = Path(state)
    owner_file = folder.parent / OWNER_FILE
    try:
        if not owner_file.exists():  # written whole, and before all else in the folder: two runs may begin at once
            draft = folder.parent.with_name(f".{pipeline}.{uuid4().hex}")
            write_whole(draft, (json.dumps({"format": FORMAT, "pipeline": pipeline}) + "\n").encode())
            owner_file.parent.mkdir(exist_ok=True)
            draft.replace(owner_file)
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as wrong:
        raise refused(str(folder), wrong) from wrong


def _check(home: Path, name: str) -> None:
    owner_file = home / OWNER_FILE
    if not owner_file.exists():
        foreign = [path.name for path in home.iterdir() if not path.name.startswith(".")] if home.is_dir() else []
        if foreign and not owner_file.exists():  # another first run may have written it meanwhile
            raise StateError(f"{home} holds something that is not Muntin's (there is no {OWNER_FILE}); give another root")
        return
    try:
        facts = json.loads(owner_file.read_text(encoding="utf-8"))
        version, owner = int(facts["format"]), facts["pipeline"]
    except (ValueError, KeyError, TypeError) as wrong:
        raise StateError(f"{owner_file} cannot be read ({wrong}); give another root, or restore the file") from wrong
    if version > FORMAT:
        raise StateError(
            f"{home} has state format {version}, this Muntin knows formats up to {FORMAT}; upgrade Muntin, or give another root"
        )
    if owner != name:
        raise StateError(f"{home} is the state of pipeline {owner!r}, not of {name!r}; give another root or the pipeline its own name")
