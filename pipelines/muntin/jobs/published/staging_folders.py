"""Staging folders of a state: finalize leaves a text in each that says what is staged."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from muntin.errors import ConflictError
from muntin.jobs.published.staged_windows import Staged, entries_of

if TYPE_CHECKING:
    from muntin.files.paths import AnyPath
    from muntin.jobs.published.staged_windows import StagedWindow
    from muntin.store.store import Store
    from muntin.timeline.ledger import Entries

STAGED_FILE = "staged.json"


def load_staged(store: Store, folder: str) -> Staged:
    """The staged windows that an earlier finalize left in a folder.

    ConflictError if the folder is gone, as an earlier attempt published it or it was removed, or if its file is damaged.
    """
    try:
        return Staged.loads((store.root / folder / STAGED_FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConflictError(f"{folder}: the staged files are gone, published or tidied up; finalize again") from None
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
