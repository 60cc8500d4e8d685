"""Notes on what was open of windows, without forgotten keys; and a segment of each ledger that names them.

The segment also makes stale what a run has staged: it was derived from states that held the keys, and is
derived again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from muntin.extensions.forgetting.without_keys import rows_in_file
from muntin.files.paths import AnyPath, sizes_below
from muntin.jobs.published.window_tables import commit_segment, published, windows_of
from muntin.jobs.state.bound import Bound
from muntin.states.forgotten_keys import Keys, among
from muntin.store.parquet import read_parquet, write_named
from muntin.store.paths import NOTES
from muntin.store.store import after_conflicts
from muntin.timeline.ledger import NOTES as FILES
from muntin.timeline.ledger import Entries

_TRIES = 20
_DIGITS = 16


def notes_without(bound: Bound, keys: Keys, doubted: Sequence[int] = ()) -> None:
    """Write the notes of all windows anew without some keys. A note that holds no columns of keys is of
    totals; it goes.

    Args:
        bound: the pipeline state.
        keys: the keys.
        doubted: batches whose totals are to be derived again, by their starts.

    Raises:
        StateError: the disk refuses.
        ConflictError: other runs publish all the time.
    """
    for window in windows_of(bound.store):
        _of_window(bound, window, keys, doubted)
    for path, *_ in sizes_below(bound.folder / NOTES):
        if path.suffix == ".parquet" and _holds(path, keys):
            path.unlink(missing_ok=True)


def _holds(path: AnyPath, keys: Keys) -> bool:
    """Whether a note that no ledger names any more holds some keys, or is damaged."""
    try:
        return bool(rows_in_file(str(path), NOTES, keys))
    except (OSError, pa.ArrowException):
        return True


def is_total(columns: Sequence[str], keys: Keys) -> bool:
    """Whether windows with these columns are totals: they hold rows of some keys and of other keys."""
    return any(not {*names} <= {*columns} for names in keys.columns)


def _of_window(bound: Bound, window: str, keys: Keys, doubted: Sequence[int]) -> None:
    for attempt in after_conflicts(
        _TRIES, f"{bound.home}: other runs keep publishing {window}; run again when they are done"
    ):
        with attempt:
            now = published(bound.store, window)
            if now.ledger is None or now.snapshot.schema is None:
                return
            total = is_total(now.snapshot.schema.names, keys)
            ledger = now.ledger.doubted(doubted) if total else now.ledger
            noted = ledger.entries.noted().tolist()
            new = {
                path: _anew(bound, path, keys)
                for path in sorted({path for at in noted for path in ledger.entries.note_of(at) or ()})
            }
            entries, changed = _renamed(ledger.entries, noted, new)
            changed = (
                np.union1d(changed, entries.position(np.array(doubted, np.int64)))
                if total and len(doubted)
                else changed
            )
            commit_segment(bound, window, now, replace(ledger, entries=entries.take(changed[changed >= 0])))


def _anew(bound: Bound, path: str, keys: Keys) -> str | None:
    """The path of a note without some keys: its own, if it holds none of them or is gone; None if it cannot
    tell keys apart.

    A damaged note is as good as none: what was open is made again from states.
    """
    try:
        rows = read_parquet(f"{bound.folder}/{NOTES}/{path}")
    except FileNotFoundError:
        return path
    except (OSError, pa.ArrowException):
        return None
    if is_total(rows.column_names, keys):
        return None
    gone = among(rows, keys)
    if not gone.any():
        return path
    window, _, name = path.partition("/")
    before = name.removesuffix(".parquet")[:-_DIGITS]
    written = write_named(
        rows.filter(pa.array(~gone)),
        bound.folder / NOTES / window,
        lambda digest: f"{before}{digest}.parquet",
    )
    return f"{window}/{written['path']}"


def _renamed(
    entries: Entries, noted: Sequence[int], new: Mapping[str, str | None]
) -> tuple[Entries, np.ndarray]:
    """The entries whose notes have other files, or none any more; and the numbers of the entries that
    changed.
    """
    files, changed = entries.note.to_pylist(), []
    for at in noted:
        now = [new[path] for path in files[at]]
        if now != files[at]:
            files[at] = None if None in now else now
            changed.append(at)
    return replace(entries, note=pa.array(files, FILES)), np.array(changed, np.int64)
