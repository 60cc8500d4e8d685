"""The packages that a definition needs and that are not installed."""

from __future__ import annotations

from collections.abc import Iterator

from muntin.definition.extras import command_for, is_installed
from muntin.definition.pipeline import Pipeline
from muntin.errors import MissingPackageError


def missing_packages(pipeline: Pipeline) -> dict[str, str]:
    """Part of the definition -> the command that installs the package that it needs; nothing where all are
    there.
    """
    return {part: command_for(package) for part, package in _needed(pipeline) if not is_installed(package)}


def check_packages(pipeline: Pipeline) -> None:
    """See that what a definition needs is installed, before anything is read.

    Raises:
        MissingPackageError: it is not; says which part needs which extra.
    """
    if missing := missing_packages(pipeline):
        lines = "; ".join(f"{part}, which is not installed: {command}" for part, command in missing.items())
        raise MissingPackageError(f"{pipeline.name}: {lines}")


def _needed(pipeline: Pipeline) -> Iterator[tuple[str, str]]:
    yield from (
        (f"to: {sink.name} needs {sink.package}", sink.package) for sink in pipeline.to if sink.package
    )
    if pipeline.listener and any(isinstance(channel, str) for channel in pipeline.listener.channels):
        yield "alerts need apprise", "apprise"
