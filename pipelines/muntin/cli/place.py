"""Where a command works: its definition with absolute paths, the root of its state, who runs its tasks."""

import sys
from contextlib import suppress
from pathlib import Path

from muntin.cli.output import is_quiet
from muntin.definition.pipeline import Pipeline, at_home
from muntin.definition.spelling import did_you_mean
from muntin.errors import DefinitionError
from muntin.files.paths import AnyPath
from muntin.jobs.state import home
from muntin.jobs.state.definition_files import imported_pipelines, run_file
from muntin.jobs.state.same_names import check_alone


def placed(file: Path, name: str | None, root: "AnyPath | None") -> "tuple[Pipeline, AnyPath]":
    """The pipeline of a file, its relative paths below the project's folder, and the root of its state.

    A second file of the folder `dags` with a pipeline of this name is refused.
    """
    pipeline_and_root = _located(file, name, root)
    check_alone(file, pipeline_and_root[0].name)
    return pipeline_and_root


def inspected(file: Path, name: str | None, root: "AnyPath | None") -> "tuple[Pipeline, AnyPath]":
    """The place of a command that only reads tables, as `placed` gives it; two files with definitions of one
    pipeline may be compared.
    """
    pipeline_and_root = _located(file, name, root)
    without_pandas()
    return pipeline_and_root


def _located(file: Path, name: str | None, root: "AnyPath | None") -> "tuple[Pipeline, AnyPath]":
    return at_home(load_pipeline(file, name), home_of(file)), root_of(root, file)


def home_of(file: Path | None) -> Path:
    """`MUNTIN_HOME`, else the folder that holds the folder `dags` of the file, else the folder that the
    command runs in.
    """
    return home.named_home() or (home.dags_holder(file) if file else None) or Path.cwd()


def root_of(root: "AnyPath | None", file: Path | None = None) -> "AnyPath":
    """The root: as given, relative to where the command runs; else `MUNTIN_ROOT`, else `state`, relative to
    the project's folder.
    """
    return home.root_of(Path.cwd() if root else home_of(file), root)


class _Refused:
    """Says of pandas, while Arrow tries to import it, that it cannot be imported."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        if name == "pandas":
            raise ImportError(name)


def without_pandas() -> None:
    """Let Arrow try to import pandas once, in vain; from then on it goes without. Other modules can import
    pandas as before.

    For commands that read tables: Arrow imports pandas, where it is installed, as soon as it is given a
    Python value, and that takes half a second. It does nothing where pandas is there already, as after a
    definition that imports it.
    """
    if "pandas" in sys.modules:
        return
    import pyarrow as pa

    sys.meta_path.insert(0, _Refused)  # type: ignore[arg-type]
    try:
        with suppress(ImportError):
            pa.scalar(0)
    finally:
        sys.meta_path.remove(_Refused)  # type: ignore[arg-type]


def load_pipeline(file: Path, name: str | None = None) -> Pipeline:
    """Run a definition's file and find the pipeline in it. A name is needed where the file holds several."""
    pipelines = _pipelines_in(file)
    if name is None and len(pipelines) > 1:
        pipelines = {
            each.name: each for each in pipelines.values() if id(each) not in imported_pipelines()
        } or pipelines
    if name is None and len(pipelines) == 1:
        return next(iter(pipelines.values()))
    if name in pipelines:
        return pipelines[name]
    asked = (
        f"there is no {name!r}{did_you_mean(name, pipelines)}" if name else "say which with --pipeline NAME"
    )
    raise DefinitionError(f"{file} holds {', '.join(sorted(pipelines))}; {asked}")


def names_in(file: Path) -> list[str]:
    """The names of the pipelines that a file defines, and does not import."""
    pipelines = _pipelines_in(file)
    return [each.name for each in pipelines.values() if id(each) not in imported_pipelines()] or [*pipelines]


def _pipelines_in(file: Path) -> dict[str, Pipeline]:
    if not file.is_file():
        from muntin.files.near import near

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


def say_where(pipeline: "Pipeline", spark: str | None, *, validate: bool) -> None:
    """Say on stderr where tasks run; nothing in quiet."""
    from muntin.jobs.publish.spark_needed import spark_needed
    from muntin.tasks import place_of

    place = place_of(spark, needed=spark_needed(pipeline, validate=validate))
    if not is_quiet():
        print(f"{pipeline.name}: tasks run {place}", file=sys.stderr)
