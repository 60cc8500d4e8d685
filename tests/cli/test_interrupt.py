"""An interrupted run says so in a line, leaves nothing half done, and the next run goes on. The installed command, with Spark."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from examples.demo.home import make_home
from examples.demo.servers import spark, until_spark
from muntin import read
from muntin.cli.place import placed
from muntin.jobs.run import run
from muntin.tasks import Local
from tests.case_counts import some

pytestmark = pytest.mark.spark

# A step waits where it opens a pipe that nobody writes to. A file in place of the pipe holds nobody up.
DEFINITION = """
from datetime import UTC, datetime
from pathlib import Path

from muntin import Pipeline, sources, windows
from muntin import aggregates as agg
from muntin.store.delta import DeltaStore

HERE = {folder!r}


def waited(step):
    return len(Path(HERE, step).read_text())


def counted(n, value):
    return n + 1 + waited("accumulate")


def finished(n):
    return float(n + waited("finalize"))


if Path(HERE, "publish").is_fifo():
    commit = DeltaStore.commit

    def waiting(store, table, *rest):
        if table.startswith("../windows"):
            waited("publish")
        return commit(store, table, *rest)

    DeltaStore.commit = waiting

readings = Pipeline(
    name="readings",
    source=sources.files(HERE + "/{{start:%Y-%m-%d}}.csv", event_time="at"),
    schedule="@daily",
    start=datetime(2020, 1, 1, tzinfo=UTC),
    windows={{"day": windows.tumbling("1d")}},
    aggregates={{"n": agg.own("n", "value", create=int, accumulate=counted, combine=lambda a, b: a + b, finish=finished)}},
    expectations={{"day": HERE + "/suite.json"}},
)
"""
STEPS = {"accumulate": signal.SIGINT, "finalize": signal.SIGTERM, "validate": signal.SIGINT, "publish": signal.SIGTERM}
BEFORE = "nothing of this run was published; run again"
LINES = {
    "accumulate": BEFORE,
    "finalize": BEFORE,
    "validate": BEFORE,
    "publish": "what was published before is whole; run again for the rest",
}


def project(folder: Path, held: str) -> Path:
    """A definition with a day of events and a suite. The step `held` waits for ever, but for `validate`: it loads packages for seconds."""
    file = folder / "readings.py"
    file.write_text(DEFINITION.format(folder=str(folder)))
    (folder / "2020-01-01.csv").write_text("at,value\n2020-01-01T01:00:00Z,1\n2020-01-01T02:00:00Z,2\n")
    expectation = {"type": "expect_column_values_to_not_be_null", "kwargs": {"column": "n"}, "severity": "critical"}
    (folder / "suite.json").write_text(json.dumps({"name": "s", "expectations": [expectation]}))
    for step in ("accumulate", "finalize", "publish"):
        os.mkfifo(folder / step) if step == held else (folder / step).touch()
    return file


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Spark Connect server; its URL."""
    home = make_home(tmp_path_factory.mktemp("spark"), state=Path("unused"))
    with spark(home) as program:
        until_spark(home, program)
        yield home.spark


@pytest.mark.parametrize("step", some(STEPS))
def test_an_interrupted_run_is_no_failure(step: str, tmp_path: Path) -> None:
    interrupted(step, STEPS[step], tmp_path)


def test_so_it_is_with_a_spark_of_its_own(tmp_path: Path) -> None:
    interrupted("accumulate", signal.SIGINT, tmp_path, "--spark", "local[1]")


# the server may not hear of Ctrl-C in the terminal: what it does is stopped by the client
@pytest.mark.parametrize(("step", "number"), some([("accumulate", signal.SIGTERM), ("finalize", signal.SIGINT)]))
def test_so_it_is_over_connect(step: str, number: signal.Signals, server: str, tmp_path: Path) -> None:
    interrupted(step, number, tmp_path, "--spark", server)


def interrupted(step: str, number: signal.Signals, tmp_path: Path, *more: str) -> None:
    """Run until a step waits, send a signal, and see what is said and what is left."""
    file, root = project(tmp_path, step), tmp_path / "state"
    words = ["run", str(file), "--root", str(root), "--start", "2020-01-01", "--end", "2020-01-02", *more]
    program = Path(sys.executable).with_name("muntin")
    started = subprocess.Popen([program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert started.stderr is not None
    seen: list[str] = []
    for line in started.stderr:
        seen.append(line)
        if line.split()[-1:] == [step]:
            break
    # as a terminal does: to all processes of the command, of which Spark's Java is one
    (os.killpg if number == signal.SIGINT else os.kill)(started.pid, number)
    out, rest = started.communicate(timeout=240)
    assert rest.splitlines() == [f"interrupted in step {step}; {LINES[step]}"], seen
    assert (started.returncode, out) == (128 + number, "")
    assert not list(root.rglob("windows*/**/_delta_log/*.json"))
    if step != "validate":
        (tmp_path / step).unlink()
        (tmp_path / step).touch()
    pipeline, folder = placed(file, None, root)
    start, end = datetime(2020, 1, 1, tzinfo=UTC), datetime(2020, 1, 2, tzinfo=UTC)
    run(pipeline, root=folder, start=start, end=end, spark=Local(1), validate=False)
    assert list(root.rglob("windows*/**/_delta_log/*.json"))
    assert read(pipeline, "day", root=folder)["n"].to_pylist() == [2.0]
