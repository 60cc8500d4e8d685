"""Staged windows: files that no reader reads, and the ledger to publish with them. They pass from finalize to
publish as JSON.

Finalize leaves the text in each staging folder.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields
from functools import lru_cache, reduce
from typing import Any

import numpy as np
import pyarrow as pa

from muntin.definition.instants import AFTER_ALL
from muntin.errors import ConflictError
from muntin.files.paths import AnyPath
from muntin.jobs.published.pending import Pending
from muntin.jobs.state.bound import Bound
from muntin.jobs.state.given_spans import keep
from muntin.states.columns import INSTANT
from muntin.states.derived_columns import has_types
from muntin.states.frames import Ints
from muntin.store.parquet import table_of, text_of
from muntin.store.paths import name_of
from muntin.store.store import Store
from muntin.timeline.ledger import NOTES, Entries

Part = tuple[Pending, Sequence[Mapping[str, Any]]]
"""Some of a window's work, and the results of its shards, as `finalize_shards` returns them."""


STAGED_FILE = "staged.json"


@dataclass(frozen=True, slots=True)
class StagedWindow:
    """The staged files of one window.

    Attributes:
        window: its name.
        schema: the Arrow schema of the files, serialized, base64.
        files: path below the window's staging folder, size, rows.
        starts: the batches whose windows the files replace.
        base: the newest segment of the ledger that this was derived against; publishing needs it to be the
            newest still.
        definition: the name of the definition that the windows were derived under.
        entries: of the batches whose windows are derived anew, or all of the ledger's, as a footer has them.
        anew: whether the ledger begins anew with the new entries.
        given: the file with the spans that the windows lie by; "" for kinds without a table.
    """

    window: str
    schema: str
    files: list[dict[str, Any]]
    starts: list[int]
    base: str | None
    definition: str
    entries: str
    anew: bool = False
    given: str = ""


_FACTS = fields(StagedWindow)


@dataclass(frozen=True, slots=True)
class Staged:
    """The staged windows of one finalize.

    Attributes:
        folder: of the files, below the state.
        windows: what is staged of each window.
        missing: intervals (start, end) that accumulated batches wait for.
        remarks: what was lost or damaged and is derived again, for people.
    """

    folder: str
    windows: list[StagedWindow]
    missing: list[list[int]]
    remarks: list[str] = field(default_factory=list)

    def dumps(self) -> str:
        """The staged windows as text, for the next step of the run."""
        # asdict copies each value
        windows = [{each.name: getattr(window, each.name) for each in _FACTS} for window in self.windows]
        return json.dumps(
            {"folder": self.folder, "windows": windows, "missing": self.missing, "remarks": self.remarks}
        )

    @staticmethod
    def loads(text: str) -> Staged:
        """The staged windows from the text of `dumps`; ConflictError where another version of Muntin staged
        them.
        """
        facts = json.loads(text)
        try:
            windows = [StagedWindow(**window) for window in facts["windows"]]
        except TypeError as wrong:
            raise ConflictError(
                f"{facts['folder']}: another version of Muntin staged these windows ({wrong}); finalize again"
            ) from wrong
        return Staged(facts["folder"], windows, facts["missing"], facts["remarks"])


def staged_window(bound: Bound, parts: Sequence[Part]) -> StagedWindow:
    """The files that the shards of one window staged, and the new entries of its ledger.

    `parts`: of the window's work, in order.
    """
    pending, results = parts[0][0], [result for _, of_part in parts for result in of_part]
    least = pa.schema([(name, INSTANT) for name in ("window_start", "window_end", "batch")])
    schema = results[0]["schema"] if results else base64.b64encode(least.serialize()).decode()
    files = [file for result in results for file in result["files"]]
    entries = reduce(Entries.newest, (_entries(*part) for part in parts))
    definition, starts = bound.derivation(pending.window), entries.start_us.tolist()
    ledger = pending.published.ledger
    gone = ledger is not None and bool((pending.history.batches.position(ledger.entries.start_us) < 0).any())
    anew = (
        ledger is None
        or ledger.definition != definition
        or gone
        or pending.sound_ledger is not ledger
        or not has_types(schema_of(schema), pending.published.snapshot.schema or pa.schema([]))
    )
    usable_ledger = pending.sound_ledger
    if anew and usable_ledger is not None and usable_ledger.definition == definition:
        entries = usable_ledger.entries.take(
            pending.history.batches.position(usable_ledger.entries.start_us) >= 0
        ).newest(entries)
    given = keep(bound, bound.windows[pending.window])
    return StagedWindow(
        pending.window,
        schema,
        files,
        starts,
        pending.published.head,
        definition,
        text_of(entries.to_table()),
        anew,
        given,
    )


def _entries(part: Pending, results: Sequence[Mapping[str, Any]]) -> Entries:
    files = [file for result in results for file in result["files"]]
    return new_entries(part, [result["tallies"] | {"notes": result["notes"]} for result in results], files)


@lru_cache(maxsize=64)
def schema_of(text: str) -> pa.Schema:
    """The schema of staged files, as `StagedWindow` has it."""
    return pa.ipc.read_schema(pa.py_buffer(base64.b64decode(text)))


def new_entries(
    pending: Pending, shards: Sequence[dict[str, Any]], files: Sequence[dict[str, Any]]
) -> Entries:
    """The entries of the batches whose windows are derived anew.

    `shards`: of each the tallies, and `notes`: position of a batch -> path of a note's file. `files`: with
    `path`, and `first` and `last`, starts of their batches.
    """
    at = pending.work.positions
    batches = pending.history.batches.take(at)
    opened = [shard["open"] for shard in shards if shard["open"] is not None]
    windows, late, missed, late_any, correcting, hidden = (
        _sum([shard[name] for shard in shards], len(at))
        for name in ("windows", "late", "missed", "late_any", "correcting", "hidden")
    )
    open_us = np.minimum.reduce(np.array(opened, np.int64)) if opened else np.full(len(at), AFTER_ALL)
    starts = batches.start_us
    names = np.zeros(len(starts), np.uint64)
    for file in files:
        name = np.uint64(int(name_of(file["path"]), 16))
        names[
            np.searchsorted(starts, file["first"]) : np.searchsorted(starts, file["last"], side="right")
        ] += name
    names_of_windows = np.where(windows > 0, names, np.uint64(0))
    counts = (windows, late, missed, open_us, late_any, correcting, hidden)
    facts = batches.start_us, batches.version, pending.watermarks_us[at], batches.low_us, batches.high_us
    after = pending.work.notes_after
    of_batch = np.full(len(pending.work.positions), len(after))
    of_batch[np.searchsorted(pending.work.positions, after)] = np.arange(len(after))
    return Entries(
        *facts,
        *counts,
        names_of_windows,
        pa.array([*(note_of(shards, at) for at in after), None], NOTES).take(pa.array(of_batch)),
    )


def _sum(counts: Sequence[Sequence[int]], length: int) -> Ints:
    return np.sum(np.array(counts, np.int64).reshape(len(counts), length), axis=0)


def note_of(shards: Sequence[Mapping[str, Any]], position: int) -> tuple[str, ...]:
    """The files of the note that shards made after a batch.

    `shards`: of each `notes`, position of a batch -> path of a file.
    """
    return tuple(shard["notes"][str(position)] for shard in shards if str(position) in shard["notes"])


def entries_of(staged: StagedWindow) -> Entries:
    """The new entries of a staged window."""
    return Entries.of_table(table_of(staged.entries))


@contextmanager
def discarding(store: Store, folder: str, *errors: type[Exception]) -> Iterator[None]:
    """Remove a staged folder where work on it fails with some errors, after which it is never published."""
    try:
        yield
    except errors:
        with suppress(OSError):
            store.discard(folder)
        raise


def load_staged(store: Store, folder: str) -> Staged:
    """The staged windows that an earlier finalize left in a folder.

    ConflictError if the folder is gone, as an earlier attempt published it or it was removed, or if its file
    is damaged.
    """
    try:
        return Staged.loads((store.root / folder / STAGED_FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConflictError(
            f"{folder}: the staged files are gone, published or tidied up; finalize again"
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError) as wrong:
        raise ConflictError(f"{folder}/{STAGED_FILE} is damaged ({wrong}); finalize again") from None


def staged_entries(state: AnyPath) -> list[Entries]:
    """The new entries of every staged window of a state, without windows that cannot be published."""
    return [entries_of(window) for window in staged_windows(state)]


def staged_windows(state: AnyPath) -> list[StagedWindow]:
    """Every staged window of a state, without windows that cannot be published."""
    windows: list[StagedWindow] = []
    for path in state.glob(f"staging/*/{STAGED_FILE}"):
        with suppress(ConflictError, ValueError, KeyError):
            windows += Staged.loads(path.read_text(encoding="utf-8")).windows
    return windows
