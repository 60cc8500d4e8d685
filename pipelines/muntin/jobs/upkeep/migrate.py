"""Migrate: carry a state of an earlier format over at once, beside runs, so that it can be taken back. Every run does it otherwise.

before   <root>/<pipeline>/<fingerprint>/windows/<window>               readers know it; no run of this format has published
after    <root>/<pipeline>/windows/<window>                             the same files, by a second name
         <root>/<pipeline>/<fingerprint>/kept_for_undo/<window>         the table as it was, until `maintain` removes it
         <root>/<pipeline>/migration.json                               what is needed to take it back

That is for formats before 3. States, and tables of windows of later formats, stay where they are: those of every format are read as they
are, and what runs write is of the present format.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from muntin.definition.amounts import many
from muntin.errors import StateError
from muntin.files.paths import folders_in, move_folder, path_of, remove_folder, sizes_below
from muntin.jobs.bound import bind
from muntin.jobs.promotion import place_first
from muntin.jobs.state_folders import bind_existing
from muntin.jobs.window_tables import beside, current
from muntin.store.disk import write_whole
from muntin.store.paths import QUARANTINE
from muntin.store.state import FORMAT, OWNER_FILE, WINDOWS, states_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muntin.definition.pipeline import Pipeline
    from muntin.files.paths import AnyPath
    from muntin.jobs.bound import Bound

NOTE = "migration.json"
KEPT = "kept_for_undo"


@dataclass(frozen=True, slots=True)
class Migration:
    """What a migration does, or did.

    Attributes:
        home: the folder of the pipeline.
        from_format, to_format: of its state.
        tables: window -> the number of files of its table, which is at its new place afterwards.
        can_be_undone: whether a migration can be taken back.
    """

    home: str
    from_format: int
    to_format: int
    tables: Mapping[str, int]
    can_be_undone: bool

    def __bool__(self) -> bool:
        """Whether there is anything to do."""
        return self.from_format < self.to_format or bool(self.tables)


def to_migrate(pipeline: Pipeline, *, root: str | AnyPath) -> Migration:
    """What `migrate` would do. Nothing is changed.

    Raises:
        StateError: the pipeline was never run under this definition, or a newer Muntin wrote its state.
    """
    bound = bind_existing(pipeline, root)
    home = path_of(bound.folder).parent
    tables = {window: len(beside(bound.store, window).snapshot.files) for window in _old_tables(bound)}
    return Migration(str(home), _owner(home)["format"], FORMAT, tables, _is_whole(_noted(home), bound))


def migrate(pipeline: Pipeline, *, root: str | AnyPath) -> Migration:
    """Carry a state over to the present format. Runs of this Muntin may go on; a migration that was interrupted is carried on.

    No file is read or copied where the disk knows links: tables get a second name for each of their files, and one commit each.

    Raises:
        StateError: as `to_migrate`; or the disk refuses.
    """
    todo = to_migrate(pipeline, root=root)
    home = path_of(todo.home)
    if not todo:
        if "versions" not in _noted(home):
            forget_undo(home)  # it was interrupted behind its work; whether runs followed it is not known
        return todo
    if todo.from_format < FORMAT and "versions" in _noted(home):
        forget_undo(home)  # of an earlier migration; runs may have followed it
    if not (home / NOTE).exists():
        states = _versions_of_states(bind_existing(pipeline, root))
        _note(home, {"owner": (home / OWNER_FILE).read_text(encoding="utf-8"), "states": states})
    bound = bind(pipeline, root, claim=True)
    place_first(bound, [*todo.tables])
    kept = [_kept(bound, window) for window in todo.tables]
    if all(kept) and _noted(home).get("states") == _versions_of_states(bound):
        _note(home, {**_noted(home), "state": bound.state, "versions": _versions(bound)})
    else:  # a run read or published meanwhile
        forget_undo(home)
    return todo


def _kept(bound: Bound, window: str) -> bool:
    """Keep the table of a window as it was; False if a run has removed it since it is at its new place."""
    table, kept = path_of(bound.folder, WINDOWS, window), path_of(bound.folder, KEPT, window)
    if not table.is_dir():
        return False
    kept.parent.mkdir(parents=True, exist_ok=True)
    move_folder(table, kept)
    return True


def undo(pipeline: Pipeline, *, root: str | AnyPath) -> Migration:
    """Take a migration back: the state is as it was before. No run should be at work meanwhile.

    Raises:
        StateError: nothing was migrated, or runs have read or published since: an earlier Muntin would not know of these.
    """
    bound = bind_existing(pipeline, root)
    home = path_of(bound.folder).parent
    if not (home / NOTE).exists():
        raise StateError(f"{home}: no migration can be taken back: there is no {NOTE}")
    note = _noted(home)
    if not _is_whole(note, bound):
        known = f"{note['state']} was migrated, another definition's" if "versions" in note else None
        why = known or "it was interrupted; run muntin migrate again"
        raise StateError(f"{home}: no migration of this definition can be taken back: {why}")
    kept = path_of(bound.folder, KEPT)
    if changed := [table for table, version in note["versions"].items() if bound.store.snapshot(table).version != version]:
        raise StateError(
            f"{home}: runs have changed {many(len(changed), 'table')} since the migration, {changed[0]} first, and an earlier Muntin "
            f"would not know of it; bring back a copy from before, or go on with this Muntin"
        )
    tables = {folder.name: sum(str(file).endswith(".parquet") for file, *_ in sizes_below(folder)) for folder in folders_in(kept)}
    for window in tables:
        remove_folder(home / WINDOWS / window)
        move_folder(kept / window, path_of(bound.folder, WINDOWS, window))
    if not folders_in(home / WINDOWS):
        remove_folder(home / WINDOWS)
    remove_folder(kept)
    write_whole(home / OWNER_FILE, note["owner"].encode())
    (home / NOTE).unlink()
    return Migration(str(home), FORMAT, int(json.loads(note["owner"])["format"]), tables, can_be_undone=False)


def forget_undo(home: AnyPath, older_than_s: float = math.inf) -> tuple[int, int]:
    """Remove what is kept to take a migration back, if it is older (seconds since 1970): files and bytes."""
    note = home / NOTE
    if not note.exists() or note.stat().st_mtime >= older_than_s:
        return 0, 0
    folders = [state / KEPT for state in states_of(home)]
    sizes = [size for folder in folders for _, size, _ in sizes_below(folder)]
    for folder in folders:
        remove_folder(folder)
    note.unlink()
    return len(sizes), sum(sizes)


def _old_tables(bound: Bound) -> list[str]:
    """The windows whose table lies where formats before 3 had it: nothing is at the place that stays, or a migration was interrupted."""
    found = []
    for window in bound.windows:
        ledger = beside(bound.store, window).ledger
        if ledger and not ledger.state and ((known := current(bound.store, window).ledger) is None or known.state == bound.state):
            found.append(window)
    return found


def _versions(bound: Bound) -> dict[str, int]:
    """Table below the state -> its version, of the tables that runs change."""
    windows = {name: bound.store.snapshot(name).version for name in (f"../{WINDOWS}/{window}" for window in bound.windows)}
    return windows | _versions_of_states(bound)


def _versions_of_states(bound: Bound) -> dict[str, int]:
    names = [*(frames.table for frames in bound.frame_sets), QUARANTINE, *bound.tables_of_ids]
    return {name: bound.store.snapshot(name).version for name in names}


def _owner(home: AnyPath) -> Mapping[str, int]:
    return json.loads((home / OWNER_FILE).read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def _noted(home: AnyPath) -> dict[str, Any]:
    """What is noted of a migration; nothing where there is none."""
    return json.loads((home / NOTE).read_text(encoding="utf-8")) if (home / NOTE).exists() else {}


def _is_whole(note: Mapping[str, Any], bound: Bound) -> bool:
    """Whether a migration of this definition was carried to its end."""
    return "versions" in note and note["state"] == bound.state


def _note(home: AnyPath, facts: Mapping[str, object]) -> None:
    write_whole(home / NOTE, (json.dumps(facts) + "\n").encode())
