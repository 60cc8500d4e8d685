"""Daemons of a server share one Python that has imported everything: each has its own streams, folder, environment and end."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from muntin.extensions.zygote.zygote import LENGTH, has_children, is_running, started_at
from tests.cluster.standalone import eventually

CHECKOUT = Path(__file__).parents[2]
SERVER = """
import subprocess, sys
for line in sys.stdin:
    session, folder = line.split()
    daemon = subprocess.Popen(
        [sys.executable, "-c", {daemon!r}], cwd=folder, stdin=subprocess.PIPE,
        env=__import__("os").environ | {{"SPARK_JOB_ARTIFACT_UUID": session}}, stdout=open(folder + "/out", "w"), stderr=subprocess.STDOUT,
    )
    print(daemon.pid, flush=True)
"""
DAEMON = """
import os, sys
sys.path.insert(0, os.getcwd())
from pathlib import Path
from muntin.extensions.zygote.shared import is_of_a_session, key, run

def load():
    with open({here!r} + "/loaded", "a") as file:
        file.write("loaded\\n")
    {loading}

def work():
    print(os.getpid(), os.getcwd(), sys.path[0], os.environ["SPARK_JOB_ARTIFACT_UUID"], flush=True)
    sys.stdin.read()
    print("over", flush=True)

assert is_of_a_session()
try:
    run(load, work, key(Path({here!r}, "code"), sys.path))
except OSError as wrong:
    print("alone:", wrong, flush=True)
"""


@dataclass(frozen=True, slots=True)
class Server:
    """A program that starts a daemon for each session."""

    folder: Path
    temporary: Path
    process: "subprocess.Popen[str]"

    def daemon(self, session: str) -> int:
        """Start one; its number."""
        (self.folder / session).mkdir(exist_ok=True)
        assert self.process.stdin
        assert self.process.stdout
        print(session, self.folder / session, file=self.process.stdin, flush=True)
        return int(self.process.stdout.readline())

    def said(self, session: str) -> list[str]:
        """What it printed first: the fork, its folder, the first place of its modules, its session."""
        out = self.folder / session / "out"
        eventually(lambda: out.exists() and out.read_text().endswith("\n"), f"{session} says something")
        return out.read_text().splitlines()[0].split()

    def loads(self) -> int:
        """How often anything was imported."""
        return len((self.folder / "loaded").read_text().splitlines())


@contextmanager
def server(folder: Path, *, loading: str = "") -> Iterator[Server]:
    (folder / "code").mkdir()
    (folder / "code/a.py").write_text("")
    program = SERVER.format(daemon=DAEMON.format(here=str(folder), loading=loading))
    short = tempfile.mkdtemp()  # the path of a socket has a hundred letters at most
    env = os.environ | {"TMPDIR": short, "PYTHONPATH": str(CHECKOUT)}
    process = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
    try:
        yield Server(folder, Path(short), process)
    finally:
        process.kill()
        process.communicate()
        shutil.rmtree(short, ignore_errors=True)


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Server]:
    with server(tmp_path) as found:
        yield found


def test_two_sessions_import_once_and_share_nothing_else(running: Server) -> None:
    for session in ("one", "two"):
        running.daemon(session)
    (first, *of_first), (second, *of_second) = running.said("one"), running.said("two")
    assert first != second
    assert of_first == [str(running.folder / "one")] * 2 + ["one"]
    assert of_second == [str(running.folder / "two")] * 2 + ["two"]
    assert running.loads() == 1


def test_other_code_is_imported(running: Server) -> None:
    running.daemon("one")
    running.said("one")
    (running.folder / "code/b.py").write_text("")
    running.daemon("two")
    running.said("two")
    assert running.loads() == 2


def test_who_ends_a_daemon_ends_its_fork_alone(running: Server) -> None:
    daemon, _ = running.daemon("one"), running.daemon("two")
    one, two = (int(running.said(session)[0]) for session in ("one", "two"))
    os.kill(daemon, signal.SIGTERM)
    eventually(lambda: gone(one), "the fork ends")
    assert not gone(two)


def test_an_end_before_the_answer_ends_the_fork_that_comes() -> None:
    ours, theirs = socket.socketpair()
    waits = "from muntin.extensions.zygote.shared import wait_for_fork"
    asks = f"import socket, sys; {waits}; wait_for_fork(socket.socket(fileno=int(sys.argv[1])))"
    daemon = subprocess.Popen([sys.executable, "-c", asks, str(theirs.fileno())], pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
    theirs.close()
    assert ours.recv(4), "it asks"
    daemon.terminate()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as fork:
        ours.sendall(LENGTH.pack(fork.pid))
        assert fork.wait(60) == -signal.SIGTERM
    ours.close()
    assert daemon.wait(60) == 0


@pytest.mark.parametrize("end", [psutil.Process.kill, psutil.Process.terminate])
def test_nothing_is_left_of_a_server_that_ends(running: Server, end: Callable[[psutil.Process], None]) -> None:
    running.daemon("one")
    running.said("one")
    all_of_it = psutil.Process(running.process.pid).children(recursive=True)
    assert len(all_of_it) == 3  # the daemon, the zygote and the fork
    end(psutil.Process(running.process.pid))
    eventually(lambda: all(gone(each.pid) for each in all_of_it), "all end")
    assert (running.folder / "one/out").read_text().endswith("over\n"), "the fork saw the end of its input"


def test_without_a_zygote_the_daemon_works_alone(tmp_path: Path) -> None:
    with server(tmp_path, loading="import no_such_module") as found:
        found.daemon("one")
        assert found.said("one")[0] == "alone:"


def test_a_folder_that_others_may_enter_is_not_used(running: Server) -> None:
    (running.temporary / f"muntin-python-{os.getuid()}").mkdir(mode=0o755)
    running.daemon("one")
    assert running.said("one")[0] == "alone:"


def test_a_number_that_another_process_got_is_not_the_same() -> None:
    assert is_running(os.getpid(), started_at(os.getpid()))
    assert not is_running(os.getpid(), "0")


def test_children_are_seen() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert has_children(os.getpid())
    assert not has_children(child.pid)
    child.communicate(b"\n")


def gone(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
