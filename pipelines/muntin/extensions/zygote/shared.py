"""The shared zygote: a Python with everything imported, for the daemon of each session of a Spark Connect
server.

The server starts a Python daemon for each session, and each would import the same libraries for seconds. With
this module the first daemon of a server (or of an executor) starts a process beside it, the *zygote*, which
imports and then waits. This daemon and every later one hands its streams, folder and environment to the
zygote, which forks; the fork does the daemon's work. What Spark started only waits for the fork, and passes
on Spark's wish to end.

A zygote serves one server with one environment and one state of the code (see `key`). It ends when the server
does. A fork that had no worker for ten minutes ends as well: Spark keeps the daemons of sessions that are
over, and starts another when a session needs it.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, flock
from hashlib import sha256
from pathlib import Path
from tempfile import gettempdir

from muntin.extensions.zygote.zygote import ask, become_zygote, has_children, started_at

OF_SESSION = (
    "SPARK_JOB_ARTIFACT_UUID",
    "PYTHON_WORKER_FACTORY_SECRET",
    "PYSPARK_SPARK_SESSION_UUID",
    "PWD",
    "OLDPWD",
)
"""What differs between the sessions of a server: none of it is looked at while modules are imported."""
_POLL_S, _IDLE_POLLS = 60.0, 10


def is_of_a_session() -> bool:
    """Whether Spark starts this daemon for one session of many, as Spark Connect does.

    Elsewhere all sessions share one.
    """
    return os.environ.get("SPARK_JOB_ARTIFACT_UUID", "default") != "default"


def key(code: Path, import_folders: Iterable[str]) -> str:
    """A name for what a zygote has imported: server, interpreter, environment, files of the code, folders of
    packages.

    Another date of any file in `code` is another key; so is an installed package, which changes the date of
    its import folder. The session's own folder does not count.
    """
    ours = sorted((name, value) for name, value in os.environ.items() if name not in OF_SESSION)
    files = sorted((str(path), path.stat().st_mtime_ns) for path in code.rglob("*.py"))
    folders = [
        (str(folder), folder.stat().st_mtime_ns)
        for folder in map(Path, import_folders)
        if folder.exists() and folder.absolute() != Path.cwd()
    ]
    server = os.getppid()
    said = (server, started_at(server), sys.executable, sys.version, sys.argv[1:], ours, files, folders)
    return sha256(repr(said).encode()).hexdigest()[:24]


def run(load: Callable[[], None], work: Callable[[], None], named: str) -> None:
    """Do the work of this daemon in a fork of the zygote, and return when it has ended. `load` imports what
    forks need.

    An `OSError` if there is no zygote and none could be started. Nothing was done then: the caller loads and
    works itself.
    """
    with _connected(_folder(), named, load, work) as zygote:
        wait_for_fork(zygote)


def wait_for_fork(zygote: socket.socket) -> None:
    """Ask for a fork that works in place of this process: hold nothing that is the fork's, pass SIGTERM on,
    and wait for its end.

    An `OSError` if the zygote has gone.
    """
    with _ends_later():
        fork = ask(zygote)

        def end(*_: object) -> None:
            with suppress(OSError):
                os.kill(fork, signal.SIGTERM)

        signal.signal(signal.SIGTERM, end)
    os.setpgid(0, 0)  # an interrupt at the terminal is for the server, which ends us
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    idle = 0
    while not select.select([zygote], [], [], _POLL_S)[0]:
        idle = 0 if has_children(fork) else idle + 1
        if idle >= _IDLE_POLLS:
            end()


@contextmanager
def _ends_later() -> Iterator[None]:
    """SIGTERM waits meanwhile: a daemon that ended between its question and the answer would leave the fork
    behind.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _folder() -> Path:
    """A folder that no other user may enter. An `OSError` if it is another user's, or open to other users."""
    folder = Path(gettempdir(), f"muntin-python-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    folder_stat = folder.lstat()
    if folder_stat.st_uid != os.getuid() or folder_stat.st_mode & 0o77 or folder.is_symlink():
        raise OSError(f"{folder} is not ours alone; remove it")
    return folder


def _connected(folder: Path, named: str, load: Callable[[], None], work: Callable[[], None]) -> socket.socket:
    """A connection to the zygote, which is started if there is none."""
    place = folder / named
    with (folder / "lock").open("w") as lock:
        flock(lock, LOCK_EX)
        zygote = socket.socket(socket.AF_UNIX)
        with suppress(FileNotFoundError, ConnectionRefusedError):
            zygote.connect(str(place))
            return zygote
        place.unlink(missing_ok=True)
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(str(place))
        listening.listen(128)
        server = os.getppid()
        if os.fork() == 0:
            lock.close()
            zygote.close()
            become_zygote(listening, place, server, load, work)
        listening.close()
        zygote.connect(str(place))
        return zygote
