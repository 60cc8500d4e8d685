"""Where the alerts of a state keep what they remember: `<state>/alerts/problems`, `unsent` and `backfill`."""

from __future__ import annotations

from pathlib import Path


def below(state: str | Path, name: str) -> Path | None:
    """A folder of the alerts in a state; None if there is no state yet, as before the first run."""
    return Path(state, "alerts", name) if Path(state).is_dir() else None
