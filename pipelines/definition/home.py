"""A definition's relative paths, as seen from the project's folder."""

from __future__ import annotations

import glob
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.sources import FileSource

if TYPE_CHECKING:
    from pipelines.definition.pipeline import Pipeline


def at_home(pipeline: Pipeline, home: str | Path) -> Pipeline:
    """The same pipeline with its relative paths, of the source and of expectations, below `home`.

    Absolute paths and addresses (`s3://...`) stay as they are. Paths are no part of a state's fingerprint.
    """
    source = pipeline.source
    if isinstance(source, FileSource) and _is_relative(source.path):
        source = replace(source, path=f"{_literal(home)}/{source.path}")
    suites = {name: Path(home, path) for name, path in pipeline.expectations.items()}
    return replace(pipeline, source=source, expectations=suites)


def _is_relative(path: str) -> bool:
    return "://" not in path and not Path(path).is_absolute()


def _literal(folder: str | Path) -> str:
    """A folder as a template has it: no character of its name means anything."""
    return glob.escape(str(Path(folder).absolute())).replace("{", "{{").replace("}", "}}")
