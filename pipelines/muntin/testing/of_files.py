"""A definition's file, and a run over the files of its source, without Airflow and without Spark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from muntin.definition.pipeline import at_home
from muntin.definition.spelling import did_you_mean
from muntin.errors import DefinitionError
from muntin.jobs.run import run
from muntin.jobs.state.definition_files import run_file
from muntin.jobs.state.home import dags_holder
from muntin.tasks import Local

if TYPE_CHECKING:
    from datetime import datetime

    from muntin.definition.pipeline import Pipeline
    from muntin.jobs.records.reports import RunReport


def pipeline_of(file: str | Path, *, name: str | None = None, home: str | Path | None = None) -> Pipeline:
    """The pipeline of a definition's file, its relative paths below a folder. Airflow is not needed for it.

    Args:
        file: a Python file, as Airflow's DAG files are.
        name: which, if the file holds several.
        home: where relative paths start; the folder that holds `dags/` if left out, else the present one.

    Raises:
        DefinitionError: no such file, an error in it, no pipeline, or several and no name.
    """
    path = Path(file)
    if not path.is_file():
        raise DefinitionError(f"there is no file {path}")
    pipelines = {each.name: each for each in run_file(path).pipelines}
    if not pipelines:
        raise DefinitionError(f"{path} holds no Pipeline")
    chosen = name or next(iter(pipelines))
    if chosen not in pipelines or (name is None and len(pipelines) > 1):
        asked = f"there is no {name!r}{did_you_mean(name, pipelines)}" if name else "say which by name="
        raise DefinitionError(f"{path} holds {', '.join(sorted(pipelines))}; {asked}")
    return at_home(pipelines[chosen], Path(home).absolute() if home else dags_holder(path) or Path.cwd())


def run_here(pipeline: Pipeline, *, root: str | Path, start: datetime, end: datetime) -> RunReport:
    """The batches from `start` to `end`, from the source's files to published windows, in this process.
    Suites are not tried.

    Raises:
        MuntinError: as `run`.
    """
    return run(pipeline, root=root, start=start, end=end, spark=Local(), validate=False)
