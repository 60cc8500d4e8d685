"""Tables in memory, with the rules of `Store`: of two commits from one snapshot that share a name or a removed file, one succeeds."""

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

import pyarrow as pa

from muntin.errors import ConflictError, StateError
from muntin.store.store import Change, File, Snapshot, Texts
from tests.simulation.disk import Disk
from tests.simulation.place import Place

normal = lru_cache(posixpath.normpath)
NONE = Snapshot(-1, ())


@dataclass(slots=True)
class Table:
    """A table: every version, the change that made it, and when files were taken out of it."""

    versions: list[Snapshot] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    removed_s: dict[str, int] = field(default_factory=dict)

    def copy(self) -> "Table":
        """Another one that held the same."""
        return Table(list(self.versions), list(self.changes), dict(self.removed_s))


@dataclass(slots=True)
class Tables:
    """All tables of a disk, by their path. `strict`: as in Delta, no commit follows another one that removed a file of its base."""

    disk: Disk
    strict: bool = False
    tables: dict[str, Table] = field(default_factory=dict)

    def copy(self, disk: Disk) -> "Tables":
        """The same tables, of a copy of their disk."""
        return Tables(disk, self.strict, {path: table.copy() for path, table in self.tables.items()})

    def at(self, path: str) -> Table:
        path = normal(path)
        found = self.tables.get(path)
        if found is None:
            found = self.tables[path] = Table()
        return found


class MemoryStore:
    """See `Store`."""

    def __init__(self, root: Place, tables: Tables) -> None:
        self.root, self.tables, self.disk = root, tables, tables.disk

    def snapshot(self, table: str) -> Snapshot:
        versions = self._table(table).versions
        return versions[-1] if versions else NONE

    def commit(self, table: str, base: Snapshot, change: Change) -> None:
        found, path = self._table(table), self._path(table)
        for file in change.adds:
            if len(self.disk.files[f"{path}/{file.path}"].content if f"{path}/{file.path}" in self.disk.files else b"") != file.size:
                raise StateError(f"{path}/{file.path} is not whole; nothing was committed, run the batch again")
        if conflict := self.conflict(found, base, change, strict=self.tables.strict):
            raise ConflictError(f"{path}: another run committed first ({conflict})")
        self._add(path, found, change)

    @staticmethod
    def conflict(found: Table, base: Snapshot, change: Change, *, strict: bool) -> str | None:
        """Why a change does not go together with those since its base; None if it does."""
        if base.version < 0 and found.versions:
            return "the table exists"
        names, removes = set(change.names), {file.path for file in change.removes}
        since = found.changes[base.version + 1 :]
        if any(names & set(other.names) for other in since):
            return "the same name"
        if strict and {file.path for file in base.files} & {file.path for other in since for file in other.removes}:
            return "files were removed"
        if any(removes & {file.path for file in other.removes} for other in since) or (change.whole and since):
            return "the same file"
        return None

    def _add(self, path: str, found: Table, change: Change) -> None:
        now = found.versions[-1] if found.versions else replace(NONE, identity=path, name=change.texts.name)
        gone, new = {file.path for file in change.removes}, {file.path for file in change.adds}
        files = [file for file in now.files if file.path not in gone | new]
        found.removed_s.update(dict.fromkeys(gone - new, self.disk.clock.now_s))
        for name in new:
            found.removed_s.pop(name, None)
        self._append(path, found, change, sorted([*files, *change.adds], key=lambda file: file.path), now)

    def _append(self, path: str, found: Table, change: Change, files: list[File], now: Snapshot) -> None:
        schema = change.schema if change.whole or now.schema is None else _grown(now.schema, change.schema)
        found.versions.append(replace(now, version=now.version + 1, files=tuple(files), schema=schema))
        found.changes.append(change)
        self.disk.write(f"{path}/_delta_log/{now.version + 1:020d}.json", b"{}")

    def describe(self, table: str, base: Snapshot, texts: Texts) -> None:
        found = self._table(table)
        if base.name == texts.name:
            return
        if found.versions[-1].version != base.version:
            raise ConflictError(f"{table}: another run committed first")
        self._append(self._path(table), found, Change(base.schema or pa.schema([]), [], [], []), list(base.files), base)

    def promote(self, staged: Mapping[str, str], table: str) -> None:
        for source, target in staged.items():
            if f"{self.root}/{source}" in self.disk.files:
                self.disk.move(f"{self.root}/{source}", f"{self._path(table)}/{target}")

    def discard(self, folder: str) -> None:
        for path in self.disk.below(f"{self.root}/{folder}"):
            del self.disk.files[path]
        gone = self._path(folder)
        for path in [path for path in self.tables.tables if path.startswith((gone + "/", gone))]:
            del self.tables.tables[path]

    def _path(self, table: str) -> str:
        return normal(f"{self.root}/{table}")

    def _table(self, table: str) -> Table:
        return self.tables.at(self._path(table))


def _grown(schema: pa.Schema, new: pa.Schema) -> pa.Schema:
    """The columns of a table and those that a change brings."""
    if schema.names == new.names:
        return schema
    return pa.schema([*schema, *(each for each in new if each.name not in schema.names)])
