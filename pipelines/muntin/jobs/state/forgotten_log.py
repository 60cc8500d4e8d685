"""The files of the memory of forgotten keys, each in two folders, so that the memory outlives the loss of one
of them.

<root>/<pipeline>/forgotten/000001.json
                 /.forgotten/000001.json    the same

A file that is missing or damaged in one folder is read from the other, and put back by the next command that
writes. The mark of the pipeline's folder says how many there are, so that the loss of the newest in both is
noticed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from muntin.definition.spelling import many
from muntin.errors import StateError
from muntin.files.paths import AnyPath, ascending
from muntin.jobs.state.notes import rewrite
from muntin.store.disk import refused, write_new, write_whole
from muntin.store.paths import digest_of
from muntin.store.state import FORGOTTEN, FORGOTTEN_COPY, OWNER_FILE, mark_after, newest_marked

_FOLDERS = (FORGOTTEN, FORGOTTEN_COPY)
_FORMAT = 3
"""In format 1, "done" was noted by versions that left keys in footers of files: it does not count. From
format 3 on, the digest says the number, too: no file stands for another.
"""
_MEND = (
    f"put it back from a backup, here or into the folder {FORGOTTEN_COPY} beside: without it nobody knows"
    " which keys are forgotten, and no batch is read"
)


def events_of(home: AnyPath) -> Iterator[Mapping[str, Any]]:
    """The events of a memory, oldest first.

    Raises:
        StateError: a file is missing or damaged in both folders.
    """
    newest, marked = newest_number(home), newest_marked(home)
    if newest < marked:
        raise StateError(
            f"{home / FORGOTTEN / _name(marked)} is gone, and {home / OWNER_FILE} says that"
            f" {many(marked, 'file')} were there; {_MEND}. If there is no backup: remove {home / OWNER_FILE},"
            " run muntin doctor --mend FILE, and forget the keys of your register again"
        )
    for number in range(1, newest + 1):
        yield _event(home, number)


def newest_number(home: AnyPath) -> int:
    """The number of the newest event; 0: there is none. No file is read."""
    return max(_files(home), default=0)


def add_event(home: AnyPath, number: int, event: Mapping[str, Any]) -> None:
    """Add the event of a number.

    Raises:
        FileExistsError: there is an event of this number.
        StateError: the disk refuses.
    """
    path, facts = home / FORGOTTEN / _name(number), {"format": _FORMAT, **event}
    try:
        write_new(path, (json.dumps({**facts, "digest": _digest(facts, number)}, indent=1) + "\n").encode())
    except FileExistsError:
        raise
    except OSError as wrong:
        raise refused(str(path), wrong) from wrong
    put_back(home)
    rewrite(home / OWNER_FILE, partial(mark_after, newest=number))


def lost_copies(home: AnyPath, *, deep: bool = False) -> Mapping[AnyPath, AnyPath]:
    """The files of the memory that one of its folders lacks -> the same file in the other.

    `deep`: also files that are damaged in one.
    """
    copies: dict[AnyPath, AnyPath] = {}
    for number, places in _files(home).items():
        whole = [path for path in places if not deep or _is_whole(path, number)]
        if len(whole) == 1:
            [lost] = {home / folder / _name(number) for folder in _FOLDERS} - {*whole}
            copies[lost] = whole[0]
    return copies


def put_back(home: AnyPath, *, deep: bool = False) -> tuple[AnyPath, ...]:
    """Write the files of the memory that one of its folders lacks; which. `deep`: also files that are damaged
    in one.

    Raises:
        StateError: the disk refuses.
    """
    lost = lost_copies(home, deep=deep)
    for path, whole in lost.items():
        write_whole(path, whole.read_bytes())
    return tuple(lost)


def _files(home: AnyPath) -> dict[int, list[AnyPath]]:
    """The number of each file that is there -> where it lies, in one folder or in both."""
    numbered: dict[int, list[AnyPath]] = {}
    for path in (path for folder in _FOLDERS for path in ascending((home / folder).glob("[0-9]*.json"))):
        if path.stem.isdigit():
            numbered.setdefault(int(path.stem), []).append(path)
    return numbered


def _event(home: AnyPath, number: int) -> Mapping[str, Any]:
    """The event of a number, from the first folder that has it whole."""
    first, *more = (home / folder / _name(number) for folder in _FOLDERS)
    try:
        return _read(first, number)
    except StateError:
        whole = next((path for path in more if _is_whole(path, number)), None)
        if whole is None:
            raise
        return _read(whole, number)


def is_of_memory(path: AnyPath) -> bool:
    """Whether a file is a whole one of a memory, which holds hashes of keys alone."""
    return (
        path.parent.name in _FOLDERS
        and path.suffix == ".json"
        and path.stem.isdigit()
        and _is_whole(path, int(path.stem))
    )


def _is_whole(path: AnyPath, number: int) -> bool:
    try:
        return bool(_read(path, number))
    except StateError:
        return False


def _read(path: AnyPath, number: int) -> Mapping[str, Any]:
    try:
        event = json.loads(path.read_bytes())
        newer, digest = event["format"] > _FORMAT, event.pop("digest")
    except (OSError, ValueError, LookupError, AttributeError, TypeError) as wrong:
        raise StateError(f"{path} cannot be read ({wrong}); {_MEND}") from wrong
    if newer:
        raise StateError(
            f"{path} has format {event['format']}, and this Muntin knows format {_FORMAT}; use a newer Muntin"
        )
    if digest != _digest(event, number):
        raise StateError(f"{path} is damaged; {_MEND}")
    return event  # type: ignore[no-any-return]


def _name(number: int) -> str:
    return f"{number:06d}.json"


def _digest(event: Mapping[str, Any], number: int) -> str:
    text = json.dumps(event, sort_keys=True)
    return digest_of((f"{number} {text}" if event["format"] > 2 else text).encode())  # noqa: PLR2004 - as above
