"""The DAG that forgets keys, as docs/forgetting.md has it: what is new is forgotten, once, and a run fails while something is left."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import read, run
from muntin.cli.place import load_pipeline
from muntin.definition.pipeline import at_home
from muntin.extensions.forgetting.forget import plan_forget
from muntin.extensions.forgetting.remembered import new_keys, remembered, undo
from muntin.tasks import Local
from tests.docs.test_forgetting_page import BLOCKS
from tests.docs.test_forgetting_page import ROWS as VISITS

NAMED = [
    ('name="visits"', 'name="named"'),
    ("data/visits/", "data/named/"),
    ('keys=["user", "page"]', 'keys=["user"]'),
    ("rollups=", "# "),
    ('"clicks": agg.count()', '"pages": agg.collect("page")'),
]
Requests = Callable[[Sequence[dict[str, str]]], None]


@pytest.fixture(scope="session")
def dags(project: Path) -> dict[str, Any]:
    """The file of the page, and one whose windows list what other people wrote."""
    from airflow.dag_processing.dagbag import DagBag
    from airflow.utils.db import initdb

    initdb()
    text = "\n".join(BLOCKS[:2])
    (project / "dags/visits.py").write_text(text, encoding="utf-8")
    for old, new in NAMED:
        text = text.replace(old, new)
    (project / "dags/named.py").write_text(text, encoding="utf-8")
    bag = DagBag(dag_folder=str(project / "dags"))
    assert bag.import_errors == {}
    return dict(bag.dags)


@pytest.fixture
def requests(project: Path, root: Path) -> Requests:
    """Write the table of requests; a day of both pipelines has run."""
    for name, more in (("visits", []), ("named", ["u8,u7,2024-01-01T11:00:00Z,1.0"])):
        (project / f"data/{name}").mkdir(exist_ok=True)
        (project / f"data/{name}/2024-01-01.csv").write_text("\n".join([*VISITS, *more]) + "\n", encoding="utf-8")
        run(defined(project, name), root=root, start=datetime(2024, 1, 1, tzinfo=UTC), end=datetime(2024, 1, 2, tzinfo=UTC), spark=Local(1))
    return lambda rows: pq.write_table(pa.Table.from_pylist(list(rows)), project / "data/requests.parquet")


def defined(project: Path, name: str) -> Any:
    return at_home(load_pipeline(project / f"dags/{name}.py"), project)


def state_of(dag: Any) -> str:
    return str(dag.test(logical_date=datetime(2024, 1, 2, tzinfo=UTC)).state)


def test_the_dag_of_the_page_has_a_name_of_its_own_and_takes_options(dags: dict[str, Any]) -> None:
    dag = dags["visits.forget_keys"]
    assert (dag.catchup, dag.max_active_runs, [task.task_id for task in dag.tasks]) == (False, 1, ["forget_keys"])
    assert dag.access_control == {"Privacy": {"DAGs": {"can_read", "can_edit"}, "DAG Runs": {"can_create"}}}
    assert Path(dag.fileloc).name == "visits.py"


def test_new_requests_are_forgotten_once(dags: dict[str, Any], requests: Requests, project: Path, root: Path) -> None:
    visits = defined(project, "visits")
    requests([{"user": "u7"}])
    assert state_of(dags["visits.forget_keys"]) == "success"
    assert {*read(visits, "hour", root=root)["user"].to_pylist()} == {"u8"}
    assert state_of(dags["visits.forget_keys"]) == "success"
    assert [each["action"] for each in remembered(visits, root=root).events] == ["forget", "done"]
    undo(visits, [{"user": "u7"}], root=root)
    requests([{"user": "u7"}, {"user": "u9"}])
    assert state_of(dags["visits.forget_keys"]) == "success"
    assert [each["action"] for each in remembered(visits, root=root).events] == ["forget", "done", "undo", "forget", "done"]
    assert remembered(visits, root=root).keys == 1


def test_a_run_fails_while_something_is_left(dags: dict[str, Any], requests: Requests, project: Path, root: Path) -> None:
    named = defined(project, "named")
    requests([{"user": "u7"}])
    assert state_of(dags["named.forget_keys"]) == "failed"
    assert [each["user"] for each in new_keys(named, [{"user": "u7"}, {"user": "u8"}], root=root)] == ["u7", "u8"]
    assert {each.what for each in plan_forget(named, [{"user": "u7"}], root=root).left} == {"values"}
