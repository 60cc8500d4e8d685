"""Folders that the alerts of a state keep: `<state>/alerts/problems`, `unsent` and `backfill`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from muntin.files.paths import AnyPath


def below(state: AnyPath, name: str) -> AnyPath | None:
    """A folder of the alerts in a state; None if there is no state yet, as before the first run."""
    return state / "alerts" / name if state.is_dir() else None
