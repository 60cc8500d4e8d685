"""A definition's paths: on this machine's file system, and relative ones as seen from the project's folder."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.errors import DefinitionError

if TYPE_CHECKING:
    from pipelines.definition.pipeline import Pipeline

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")  # one slash: `Path` leaves no more of `s3://bucket`; one letter is a drive


def local(path: str | Path, what: str) -> str | Path:
    """A path as it is; `what` is what it was given to.

    Raises:
        DefinitionError: an address, as `s3://bucket/data`. As a path it would be a folder with a colon in its name.
    """
    if _ADDRESS.match(str(path)):
        raise DefinitionError(
            f"{what}: {str(path)!r} is an address, and Muntin reads and writes the file system of its machines alone; "
            f"mount what is there, and give the path of a file or folder, as /mnt/data"
        )
    return path


def at_home(pipeline: Pipeline, home: str | Path) -> Pipeline:
    """The same pipeline with the relative paths of its source and its suites below `home`.

    Absolute paths stay as they are. Paths are no part of a state's fingerprint.
    """
    suites = {name: Path(home, path) for name, path in pipeline.expectations.items()}
    return replace(pipeline, source=pipeline.source.below(home), expectations=suites)
