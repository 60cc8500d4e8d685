"""The store on Delta tables.

Tasks write the Parquet files; commits are appended to the log, and `deltalake` does all else with it.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import replace

import pyarrow as pa
from deltalake.exceptions import CommitFailedError, DeltaError

from muntin.errors import ConflictError, StateError
from muntin.files.object_stores import refusal
from muntin.files.paths import AnyPath, names_in, remove_folder, side_by_side
from muntin.states.column_ranges import stats
from muntin.store.column_commits import commit_columns, only_files
from muntin.store.disk import refused, refused_through, sync
from muntin.store.log_append import append
from muntin.store.log_check import commit_path, newest_commits
from muntin.store.log_checkpoint import shorten
from muntin.store.parquet import checked_footer
from muntin.store.paths import folder_of
from muntin.store.seen_tables import (
    Known,
    LogEnd,
    check_opened,
    listed,
    newest,
    open_table,
    opened_at,
    remember_committed,
    seen_at,
    tables,
)
from muntin.store.store import Change, Snapshot, Texts, written

_CONFLICTS = ("concurrent", "Concurrent", "already exists", "Failed to commit", "version")


class DeltaStore:
    """Tables below one folder. See `Store`."""

    def __init__(self, root: AnyPath) -> None:
        self.root = root

    def __reduce__(self) -> tuple[type, tuple[AnyPath]]:
        """The pickled store, without its tables: a store goes to every task of Spark."""
        return DeltaStore, (self.root,)

    def snapshot(self, table: str) -> Snapshot:
        path = self._path(table)
        seen = tables().get(path)
        if seen and seen.end.is_still_the_end():
            return seen.snapshot
        log: Collection[str] | None = None
        while True:
            try:
                return self._read(path, seen)
            # whoever ends old versions removes commits; a log that stands still is damaged
            except StateError:
                before = log
                log = [*names_in(str(path / "_delta_log"))]
                if log == before:
                    raise

    def _read(self, path: AnyPath, seen: Known | None) -> Snapshot:
        opened = newest(seen) or opened_at(path)
        if opened is None:
            return Snapshot(-1, ())
        check_opened(path, opened)
        snapshot = listed(opened)
        tables().keep(path, Known(LogEnd.of(path, snapshot.version), snapshot, opened))
        return snapshot

    def _top(self, table: str, base: Snapshot) -> AnyPath:
        """The highest folder with a new name in it: of a new table the folder above all pipelines' states."""
        return self._path(table) if base.version >= 0 else self.root.parent.parent

    def _path(self, table: str) -> AnyPath:
        """The path of a table, the same for all states of a pipeline."""
        return folder_of(self.root, table)

    def commit(self, table: str, base: Snapshot, change: Change) -> None:
        footers = side_by_side(
            lambda file: checked_footer(self._path(table) / file.path, file.size), change.adds, str(self.root)
        )
        statistics = (
            stats(file.rows, footer, change.schema) for file, footer in zip(change.adds, footers, strict=True)
        )
        change = replace(
            change, stats=dict(zip((file.path for file in change.adds), statistics, strict=True))
        )
        sync(self._top(table, base), [self._path(table) / file.path for file in change.adds])
        try:
            self._commit(table, base, change)
            sync(self._top(table, base), newest_commits(self._path(table), base.version))
            written(change.adds)
        except (CommitFailedError, DeltaError) as wrong:
            if unreached := refusal(str(self._path(table)), str(wrong)):
                raise unreached from None
            if by_disk := refused_through(f"the log of {self._path(table)}", wrong):
                raise by_disk from wrong
            if any(word in str(wrong) for word in _CONFLICTS) or _is_behind(self._path(table), base.version):
                raise ConflictError(f"{self._path(table)}: another run committed first ({wrong})") from wrong
            raise StateError(
                f"{self._path(table)}: the commit failed ({wrong}); nothing was changed, run again"
            ) from wrong
        except OSError as wrong:
            if unreached := refusal(str(self._path(table)), str(wrong)):
                raise unreached from None
            raise refused(f"the log of {self._path(table)}", wrong) from wrong

    def _commit(self, table: str, base: Snapshot, change: Change) -> None:
        path = self._path(table)
        now_ms = int(time.time() * 1000)
        seen = seen_at(path, base)
        if seen and only_files(seen.opened, change):
            version = append(path, base.version, change, now_ms)
            remember_committed(path, base, change, seen.opened)
            shorten(path, seen.opened, version)
        else:
            commit_columns(path, base, change, now_ms)

    def describe(self, table: str, base: Snapshot, texts: Texts) -> None:
        fields = base.schema or pa.schema([])
        new = {
            name: text
            for name, text in texts.comments.items()
            if name in fields.names
            and ((fields.field(name).metadata or {}).get(b"comment") or b"").decode() != text
        }
        properties = {
            name: text for name, text in texts.properties.items() if base.properties.get(name, "") != text
        }
        if not new and not properties and (base.name, base.description) == (texts.name, texts.description):
            return
        try:
            alter = open_table(self._path(table), base.version).alter
            for name, text in new.items():
                alter.set_column_metadata(name, {"comment": text})
            if base.name != texts.name:
                alter.set_table_name(texts.name)
            if base.description != texts.description:
                alter.set_table_description(texts.description)
            if properties:
                alter.set_table_properties(properties, raise_if_not_exists=False)
        except (CommitFailedError, DeltaError) as wrong:
            if by_disk := refused_through(f"the log of {self._path(table)}", wrong):
                raise by_disk from wrong
            raise ConflictError(f"{self._path(table)}: another run committed first ({wrong})") from wrong

    def promote(self, staged: Mapping[str, str], table: str) -> None:
        def move(source: str) -> None:
            place = self._path(table) / staged[source]
            try:
                place.parent.mkdir(parents=True, exist_ok=True)
                with suppress(FileNotFoundError):  # an earlier attempt has moved it
                    (self.root / source).replace(place)  # type: ignore[arg-type]
            except OSError as wrong:
                raise refused(str(place), wrong) from wrong

        side_by_side(move, [*staged], str(self.root))

    def discard(self, folder: str) -> None:
        remove_folder(self.root / folder)


def _is_behind(table: AnyPath, version: int) -> bool:
    """Whether a version is not the last of a table, or its commit went with other old versions."""
    return commit_path(table, version + 1).is_file() or (
        version >= 0 and not commit_path(table, version).is_file()
    )
