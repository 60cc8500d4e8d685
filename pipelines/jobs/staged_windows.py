"""Staged windows: files where no reader looks, and the ledger to publish with them. They pass from finalize to publish as JSON."""

from __future__ import annotations

import base64
import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pipelines.definition.instants import AFTER_ALL
from pipelines.states.columns import INSTANT
from pipelines.timeline.ledger import Entry, Ledger

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipelines.jobs.bound import Bound
    from pipelines.jobs.pending import Pending
    from pipelines.timeline.history import Batch


@dataclass(frozen=True, slots=True)
class StagedWindow:
    """The staged files of one window.

    Attributes:
        window: its name.
        schema: the Arrow schema of the files, serialized, base64.
        files: path below the window's staging folder, size, rows.
        starts: the batches whose windows these files replace.
        base_ledger: the path of the ledger that this was derived against; publishing needs it to be the current one still.
        ledger: the new ledger, as text.
    """

    window: str
    schema: str
    files: list[dict[str, Any]]
    starts: list[int]
    base_ledger: str | None
    ledger: str


@dataclass(frozen=True, slots=True)
class Staged:
    """All that one finalize staged.

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
        """As text, for the next step of the run."""
        return json.dumps(asdict(self))

    @staticmethod
    def loads(text: str) -> Staged:
        """From `dumps`."""
        facts = json.loads(text)
        return Staged(facts["folder"], [StagedWindow(**window) for window in facts["windows"]], facts["missing"], facts["remarks"])


def staged_window(bound: Bound, pending: Pending, results: Sequence[dict[str, Any]]) -> StagedWindow:
    """The files that the shards of one window staged, and its new ledger."""
    schema = results[0]["schema"] if results else base64.b64encode(_least_schema().serialize()).decode()
    return StagedWindow(
        pending.window,
        schema,
        [file for result in results for file in result["files"]],
        [pending.history.batches[at].interval.start_us for at in pending.work.positions],
        pending.published.ledger_path,
        next_ledger(
            bound.derivation(pending.window), pending, [result["tallies"] | {"notes": result["notes"]} for result in results]
        ).dumps(),
    )


def _least_schema() -> pa.Schema:
    """The columns of a window of which no shard had states."""
    return pa.schema([("window_start", INSTANT), ("window_end", INSTANT), ("batch", INSTANT)])


def next_ledger(definition: str, pending: Pending, shards: Sequence[dict[str, Any]]) -> Ledger:
    """The old entries, with those of the recomputed batches made anew.

    Args:
        definition: the name of the window's definition.
        pending: its history and its work.
        shards: of each shard the tallies, and `notes`: position of a batch -> path of a note's file.
    """
    before = pending.known.by_start() if pending.known else {}
    anew = set(pending.work.positions)
    entries = []
    for at, batch in enumerate(pending.history.batches):
        entry = before.get(batch.interval.start_us)
        entries.append(_entry(at, batch, pending, shards) if at in anew or entry is None else entry)
    return Ledger(definition, tuple(entries))


def _entry(at: int, batch: Batch, pending: Pending, shards: Sequence[dict[str, Any]]) -> Entry:
    opened = min((shard["open"][at] for shard in shards if shard["open"] is not None), default=AFTER_ALL)
    windows, late, missed, late_any = (sum(shard[name][at] for shard in shards) for name in ("windows", "late", "missed", "late_any"))
    open_us = None if opened == AFTER_ALL else opened
    note = tuple(shard["notes"][str(at)] for shard in shards if str(at) in shard["notes"]) if at in pending.work.notes_after else None
    start, mark = batch.interval.start_us, pending.marks[at]
    return Entry(start, batch.version, mark, batch.low_us, batch.high_us, windows, late, missed, open_us, late_any, note)
