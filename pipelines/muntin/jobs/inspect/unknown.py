"""Errors for names that a pipeline does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.definition.spelling import did_you_mean
from muntin.errors import DefinitionError

if TYPE_CHECKING:
    from muntin.definition.pipeline import Pipeline


def no_window(pipeline: Pipeline, name: str) -> DefinitionError:
    """There is no window of this name."""
    there, near = ", ".join(pipeline.windows), did_you_mean(name, pipeline.windows)
    return DefinitionError(f"no window {name!r} in pipeline {pipeline.name!r}; there are {there}{near}")
