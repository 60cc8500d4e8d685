"""Facts for the page from Airflow's database: which files define DAGs, and which tasks published.

Access rights of the page:

Airflow authenticates only its own API, so that a plugin must check rights. Imports Airflow's web server.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from airflow.api_fastapi.core_api.security import GetUserDep, requires_access_dag
from fastapi import HTTPException, Request

from muntin.definition.instants import from_us
from muntin.registry import extension
from muntin.store.state import DAG_ENDS


def enter(request: Request, user: GetUserDep) -> None:
    """Remember who asks, by the token of the request or its cookie; Airflow refuses strangers with 401."""
    request.state.muntin_reader = user


def may_see(request: Request, name: str) -> bool:
    """Whether Airflow lets who asks read the DAG of this name."""
    try:
        requires_access_dag("GET", param_dag_id=name)(request, request.state.muntin_reader)
    except HTTPException as refused:
        if refused.status_code == 403:  # noqa: PLR2004 - forbidden
            return False
        raise
    return True


def may_see_forgotten(request: Request, name: str) -> bool:
    """Whether Airflow lets who asks read the DAG that forgets keys of this pipeline."""
    return may_see(request, f"{name}{DAG_ENDS}")


_SAYS = (b"airflow_dag", b"muntin_tasks")
_TASK = "publish"
_MOST = 20


def definition_files() -> dict[str, Path]:
    """Name of a DAG -> its file, of the files that call `airflow_dag` or `muntin_tasks`: no other file is
    run.
    """
    from airflow.models.dag import DagModel
    from airflow.utils.session import create_session
    from sqlalchemy import select

    with create_session() as session:
        dag_files = session.execute(
            select(DagModel.dag_id, DagModel.fileloc).where(DagModel.is_stale.is_(False))
        ).all()
    return {
        name: Path(file)
        for name, file in dag_files
        if file and not name.endswith(DAG_ENDS) and _is_ours(Path(file))
    }


def _is_ours(file: Path) -> bool:
    try:
        facts = file.stat()
        return _says(file, facts.st_mtime_ns, facts.st_size)
    except OSError:
        return False


@lru_cache(maxsize=4096)
def _says(file: Path, _written_ns: int, _size: int) -> bool:
    text = file.read_bytes()
    return any(name in text for name in _SAYS)


def runs_that_published(pipeline: str, window: str, batch_us: int, published: datetime) -> Sequence[Any]:
    """The task `publish` that published the windows of a batch: of the tasks at work at an instant, the task
    whose XCom says so.

    All tasks at work, if no XCom says so: a task found the windows published already, or is not done.
    """
    from airflow.models.taskinstance import TaskInstance
    from airflow.models.xcom import XComModel
    from airflow.utils.session import create_session
    from sqlalchemy import or_, select

    names = (_TASK, f"{pipeline}.{_TASK}")  # in a group, where the DAG is one of the user's
    of_dag = (TaskInstance.dag_id == pipeline, TaskInstance.task_id.in_(names))
    at_work = (
        TaskInstance.start_date <= published,
        or_(TaskInstance.end_date.is_(None), TaskInstance.end_date >= published),
    )
    tasks = (
        select(TaskInstance.run_id, TaskInstance.task_id, TaskInstance.state)
        .where(*of_dag, *at_work)
        .limit(_MOST)
    )
    with create_session() as session:
        run = extension("page", "host").Run
        runs_at_work = [
            run(run_id, task_id, str(state) if state else None)
            for run_id, task_id, state in session.execute(tasks).all()
        ]
        by_run = (
            XComModel.dag_id == pipeline,
            XComModel.task_id.in_(names),
            XComModel.run_id.in_([run.run_id for run in runs_at_work]),
        )
        values = session.execute(
            select(XComModel.run_id, XComModel.value).where(*by_run, XComModel.key == "return_value")
        ).all()
    publishing_run_ids = {run_id for run_id, value in values if tells_of(value, window, batch_us)}
    return [run for run in runs_at_work if run.run_id in publishing_run_ids] or runs_at_work


def tells_of(value: Any, window: str, batch_us: int) -> bool:  # noqa: ANN401 - whatever an XCom holds
    """Whether what a task `publish` returned says that it published the windows of a batch."""
    published = value.get("published") if isinstance(value, dict) else None
    starts = published.get(window) if isinstance(published, dict) else None
    return isinstance(starts, list) and from_us(batch_us).isoformat() in starts
