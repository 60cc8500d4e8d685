"""Publish: what was staged becomes what readers see, one commit a window."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import pyarrow as pa

from pipelines.definition.instants import label
from pipelines.errors import ConflictError
from pipelines.jobs.pending import LEDGER, published
from pipelines.store.parquet import write_named
from pipelines.store.paths import batch_of_windows
from pipelines.store.store import Change, File

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pipelines.jobs.bound import Bound
    from pipelines.jobs.staged_windows import Staged, StagedWindow
    from pipelines.store.store import Store


def publish(bound: Bound, staged: Staged, *, committed: Callable[[str, Sequence[int]], None] = lambda _window, _starts: None) -> None:
    """Commit every staged window. Commits that succeeded stay, should a later one fail: finalize finds what is left.

    Args:
        pipeline, store, staged: the definition, its state, what finalize staged.
        committed: told each window that was committed, and the starts of the batches whose windows were replaced.

    Raises:
        ConflictError: another run published since this was staged; finalize again.
        StateError: a staged file is not there whole.
    """
    for window in staged.windows:
        if _publish(bound, staged.folder, window):
            committed(window.window, tuple(window.starts))
    bound.store.discard(staged.folder)


def _publish(bound: Bound, folder: str, staged: StagedWindow) -> bool:
    """Commit a window; false if it is already as staged."""
    table = f"windows/{staged.window}"
    now = published(bound.store, staged.window)
    if now.ledger_path != staged.base_ledger:
        raise ConflictError(f"{table}: another run published since these windows were staged; finalize again")
    new = [File(file["path"], file["size"], file["rows"]) for file in staged.files]
    replaced = {label(start) for start in staged.starts}
    old = [f for f in now.snapshot.files if batch_of_windows(f.path) in replaced or f.path == now.ledger_path]
    schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(staged.schema)))
    ledger = _write_ledger(bound.folder, table, schema, staged.ledger)
    bound.store.promote({f"{folder}/{staged.window}/{file.path}": file.path for file in new}, table)
    had, have = {file.path for file in old}, {file.path for file in [*new, ledger]}
    if ledger.path == now.ledger_path:
        return False
    adds = [file for file in [*new, ledger] if file.path not in had]
    bound.store.commit(
        table, now.snapshot, Change(schema, adds, [f for f in old if f.path not in have], [f"{bound.pipeline.name}/{staged.window}"])
    )
    return True


def is_stale(store: Store, staged: Staged) -> bool:
    """Whether another run published since, so that publishing these would be refused."""
    return any(published(store, window.window).ledger_path != window.base_ledger for window in staged.windows)


def _write_ledger(root: str, table: str, schema: pa.Schema, text: str) -> File:
    """A file without rows, with the ledger in its footer: committed with the windows, seen by no reader."""
    nothing = schema.with_metadata({LEDGER: text}).empty_table()
    written = write_named(nothing, f"{root}/{table}", lambda digest: f"ledger_{digest}.parquet")
    return File(written["path"], written["size"], written["rows"])
