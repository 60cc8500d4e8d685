"""Histories that several tests begin with: made once for a run of tests, and copied for each.

The sources of a copy have moved, and this process has not seen its tables: a test that asks for either makes its own.
"""

import shutil
from collections.abc import Callable
from pathlib import Path


def made_once(folder: Path, make: Callable[[Path], object]) -> None:
    """Let a test's folder hold what `make` writes; its name says what that is, so it takes nothing else from the test."""
    made = folder.parent / f"{make.__module__}.{make.__qualname__}"
    if not made.exists():
        draft = made.with_name(f"{made.name}.draft")  # of a `make` that fails, no test gets half
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir()
        make(draft)
        draft.rename(made)
    shutil.copytree(made, folder, dirs_exist_ok=True)
