"""Workers of the executor have imported what tasks need, and tasks never run a mixture of old and new code.

scheduler   imports ─ starts a worker ──────────────── a module is written anew
worker                └ all is there         its fork └ reads Muntin's own anew, refuses another library
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from examples.demo.home import PROJECT, program_env

NEEDED = [
    "deltalake",
    "duckdb",
    "great_expectations",
    "pandas",
    "muntin.engine.reduce.fold",
    "muntin.jobs.finalize.finalize",
    "pyspark.sql.connect.session",
]
WORKER = """
import json, sys
from pathlib import Path
from {module} import {name} as Executor

class Told:
    '''What a worker takes from its queue: unpickled, it writes what the worker has imported, and is the word to end.'''
    def __reduce__(self):
        return tell, ()

def tell():
    Path(sys.argv[1]).write_text(json.dumps([name in sys.modules for name in {needed}]))

executor = Executor(parallelism=1)
executor.start()
executor.activity_queue.put(Told())
for worker in executor.workers.values():
    worker.join(60)
"""
CHANGED = """
import os, sys
from pathlib import Path
from muntin.extensions.airflow import imported_ahead

sys.path.insert(0, sys.argv[1])
if sys.argv[2] == "plugin":
    import plugin  # as Airflow does
module, said = Path(sys.argv[1], sys.argv[2], "__init__.py"), Path(sys.argv[1], "said")
imported_ahead.OURS, imported_ahead.MODULES = "ours", (sys.argv[2],)
imported_ahead._great_expectations = lambda: None  # which takes seconds
imported_ahead.import_ahead()
module.write_text("VALUE = 'new, and longer'")
if os.fork() == 0:
    try:
        imported_ahead.check_libraries()
        said.write_text(__import__(sys.argv[2]).VALUE)
    except Exception as wrong:
        said.write_text(f"{type(wrong).__name__}: {wrong}")
    os._exit(0)
os.wait()
"""


def python(home: Path, program: str, *arguments: str) -> None:
    env = {**program_env(), "AIRFLOW_HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, cwd=PROJECT, env=env, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-2_000:]


@pytest.mark.parametrize(
    ("module", "name", "there"),
    [
        ("muntin.extensions.airflow.executor", "ReadyLocalExecutor", True),
        ("airflow.executors.local_executor", "LocalExecutor", False),
    ],
)
def test_a_worker_has_imported_what_tasks_need(tmp_path: Path, module: str, name: str, *, there: bool) -> None:
    python(tmp_path, WORKER.format(module=module, name=name, needed=NEEDED), str(tmp_path / "told"))
    assert dict(zip(NEEDED, json.loads((tmp_path / "told").read_text()), strict=True)) == dict.fromkeys(NEEDED, there)


@pytest.mark.parametrize(
    ("package", "said"),
    [
        ("plugin", "old"),  # a file of Airflow's own, read before: no library of ours
        ("ours", "new, and longer"),
        ("library", "StateError: library: installed anew since the scheduler imported it ahead of its tasks, which would mix both; "),
    ],
)
def test_a_fork_runs_no_code_of_before(tmp_path: Path, package: str, said: str) -> None:
    (tmp_path / package).mkdir()
    (tmp_path / package / "__init__.py").write_text("VALUE = 'old'")
    python(tmp_path, CHANGED, str(tmp_path), package)
    assert (tmp_path / "said").read_text().startswith(said)


def test_where_nothing_was_imported_ahead_nothing_is_refused(tmp_path: Path) -> None:
    python(tmp_path, "from muntin.extensions.airflow.imported_ahead import check_libraries; check_libraries()")
