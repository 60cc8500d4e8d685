"""The pipeline that a command is about, found in its file."""

import sys
from pathlib import Path
from types import ModuleType

from muntin.definition.pipeline import Pipeline
from muntin.definition.spelling import did_you_mean
from muntin.errors import DefinitionError
from muntin.files.near import near
from muntin.jobs.state.definition_files import run_file


def load_pipeline(file: Path, name: str | None = None) -> Pipeline:
    """Run a definition's file and find the pipeline in it. A name is needed where the file holds several."""
    pipelines = _known(file)
    if name is None and len(pipelines) > 1:
        pipelines = {
            each.name: each for each in pipelines.values() if id(each) not in _imported()
        } or pipelines
    if name is None and len(pipelines) == 1:
        return next(iter(pipelines.values()))
    if name in pipelines:
        return pipelines[name]
    asked = (
        f"there is no {name!r}{did_you_mean(name, pipelines)}" if name else "say which with --pipeline NAME"
    )
    raise DefinitionError(f"{file} holds {', '.join(sorted(pipelines))}; {asked}")


def _imported() -> set[int]:
    """Pipelines of modules that were imported: a definition over another's windows imports that one."""
    modules = [module for module in [*sys.modules.values()] if isinstance(module, ModuleType)]
    return {
        id(value) for module in modules for value in [*vars(module).values()] if isinstance(value, Pipeline)
    }


def names_in(file: Path) -> list[str]:
    """The names of the pipelines that a file defines, and does not import."""
    pipelines = _known(file)
    return [each.name for each in pipelines.values() if id(each) not in _imported()] or [*pipelines]


def _known(file: Path) -> dict[str, Pipeline]:
    if not file.is_file():
        there = near(str(file.absolute() / "*.py" if file.is_dir() else file.absolute()))
        what = f"{file} is a folder" if file.is_dir() else f"there is no file {file}"
        raise DefinitionError(
            f"{what}; give the Python file that defines the pipeline, as dags/flights.py; {there}"
        )
    if file.suffix != ".py":
        raise DefinitionError(
            f"{file} is no Python file; give the file that defines the pipeline, as dags/flights.py"
        )
    pipelines = {pipeline.name: pipeline for pipeline in run_file(file).pipelines}
    if not pipelines:
        raise DefinitionError(
            f"{file} holds no Pipeline; assign one to a name, as flights = Pipeline(name=...)"
        )
    return pipelines
