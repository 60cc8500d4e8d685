"""Memory that ends in a run: a sentence says at which step and batch, nothing is lost, and the same run goes on where there is more."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from muntin import aggregates as agg
from muntin import read, run
from muntin.cli.failure import explained
from muntin.definition.instants import instant_us
from muntin.errors import OutOfMemoryError
from muntin.jobs.records.batch_status import batch_states
from muntin.jobs.state.bound import bind
from muntin.tasks import Local
from muntin.tasks.spark import OnSpark
from tests.end_to_end.hourly import Hourly, hour

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS, GONE_JAVA = 200_000, "Spark's Java was killed, probably for its memory"
KEPT = agg.collect("v")


@pytest.fixture
def made(tmp_path: Path) -> Hourly:
    """Hour 0 is published; hour 1 has more values than 4 MB hold."""
    made = Hourly(tmp_path, other={"aggregates": {"n": agg.count(), "all": KEPT}})
    made.write("00.parquet", {"at": [hour(0.5)] * 3, "v": [1.0, 2.0, 3.0]})
    made.write("01.parquet", {"at": [hour(1.5)] * ROWS, "v": [float(at) for at in range(ROWS)]})
    made.run()
    return made


def test_sql_that_reaches_its_limit(made: Hourly, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUNTIN_SQL_MEMORY", "4MB")
    before, wanted = read(made.pipeline, "hour", root=made.root), ["accumulate of [2024-01-01T01:00, 2024-01-01T02:00)", "01.parquet"]
    with pytest.raises(OutOfMemoryError, match=r"MUNTIN_SQL_MEMORY.*Nothing is lost.*more memory") as told:
        run(made.pipeline, root=made.root, start=hour(1), end=hour(2), spark=Local())  # in threads whose sessions are open
    assert [words for words in wanted if words not in str(told.value)] == []
    assert read(made.pipeline, "hour", root=made.root).equals(before)
    assert "MUNTIN_SQL_MEMORY" in (failure(made) or "")
    monkeypatch.delenv("MUNTIN_SQL_MEMORY")
    run(made.pipeline, root=made.root, start=hour(1), end=hour(2), spark=Local())
    run(made.pipeline, root=made.folder / "clean", start=hour(0), end=hour(2))
    assert read(made.pipeline, "hour", root=made.root).equals(read(made.pipeline, "hour", root=made.folder / "clean"))
    assert failure(made) is None


def failure(made: Hourly) -> str | None:
    """Why the newest batch failed, as status tells it."""
    one = batch_states(bind(made.pipeline, made.root), instant_us(hour(2), "now")).listed[-1]
    return one.reason if one.state == "failed" else None


def test_a_task_without_memory_is_named_and_makes_nothing_else_of_it() -> None:
    item = SimpleNamespace(label="[2024-01-01, 2024-01-02), a.csv")
    with pytest.raises(OutOfMemoryError, match=r"^no memory was left, at \[2024-01-01, 2024-01-02\), a.csv$"):
        Local(1).run(lambda _: len(bytearray(1 << 60)), [item])
    assert explained(MemoryError()).startswith("no memory was left; give it more memory")


@pytest.mark.spark
def test_a_worker_that_is_killed(spark: "SparkSession") -> None:
    items = [SimpleNamespace(label=f"batch {number}") for number in range(3)]
    killing: Any = _by_value("lambda item: os.kill(os.getpid(), signal.SIGKILL) if item.label == 'batch 1' else 0")
    with pytest.raises(OutOfMemoryError, match=r"a Python process of Spark was killed, .*, in a job of 3 tasks, at batch 1$"):
        OnSpark(spark).run(killing, items)
    lacking: Any = _by_value("lambda item: bytearray(1 << 60)")
    with pytest.raises(OutOfMemoryError, match=r"^no memory was left, at batch 0$"):
        OnSpark(spark).run(lacking, items[:1])


def _by_value(text: str) -> Any:
    """A function that workers get with its code: they do not have this file."""
    return eval(text, {"os": os, "signal": signal, "__name__": "__main__"})  # noqa: S307 - above


GONE = """
import sys
from pathlib import Path
import psutil
from muntin import run
from muntin.errors import OutOfMemoryError
from tests.end_to_end.hourly import Hourly, hour

def at(step):
    if step == "finalize":
        for each in psutil.Process().children(recursive=True):
            if "java" in each.name():
                each.kill()
                each.wait()

made = Hourly(Path(sys.argv[1]))
try:
    run(made.pipeline, root=made.root, start=hour(0), end=hour(1), spark="local[1]", progress=at)
except OutOfMemoryError as wrong:
    print(wrong)
"""


@pytest.mark.spark
def test_the_java_that_is_killed(tmp_path: Path) -> None:
    made = Hourly(tmp_path)
    made.write("00.parquet", {"at": [hour(0.5)] * 3})
    done = subprocess.run([sys.executable, "-c", GONE, str(tmp_path)], check=True, capture_output=True, text=True)
    assert done.stdout.startswith(f"finalize of [2024-01-01, 2024-01-01T01:00): {GONE_JAVA}. Nothing is lost")
    assert GONE_JAVA in (failure(made) or "")
    made.run()
    assert made.rows("n") == [(3,)]
