"""Relative paths of a definition are below the project's folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pipelines.definition.pipeline import Pipeline


def at_home(pipeline: Pipeline, home: str | Path) -> Pipeline:
    """The same pipeline with the relative paths of its source and its suites below `home`.

    Absolute paths and addresses (`s3://...`) stay as they are. Paths are not part of a state's fingerprint.
    """
    suites = {name: Path(home, path) for name, path in pipeline.expectations.items()}
    return replace(pipeline, source=pipeline.source.below(home), expectations=suites)
