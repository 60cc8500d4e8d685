"""A Python that imports for Spark's workers while Spark's Java still starts, for a local session that a command starts in the background.

The command starts it beside Java; it imports, then forks for whoever asks, until the command ends (`spare_python`). Spark's daemon, which
Java starts when the first task comes, finds in its environment where to ask, and does its work in a fork.

The environment counts, for imports look at it: a daemon whose own differs from that of the early Python imports by itself.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, NoReturn

from muntin.spark.ready_python import wait_for_fork
from muntin.spark.spare_python import be_the_spare

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PLACE = "MUNTIN_EARLY_PYTHON"
EARLY = "--early"
WORKER = ["pyspark.worker"]  # what Spark tells its daemon to run for tasks of an RDD
_SPARK_SETS = {"OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}  # for its daemon, where the user did not
_OF_SPARK = ("SPARK_", "_PYSPARK_", "PYTHON", "MIMALLOC_", PLACE)  # names that Spark and Muntin set for a daemon begin so
_OF_SHELLS = ("_", "SHLVL", "PWD", "OLDPWD")


def key(environment: Mapping[str, str]) -> str:
    """A name for interpreter, seed and environment, without what Spark adds for a daemon.

    >>> key({"A": "1"}) == key({"A": "1", "SPARK_HOME": "/spark", **_SPARK_SETS})
    True
    >>> key({"A": "1"}) == key({"A": "1", "OMP_NUM_THREADS": "4"})
    False
    """
    own = {name: value for name, value in environment.items() if not name.startswith(_OF_SPARK) and name not in _OF_SHELLS}
    said = sorted({**_SPARK_SETS, **own, "PYTHONHASHSEED": environment.get("PYTHONHASHSEED", "0")}.items())
    return sha256(repr((sys.executable, sys.version, said)).encode()).hexdigest()[:24]


def begin(module: str) -> str | None:
    """Start it; the value of `MUNTIN_EARLY_PYTHON` for Java. None where it cannot be started: then Spark's daemon imports, as ever.

    Args:
        module: the daemon's; with `EARLY` as its first word it calls `be_early`.
    """
    folder = mkdtemp(prefix="muntin-python-")  # of this user alone
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    place = f"{folder}/asked"
    try:
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(place)
            listening.listen(128)
            _start(module, listening.fileno(), place)
    except OSError:
        return None
    return f"{key(os.environ)}:{place}"


def _start(module: str, listening: int, place: str) -> None:
    words = [sys.executable, "-m", module, EARLY, str(listening), place, str(os.getpid())]
    program = subprocess.Popen(  # noqa: S603 - our own interpreter and module
        words,
        env={**_SPARK_SETS, **os.environ, "PYTHONUNBUFFERED": "YES"},
        pass_fds=[listening],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=_deaf_to_interrupts,  # noqa: PLW1509 - as PySpark starts Java; it touches nothing that a thread may hold
    )
    atexit.register(program.terminate)


def _deaf_to_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def be_early(load: Callable[[], None], work: Callable[[], None]) -> NoReturn:
    """Import, and fork for those who ask, until the command ends. Called in the process that `begin` starts."""
    _, _, listening, place, command = sys.argv
    sys.argv[1:] = WORKER  # Spark's daemon looks there, as soon as it is imported, for what workers run
    be_the_spare(socket.socket(fileno=int(listening)), Path(place), int(command), load, work)


def work_early() -> bool:
    """Do the work of this daemon in a fork of the early Python, until it ends; False if there is none for it: nothing was done."""
    named, _, place = os.environ.get(PLACE, "").partition(":")
    if not place or named != key(os.environ) or sys.argv[1:] != WORKER:
        return False
    with suppress(OSError), socket.socket(socket.AF_UNIX) as early:
        early.connect(place)
        wait_for_fork(early)
        return True
    return False
