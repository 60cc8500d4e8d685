"""What a finalize staged: files where no reader looks, and the ledger to publish with them."""

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
    from pipelines.jobs.pending import Todo
    from pipelines.timeline.history import Batch


@dataclass(frozen=True, slots=True)
class StagedWindow:
    """Files of one window, staged, not yet published. JSON-able.

    Attributes:
        window: its name.
        schema: the Arrow schema of the files, serialized, base64.
        files: path below the window's staging folder, size, rows.
        starts: the batches whose windows these files replace.
        base_ledger: the ledger this was derived against; publishing needs it to be current still.
        ledger: the new one.
    """

    window: str
    schema: str
    files: list[dict[str, Any]]
    starts: list[int]
    base_ledger: str | None
    ledger: str


@dataclass(frozen=True, slots=True)
class Staged:
    """All that one finalize staged, the intervals that accumulated batches still wait for, and what was found damaged."""

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


def staged_window(bound: Bound, todo: Todo, results: Sequence[dict[str, Any]]) -> StagedWindow:
    """What the shards of one window staged, with the ledger that says what it was derived from."""
    schema = results[0]["schema"] if results else base64.b64encode(_least_schema().serialize()).decode()
    return StagedWindow(
        todo.window,
        schema,
        [file for result in results for file in result["files"]],
        [todo.history.batches[at].interval.start_us for at in todo.work.positions],
        todo.published.ledger_path,
        next_ledger(bound.derivation(todo.window), todo, [result["tallies"] | {"carry": result["carry"]} for result in results]).dumps(),
    )


def _least_schema() -> pa.Schema:
    return pa.schema([("window_start", INSTANT), ("window_end", INSTANT), ("batch", INSTANT)])


def next_ledger(definition: str, todo: Todo, found: Sequence[dict[str, Any]]) -> Ledger:
    """The old entries, with those of the recomputed batches made anew from the shards' tallies."""
    before = todo.known.by_start() if todo.known else {}
    anew = set(todo.work.positions)
    entries = []
    for at, batch in enumerate(todo.history.batches):
        entry = before.get(batch.interval.start_us)
        entries.append(_entry(at, batch, todo, found) if at in anew or entry is None else entry)
    return Ledger(definition, tuple(entries))


def _entry(at: int, batch: Batch, todo: Todo, found: Sequence[dict[str, Any]]) -> Entry:
    opened = min((one["open"][at] for one in found if one["open"] is not None), default=AFTER_ALL)
    windows, late, missed, late_any = (sum(one[name][at] for one in found) for name in ("windows", "late", "missed", "late_any"))
    left = None if opened == AFTER_ALL else opened
    carry = tuple(one["carry"][str(at)] for one in found if str(at) in one["carry"]) if at in todo.work.snaps else None
    start, mark = batch.interval.start_us, todo.marks[at]
    return Entry(start, batch.version, mark, batch.low_us, batch.high_us, windows, late, missed, left, late_any, carry)
