"""A Python that imports beside Java and forks for Spark's daemons: asked by those with its environment alone, gone with the command."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.cluster.standalone import eventually

CHECKOUT = Path(__file__).parents[2]
MODULE = """
import os, sys
from pathlib import Path
from muntin.spark.early_python import EARLY, be_early, work_early

def load():
    with Path({loaded!r}).open("a") as file:
        file.write(f"{{os.getpid()}} {{sys.argv[1:]}}\\n")

def work():
    print("works in a fork of", os.getppid(), os.environ["SPARK_LOCAL_DIRS"], flush=True)
    sys.stdin.read()

if sys.argv[1:2] == [EARLY]:
    be_early(load, work)
if not work_early():
    print("works alone", flush=True)
"""
COMMAND = """
import sys
from muntin.spark.early_python import begin
print(begin("daemon_of_a_test"), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "daemon_of_a_test.py").write_text(MODULE.format(loaded=str(tmp_path / "loaded")))
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    return clean | {"PYTHONPATH": f"{CHECKOUT}:{tmp_path}"}


@pytest.fixture
def command(env: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    """A command that has begun an early Python."""
    with subprocess.Popen([sys.executable, "-c", COMMAND], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        yield program


def place(command: subprocess.Popen[str]) -> str:
    assert command.stdout is not None
    return command.stdout.readline().strip()


def daemon(env: dict[str, str], asked: str, **more: str) -> str:
    """What a daemon says that Spark starts with this in its environment, and that has nothing to read."""
    given = env | {"MUNTIN_EARLY_PYTHON": asked, "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0", "SPARK_LOCAL_DIRS": "here"} | more
    words = [sys.executable, "-m", "daemon_of_a_test", "pyspark.worker"]
    return subprocess.run(words, env=given, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True, timeout=60).stdout


def test_daemons_work_in_forks_of_what_has_imported_once(command: subprocess.Popen[str], env: dict[str, str], tmp_path: Path) -> None:
    asked = place(command)
    said = [daemon(env, asked), daemon(env, asked)]
    early, argv = (tmp_path / "loaded").read_text().strip().split(" ", 1)
    assert said == [f"works in a fork of {early} here\n"] * 2
    assert argv == "['pyspark.worker']"
    command.communicate("", timeout=60)
    eventually(lambda: gone(int(early)), "the early Python has ended")
    assert daemon(env, asked) == "works alone\n"
    assert not Path(asked.partition(":")[2]).parent.exists()


def test_a_daemon_with_an_environment_of_its_own_imports_by_itself(command: subprocess.Popen[str], env: dict[str, str]) -> None:
    asked = place(command)
    assert daemon(env, asked, MUNTIN_KEEP_MEMORY="off") == "works alone\n"
    assert daemon(env, asked, OMP_NUM_THREADS="3") == "works alone\n"
    assert daemon(env, asked).startswith("works in a fork")


def test_a_command_that_is_killed_takes_it_along(command: subprocess.Popen[str], env: dict[str, str], tmp_path: Path) -> None:
    daemon(env, place(command))
    early = int((tmp_path / "loaded").read_text().split()[0])
    command.kill()
    eventually(lambda: gone(early), "the early Python has ended")


def test_no_room_for_a_socket_is_no_failure(tmp_path: Path, env: dict[str, str]) -> None:
    deep = tmp_path / ("d" * 100)
    deep.mkdir()
    program = subprocess.run(
        [sys.executable, "-c", COMMAND], env=env | {"TMPDIR": str(deep)}, input="", capture_output=True, text=True, check=True
    )
    assert program.stdout == "None\n"


def gone(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
