"""Renaming: a pipeline or a window with another name keeps its state and its table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.store.disk import refused
from pipelines.store.state import OWNER_FILE, WINDOWS, give_to

if TYPE_CHECKING:
    from pipelines.definition.pipeline import Pipeline


def name_of_state(pipeline: Pipeline, root: Path) -> str:
    """The name that a pipeline's state has now: the one before, until the first run has taken it over."""
    before, here = pipeline.renamed_from, Path(root, pipeline.name)
    return before if before and not here.exists() and Path(root, before, OWNER_FILE).exists() else pipeline.name


def take_over(pipeline: Pipeline, root: Path) -> None:
    """Give the state and the tables of the names before the names of today. What has its name already stays.

    Raises:
        StateError: the disk refuses.
    """
    home = Path(root, pipeline.name)
    try:
        if (before := name_of_state(pipeline, root)) != pipeline.name:
            Path(root, before).rename(home)
        if pipeline.renamed_from:
            give_to(home, pipeline.name, pipeline.renamed_from)
        for window, old in pipeline.renamed_windows.items():
            for folder in (home, *home.glob("*/")):
                table = folder / WINDOWS / old
                if table.is_dir() and not (folder / WINDOWS / window).exists():
                    table.rename(folder / WINDOWS / window)
    except OSError as wrong:
        raise refused(str(home), wrong) from wrong
