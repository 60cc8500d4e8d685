"""A DAG over a function: a task asks for the rows of its interval, and fails while they are not there; a later run asks again."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from muntin import read
from muntin.cli.place import load_pipeline

DEFINITION = """
import json
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa

from muntin import Pipeline, airflow_dag, sources, windows
from muntin import aggregates as agg


def rows_of(start, end):
    rows = json.loads(Path({rows!r}).read_text()).get(start.strftime("%d"))
    return rows and pa.table({{"at": [start] * len(rows), "k": [1] * len(rows), "x": rows}})


def rates():
    return pa.table({{"since": [datetime(2023, 1, 1, tzinfo=UTC)], "k": [1], "rate": [10]}})


asked = Pipeline(
    name="asked",
    source=sources.function(rows_of, event_time="at"),
    schedule="@daily",
    start=datetime(2024, 1, 1, tzinfo=UTC),
    windows={{"day": windows.tumbling("1d")}},
    aggregates={{"x": agg.sum("x * rates.rate")}},
    lookups={{"rates": sources.lookup(sources.function(rates), keys=["k"], since="since")}},
)

dag = airflow_dag(asked, spark=None)
"""


def test_a_dag_asks_a_function(project: Path, dags: dict[str, Any], root: Path, tmp_path: Path) -> None:
    from airflow.dag_processing.dagbag import DagBag

    rows, file = tmp_path / "rows.json", project / "dags/asked.py"
    file.write_text(DEFINITION.format(rows=str(rows)))
    dag: Any = DagBag(dag_folder=str(file)).dags["asked"]
    days = {"01": [1, 2], "02": None}
    for content, day, state in [
        (days, 1, "success"),
        (days, 2, "failed"),
        (days | {"02": [5]}, 2, "success"),
        (days | {"01": [7]}, 1, "success"),
    ]:
        rows.write_text(json.dumps(content))
        run = dag.test(logical_date=datetime(2024, 1, day + 1, tzinfo=UTC))
        assert str(run.state) == state
    assert read(load_pipeline(file), "day", root=root)["x"].to_pylist() == [70, 50]
