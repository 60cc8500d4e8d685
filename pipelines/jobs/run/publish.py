"""Publish: commit the staged files to the tables that readers see, one commit per window."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import pyarrow as pa

from pipelines.definition.instants import label
from pipelines.errors import ConflictError
from pipelines.jobs.pending import LEDGER, Published, published
from pipelines.jobs.run.changed_windows import changed_windows
from pipelines.jobs.run.verdicts import check_judged
from pipelines.store.contents import problems_of_notes
from pipelines.store.parquet import write_named
from pipelines.store.paths import batch_of_windows
from pipelines.store.store import Change, File
from pipelines.timeline.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pipelines.jobs.bound import Bound
    from pipelines.jobs.changes import Changes
    from pipelines.jobs.staged_windows import Staged, StagedWindow
    from pipelines.store.store import Store


def publish(
    bound: Bound,
    staged: Staged,
    *,
    committed: Callable[[str, Sequence[int]], None] = lambda _window, _starts: None,
    validated: bool = True,
    changed: Callable[[str, Changes], None] | None = None,
) -> None:
    """Commit every staged window.

    Two conditions come first, for all windows: no other run has published a window since it was staged, and each window
    with a suite has a verdict on exactly the staged files. If a commit fails, the commits before it stay, and the next
    finalize stages the windows that are left.

    Args:
        bound, staged: the pipeline, what finalize staged.
        committed: called after each commit, with the window and the starts of the batches whose windows were replaced.
        validated: whether windows with a suite need a verdict; False where the user switched validation off.
        changed: called after each commit that changed published rows; None: nothing is compared.

    Raises:
        ConflictError: another run published since this was staged, or a window was not validated; finalize again.
        ExpectationsError: a window failed its suite.
        StateError: a staged file is gone or not whole.
    """
    bases = {window.window: _base(bound, window) for window in staged.windows}
    if validated:
        check_judged(bound, staged)
    for window in staged.windows:
        if _publish(bound, staged.folder, window, bases[window.window], changed):
            committed(window.window, tuple(window.starts))
    bound.store.discard(staged.folder)


def _base(bound: Bound, staged: StagedWindow) -> Published:
    """What is published of a window, which must be what finalize compared it with."""
    now = published(bound.store, staged.window)
    if now.ledger_path != staged.base_ledger:
        raise ConflictError(f"windows/{staged.window}: another run published since these windows were staged; finalize again")
    return now


def _publish(bound: Bound, folder: str, staged: StagedWindow, now: Published, changed: Callable[[str, Changes], None] | None) -> bool:
    """Commit a window. False: it is published as staged already."""
    table = f"windows/{staged.window}"
    new = [File(file["path"], file["size"], file["rows"]) for file in staged.files]
    replaced = {label(start) for start in staged.starts}
    old = [f for f in now.snapshot.files if batch_of_windows(f.path) in replaced or f.path == now.ledger_path]
    schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(staged.schema)))
    ledger = _write_ledger(bound.folder, table, schema, staged.ledger)
    if problems := problems_of_notes(bound.folder, _new_notes(staged)):
        raise ConflictError(f"{table}: {'; '.join(problems)} since these windows were staged; finalize again")
    bound.store.promote({f"{folder}/{staged.window}/{file.path}": file.path for file in new}, table)
    had, have = {file.path for file in old}, {file.path for file in [*new, ledger]}
    if ledger.path == now.ledger_path:
        return False
    changes = changed_windows(bound, staged.window, now, old, new) if changed else None
    adds = [file for file in [*new, ledger] if file.path not in had]
    bound.store.commit(
        table, now.snapshot, Change(schema, adds, [f for f in old if f.path not in have], [f"{bound.pipeline.name}/{staged.window}"])
    )
    if changed and changes:
        changed(staged.window, changes)
    return True


def _new_notes(staged: StagedWindow) -> list[str]:
    """The files of the notes that the new entries of the ledger name."""
    starts = set(staged.starts)
    return [path for entry in Ledger.loads(staged.ledger).entries if entry.start_us in starts for path in entry.note or ()]


def is_stale(store: Store, staged: Staged) -> bool:
    """Whether another run published a window since it was staged: publish would refuse it."""
    return any(published(store, window.window).ledger_path != window.base_ledger for window in staged.windows)


def _write_ledger(root: str, table: str, schema: pa.Schema, text: str) -> File:
    """Write a file without rows, with the ledger in its footer. It is committed with the windows, and readers see no row of it."""
    no_rows = schema.with_metadata({LEDGER: text}).empty_table()
    written = write_named(no_rows, f"{root}/{table}", lambda digest: f"ledger_{digest}.parquet")
    return File(written["path"], written["size"], written["rows"])
