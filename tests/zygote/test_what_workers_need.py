"""Workers of Spark have a Python of their own: tasks and the daemon import what the extra `worker` brings and Spark, nothing else."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster.standalone import CHECKOUT

FOREIGN = ("airflow", "great_expectations", "pandas", "matplotlib", "fastapi", "apprise", "opentelemetry", "psycopg")
BLOCKED = """
import sys
from pathlib import Path
class Blocked:
    def find_spec(self, name, *_):
        if name in {blocked!r} or name.partition(".")[0] in {blocked!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Blocked())
"""
DAEMON = """
import gc
from muntin.extensions.zygote.daemon import load
load()
print(sorted(name for name in sys.modules if name.startswith("pyspark.sql.connect")))
print(len(gc.get_objects()) < 1_000 < gc.get_freeze_count())
"""
TASKS = """
from tests.storage.three_batches import Small
small = Small(Path({folder!r}))
small.write_all()
print(sum(batch.rows_read for batch in small.run("root").batches))
"""

FREED = """
import numpy as np, psutil
from muntin.extensions.zygote.daemon import load
load()
used = lambda: psutil.Process().memory_info().rss
del (first := [np.ones(1_000_000)])[:]  # the first that is freed raises glibc's own threshold
taken, small = [], []
for _ in range(40):
    taken.append(np.ones(1_000_000))
    small.append([bytes(4_000) for _ in range(5)])
before = used()
taken.clear()
print((before - used()) / 320e6)
"""


def printed(program: str, *blocked: str, **words: str) -> str:
    text = (BLOCKED + program).format(blocked=blocked, **words)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False, cwd=CHECKOUT)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_daemon_needs_nothing_else_and_no_task_collects_garbage_among_what_it_imported() -> None:
    assert printed(DAEMON, *FOREIGN) == "[]\nTrue\n"


def test_tasks_need_not_even_spark(tmp_path: Path) -> None:
    assert printed(TASKS, *FOREIGN, "pyspark", folder=str(tmp_path)) == "11\n"


@pytest.mark.parametrize(("said", "gives_back"), [("", False), ("off", True)])
def test_memory_that_is_free_is_kept_unless_told_otherwise(said: str, gives_back: bool) -> None:
    env = os.environ | {"MUNTIN_KEEP_MEMORY": said}
    done = subprocess.run([sys.executable, "-c", FREED], capture_output=True, text=True, check=True, cwd=CHECKOUT, env=env)
    assert (float(done.stdout) > 0.9) is gives_back, done.stdout


def test_what_is_blocked_is_missing() -> None:
    assert (
        printed("try:\n    import pandas\nexcept ModuleNotFoundError as wrong:\n    print(wrong)\n", "pandas")
        == "No module named 'pandas'\n"
    )


SESSIONS = """
import duckdb
from muntin.sources.sessions.duckdb_session import kept_session, sessions_of_a_task
with sessions_of_a_task():
    session = kept_session(None)
try:
    print(session.execute("SELECT 'open'").fetchone()[0], kept_session(None) is session)
except duckdb.ConnectionException:
    print("closed", kept_session(None).execute("SELECT 1").fetchone()[0])
"""


@pytest.mark.parametrize(("said", "found"), [("on", "open True\n"), ("off", "closed 1\n")])
def test_sessions_of_a_task_are_closed_where_memory_is_short(monkeypatch: pytest.MonkeyPatch, said: str, found: str) -> None:
    monkeypatch.setenv("MUNTIN_KEEP_MEMORY", said)
    assert printed(SESSIONS) == found
