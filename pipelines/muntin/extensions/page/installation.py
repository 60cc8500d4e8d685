"""The pipelines of an installation: their definitions, read again when a file changes, and the roots of their
states.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from muntin.definition.pipeline import Pipeline, at_home
from muntin.errors import DefinitionError, StateError
from muntin.files.paths import AnyPath
from muntin.jobs.state.definition_files import run_file_once
from muntin.jobs.state.home import dags_holder, named_home, root_of
from muntin.jobs.state.state_folders import state_folders


@dataclass(frozen=True, slots=True)
class Place:
    """A pipeline of the installation.

    Attributes:
        name: of the pipeline.
        root: of its state.
        pipeline: its definition, with absolute paths; None where no file has it, or the file cannot be run.
        file: of the definition; None where only a state is there.
    """

    name: str
    root: AnyPath
    pipeline: Pipeline | None = None
    file: Path | None = None


@dataclass(frozen=True, slots=True)
class Installation:
    """The places of definitions and states.

    Attributes:
        files: gives name of a pipeline -> file of its definition, as it is now.
        root: of the states, where a file names no other.
        home: the folder that relative paths start from, where neither the environment nor the file's place
            tells.
    """

    files: Callable[[], Mapping[str, Path]]
    root: AnyPath | None
    home: Path

    def places(self) -> dict[str, Place]:
        """Name -> pipeline: pipelines with a definition, then pipelines of which only a state is there."""
        pipeline_places = {name: self._place(name, file) for name, file in sorted(self.files().items())}
        roots = dict.fromkeys([each.root for each in pipeline_places.values()] + [self._root(None, None)])
        strays = [(folder.parent.name, root) for root in roots for folder in _states(root)]
        return {
            **{name: Place(name, root) for name, root in strays if name not in pipeline_places},
            **pipeline_places,
        }

    def one(self, name: str) -> Place | None:
        """The pipeline of this name, without running other definitions where a file has it; None: there is
        none.
        """
        file = self.files().get(name)
        return self._place(name, file) if file else self.places().get(name)

    def _place(self, name: str, file: Path) -> Place:
        pipeline, root = _definition(name, file)
        home = self._home(file)
        return Place(name, self._root(file, root), at_home(pipeline, home) if pipeline else None, file)

    def _home(self, file: Path | None) -> Path:
        return named_home() or (dags_holder(file) if file else None) or self.home

    def _root(self, file: Path | None, named: str | AnyPath | None) -> AnyPath:
        return self.root or root_of(self._home(file), named)


def _definition(name: str, file: Path) -> tuple[Pipeline | None, str | AnyPath | None]:
    """The pipeline of this name in a file, and the root that the file names; None and None where there is
    none.
    """
    try:
        defined = run_file_once(file)
    except (OSError, DefinitionError):
        return None, None
    by_dag = {pipeline.name: (pipeline, root) for pipeline, root in defined.dags}
    by_name = {pipeline.name: (pipeline, None) for pipeline in defined.pipelines}
    return {**by_name, **by_dag}.get(name, (None, None))


def _states(root: str | AnyPath) -> list[AnyPath]:
    try:
        return state_folders(root)
    except StateError:
        return []
