"""What Airflow's database tells the page: in which files DAGs are, and which tasks published."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.page.views.explained import Run

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

_SAYS = b"airflow_dag"
_MOST = 5


def definition_files() -> dict[str, Path]:
    """Name of a DAG -> its file, of the files that call `airflow_dag`: no other file is run."""
    from airflow.models.dag import DagModel
    from airflow.utils.session import create_session
    from sqlalchemy import select

    with create_session() as session:
        found = session.execute(select(DagModel.dag_id, DagModel.fileloc).where(DagModel.is_stale.is_(False))).all()
    return {name: Path(file) for name, file in found if file and _is_ours(Path(file))}


def _is_ours(file: Path) -> bool:
    try:
        facts = file.stat()
        return _says(file, facts.st_mtime_ns, facts.st_size)
    except OSError:
        return False


@lru_cache(maxsize=4096)
def _says(file: Path, _written_ns: int, _size: int) -> bool:
    return _SAYS in file.read_bytes()


def runs_that_published(pipeline: str, published: datetime) -> Sequence[Run]:
    """The tasks `publish` of a DAG that were at work at an instant: one, or several that were at work at once."""
    from airflow.models.taskinstance import TaskInstance
    from airflow.utils.session import create_session
    from sqlalchemy import or_, select

    of_dag = (TaskInstance.dag_id == pipeline, TaskInstance.task_id == "publish")
    at_work = (TaskInstance.start_date <= published, or_(TaskInstance.end_date.is_(None), TaskInstance.end_date >= published))
    asked = select(TaskInstance.run_id, TaskInstance.task_id, TaskInstance.state).where(*of_dag, *at_work).limit(_MOST)
    with create_session() as session:
        return [Run(run_id, task_id, str(state) if state else None) for run_id, task_id, state in session.execute(asked).all()]
