"""Airflow's own records for the page: which runs are queued, at work or failed, which DAGs are paused, and
whether the scheduler lives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from muntin.definition.instants import instant_us
from muntin.extensions.airflow.place import END, START
from muntin.jobs.records.attempts import Attempt
from muntin.jobs.records.batch_states import ASK
from muntin.registry import extension

_STEPS = ("accumulate", "finalize", "validate", ASK, "publish")
_AT_WORK = ("running", "restarting", "deferred", "up_for_retry", "up_for_reschedule")
_NO_OWNER = "airflow"  # the owner of a DAG that names none
_MOST = 500  # runs of a DAG, the newest


def around(names: Sequence[str]) -> Any:  # noqa: ANN401 - an `Around` of the page
    """The runs of these DAGs, the paused DAGs and the dead parts, as Airflow knows them."""
    from airflow.api.common.airflow_health import get_airflow_health
    from airflow.configuration import conf
    from airflow.models.dag import DagModel
    from airflow.models.dagrun import DagRun
    from airflow.models.taskinstance import TaskInstance
    from airflow.utils.session import create_session
    from sqlalchemy import select

    columns = [getattr(DagRun, name) for name in _Run.COLUMNS]
    unended = DagRun.state.in_(("queued", "running", "failed"))
    tasks = (
        TaskInstance.dag_id,
        TaskInstance.run_id,
        TaskInstance.task_id,
        TaskInstance.state,
        TaskInstance.start_date,
        TaskInstance.end_date,
    )
    with create_session() as session:
        runs = session.execute(
            select(*columns)
            .where(DagRun.dag_id.in_(names), unended)
            .order_by(DagRun.run_after.desc())
            .limit(_MOST * 4)
        ).all()
        some = {run.run_id for run in runs}
        asked = select(*tasks).where(
            TaskInstance.dag_id.in_({run.dag_id for run in runs}), TaskInstance.run_id.in_(some)
        )
        by_run: dict[tuple[str, str], dict[str, Any]] = {}
        for task in session.execute(asked).all():
            if (step := step_in(task.task_id, task.dag_id)) in _STEPS:
                by_run.setdefault((task.dag_id, task.run_id), {})[step] = task
        dags = session.execute(
            select(DagModel.dag_id, DagModel.is_paused, DagModel.owners).where(DagModel.dag_id.in_(names))
        ).all()
    attempts_of_dag: dict[str, list[Attempt]] = {name: [] for name in names}
    base_url = str(conf.get("api", "base_url", fallback="")).rstrip("/")
    for run in runs:
        attempts_of_dag[run.dag_id].append(
            attempt_of(run, by_run.get((run.dag_id, run.run_id), {}), base_url)
        )
    health = get_airflow_health()
    parts = {"scheduler": "scheduler", "dag_processor": "DAG processor"}
    ill = [(part, health[part]) for part in parts if health[part]["status"] == "unhealthy"]
    host = extension("page", "host")
    dead = tuple(host.Dead(parts[part], _heartbeat(facts[f"latest_{part}_heartbeat"])) for part, facts in ill)
    paused = frozenset(dag.dag_id for dag in dags if dag.is_paused)
    owners = {dag.dag_id: dag.owners for dag in dags if dag.owners not in (None, "", _NO_OWNER)}
    return host.Around(attempts_of_dag, paused, dead, in_airflow=True, owners=owners)


class _Run:
    COLUMNS = (
        "dag_id",
        "run_id",
        "state",
        "conf",
        "queued_at",
        "start_date",
        "end_date",
        "data_interval_start",
        "data_interval_end",
    )


def attempt_of(run: Any, tasks: Mapping[str, Any], base_url: str) -> Attempt:  # noqa: ANN401 - rows of Airflow's
    """A run as an attempt; `tasks`: its tasks by step."""
    phase, step = _standing(str(run.state), {name: str(task.state) for name, task in tasks.items()})
    task = tasks.get(step)
    at = (
        (task and (task.end_date if phase == "failed" else task.start_date))
        or run.end_date
        or run.start_date
        or run.queued_at
    )
    began = run.start_date or run.queued_at or at
    link = f"{base_url}/dags/{quote(run.dag_id)}/runs/{quote(run.run_id)}" + (
        f"/tasks/{quote(task.task_id)}" if task else ""
    )
    return Attempt(run.run_id, _spans(run), phase, step, _us(began), _us(at), link=link)


def step_in(task_id: str, dag_id: str) -> str:
    """The step of a task, which in a DAG of the user's is in a group of the pipeline's name; of another task
    its own name.
    """
    return task_id.removeprefix(f"{dag_id}.")


def _standing(state: str, tasks: Mapping[str, str]) -> tuple[Any, str]:
    if state == "failed":
        return "failed", next((name for name in _STEPS if tasks.get(name) == "failed"), _next(tasks))
    if at_work := next((name for name in _STEPS if tasks.get(name) in _AT_WORK), None):
        return "running", at_work
    return "queued", _next(tasks)


def _next(tasks: Mapping[str, str]) -> str:
    steps = [name for name in _STEPS if name != ASK or name in tasks]
    return next((name for name in steps if tasks.get(name) != "success"), _STEPS[-1])


def _spans(run: Any) -> tuple[tuple[int, int], ...]:  # noqa: ANN401 - a row of Airflow's
    """The interval of a run: of its parameters, else its data interval; nothing where neither says: our note
    of the run may.
    """
    asked = run.conf or {}
    if asked.get(START) and asked.get(END):
        return ((_us(datetime.fromisoformat(asked[START])), _us(datetime.fromisoformat(asked[END]))),)
    start, end = run.data_interval_start, run.data_interval_end
    return ((_us(start), _us(end)),) if start and end and start != end and not asked.get(START) else ()


def _heartbeat(text: str | None) -> int | None:
    return _us(datetime.fromisoformat(text)) if text else None


def _us(moment: datetime | None) -> int:
    return instant_us(
        moment if moment and moment.tzinfo else (moment or datetime.now(UTC)).replace(tzinfo=UTC), "time"
    )
