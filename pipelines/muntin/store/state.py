"""The state folder of a pipeline, `<root>/<pipeline>/<fingerprint>/`, and the file that says which pipeline
owns it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from uuid import uuid4

from muntin.errors import StateError
from muntin.files.paths import AnyPath, folders_in
from muntin.store.disk import refused, write_whole
from muntin.store.paths import digest_of

DAG_ENDS = ".forget_keys"
"""The end of the name of the DAG that forgets, behind that of the pipeline.

Who may read this DAG may see what was forgotten.
"""
OWNER_FILE = "muntin.json"
FORMAT = 1
"""Of the states that this Muntin reads and writes. A change of what lies on the disk counts it up."""
TOPICS = "topics"
"""The folder of the offsets that batches of topics hold, below that of the pipeline."""
WINDOWS = "windows"
"""The folder of the tables that readers know, below that of the pipeline."""
ROWS = "rows"
"""The folder of the rows that functions gave, below that of the pipeline."""
UMASK = "MUNTIN_UMASK"
FORGOTTEN = "forgotten"
"""The folder that tells which keys are forgotten, below that of the pipeline."""
FORGOTTEN_COPY = ".forgotten"
"""The folder with the same files once more."""
NO_STATES = (WINDOWS, TOPICS, ROWS, FORGOTTEN, FORGOTTEN_COPY)
"""The folders below that of a pipeline that are no states."""
_OWNER_ALONE, _DIGEST = "077", "digest"


def states_of(home: AnyPath) -> list[AnyPath]:
    """The states in the folder of a pipeline, one for each definition."""
    return [folder for folder in folders_in(home) if folder.name not in NO_STATES]


def claim(pipeline: str, state: AnyPath) -> None:
    """Make the folder of a state, and mark the folder above it as the pipeline's.

    Folders are made for their owner alone, unless `MUNTIN_UMASK` says whom else they are for. A folder that
    exists stays as it is.
    """
    claim_home(pipeline, state.parent)
    try:
        _make(state, 0o777 & ~_umask())
    except OSError as wrong:
        raise refused(str(state), wrong) from wrong


def claim_home(pipeline: str, home: AnyPath) -> None:
    """Make the folder of a pipeline, and mark it as its own."""
    mode, owner_file = 0o777 & ~_umask(), home / OWNER_FILE
    try:
        # written whole, and before all else in the folder: two runs may begin at once
        if not owner_file.exists():
            _make(home.parent, mode)
            draft = home.with_name(f".{pipeline}.{uuid4().hex}")
            write_whole(draft, _mark({"format": FORMAT, "pipeline": pipeline}))
            _make(home, mode)
            draft.replace(owner_file)  # type: ignore[arg-type]
    except OSError as wrong:
        raise refused(str(home), wrong) from wrong


def give_to(home: AnyPath, pipeline: str, before: str) -> None:
    """Mark the folder of a renamed pipeline as its own, if it is marked with the name before."""
    facts = _facts(home)
    if facts and facts["pipeline"] == before:
        write_whole(home / OWNER_FILE, _mark(facts | {"pipeline": pipeline}))


def claim_anew(home: AnyPath, pipeline: str, newest: int) -> None:
    """Mark the folder of a pipeline as its own where the mark is gone or damaged; a mark that can be read
    stays.

    `newest`: the number of the newest event of its memory of forgotten keys.
    """
    with suppress(_DamagedMarkError):
        if _facts(home) is not None:
            return
    write_whole(home / OWNER_FILE, _mark({"format": FORMAT, "pipeline": pipeline, FORGOTTEN: newest}))


def mark_after(content: bytes | None, newest: int) -> bytes | None:
    """The content of a mark that says the number of the newest event, so that its loss is noticed; None: it
    is damaged, or says so.
    """
    try:
        facts = json.loads(content or b"")
        return _mark(facts | {FORGOTTEN: newest}) if facts.get(FORGOTTEN, 0) < newest else None
    except (ValueError, AttributeError, TypeError):
        return None


def newest_marked(home: AnyPath) -> int:
    """The number of the newest event that the mark of a folder says; 0: it says none."""
    return int((_facts(home) or {}).get(FORGOTTEN, 0))


def problem_of_mark(home: AnyPath) -> str | None:
    """The problem of the file that marks a folder as a pipeline's; None: it can be read."""
    try:
        return None if _facts(home) is not None else "is gone"
    except _DamagedMarkError:
        return "is damaged: it does not say whose the folder is"


class _DamagedMarkError(StateError):
    """A mark that cannot be read."""


def _mark(facts: Mapping[str, Any]) -> bytes:
    """The content of a mark, with its digest."""
    plain = {name: fact for name, fact in facts.items() if name != _DIGEST}
    return (json.dumps(plain | {_DIGEST: _digest(plain)}) + "\n").encode()


def _digest(facts: Mapping[str, Any]) -> str:
    return digest_of(json.dumps(facts, sort_keys=True).encode())


def _facts(home: AnyPath) -> dict[str, Any] | None:
    """The facts of a mark; None: there is none."""
    owner_file = home / OWNER_FILE
    if not owner_file.is_file():  # a question that is not asked for long: nobody may answer
        return None
    try:
        facts = json.loads(owner_file.read_bytes())
        digest = facts.pop(_DIGEST)
        _ = int(facts["format"]), facts["pipeline"]
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as wrong:
        raise _damaged(owner_file, str(wrong)) from wrong
    if digest != _digest(facts):
        raise _damaged(owner_file, "its digest is not that of what it says")
    return facts  # type: ignore[no-any-return]


def _damaged(owner_file: AnyPath, problem: str) -> StateError:
    return _DamagedMarkError(
        f"{owner_file} cannot be read ({problem}); muntin doctor --mend FILE writes it anew, if a state of"
        " this definition lies beside it"
    )


def _umask() -> int:
    """The bits that are removed from the modes of new folders."""
    text = os.environ.get(UMASK) or _OWNER_ALONE
    if not re.fullmatch("[0-7]{1,4}", text):
        raise StateError(
            f"{UMASK}: {text!r} is no mask of a file mode; write octal digits, as 027 for a group that may"
            " read"
        )
    return int(text, 8) & 0o077


def _make(folder: AnyPath, mode: int) -> None:
    """Make a folder and the folders above it. No other user enters it before it has its mode."""
    try:
        folder.mkdir(mode=0o700, parents=True)
    except FileExistsError:
        return
    folder.chmod(mode)


def check_owner(home: AnyPath, name: str, before: str | None = None) -> None:
    """Check that a folder can be, or is, that of a pipeline. `before`: its earlier name, which it may be
    marked with.
    """
    facts = _facts(home)
    if facts is None:
        foreign = (
            [path.name for path in home.iterdir() if not path.name.startswith(".")] if home.is_dir() else []
        )
        if foreign and not (home / OWNER_FILE).exists():  # another first run may have written it meanwhile
            raise StateError(
                f"{home} holds something that is not Muntin's (there is no {OWNER_FILE}); give another root, "
                f"or, if it is the state of {name!r}: muntin doctor --mend FILE writes {home / OWNER_FILE}"
                " anew"
            )
        return
    version = int(facts["format"])
    owner = facts["pipeline"]
    if version != FORMAT:
        raise StateError(
            f"{home} has state format {version}, and this Muntin knows format {FORMAT}; "
            f"use a Muntin that knows format {version}, or give another root and read the source again"
        )
    if owner not in (name, before):
        raise StateError(
            f"{home} is the state of pipeline {owner!r}, not of {name!r}; give another root or the pipeline"
            " its own name"
        )
