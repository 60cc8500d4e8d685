"""SIGKILL to `muntin run` in the midst of its work: to the driver, a worker, the JVM, or all. The next run equals a clean one."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random

import psutil

from tests.soak.ground import Ground

VICTIMS = ("driver", "worker", "jvm", "group")
LONGEST_S = 300
STEP_S = 0.005
MOST_FILES = 30
"""A run writes about so many files: the moment of a kill is told by how many are there."""


def killed(folder: Path, dice: Random) -> str:
    """A state with half of the batches; one is replaced, others are new; `muntin run` over all is killed."""
    ground, victim, written = Ground(folder, dice), dice.choice(VICTIMS), dice.randrange(MOST_FILES)
    ground.run(end=2)
    ground.write(dice.randrange(2))
    before, process = files_below(folder), ground.muntin()
    try:
        _kill(process, victim, lambda: files_below(folder) - before >= written)
        said, _ = process.communicate(timeout=LONGEST_S)
    finally:
        _end(process)
    changed = files_below(folder) - before
    assert ground.wrong() == [], (victim, written, process.returncode, said)
    return f"{victim} killed after {written} files, status {process.returncode}, {changed} files more than before"


def files_below(folder: Path) -> int:
    """The files of the state, also those that a run is writing."""
    return sum(len(names) for _, _, names in os.walk(folder / "state"))


def _kill(process: "subprocess.Popen[str]", victim: str, is_time: Callable[[], bool]) -> None:
    """Kill as soon as it is time and the victim is there. A run may be done before."""
    until = time.monotonic() + LONGEST_S
    while process.poll() is None and time.monotonic() < until:
        found = _victims(process, victim) if is_time() else []
        for each in found:
            with suppress(psutil.NoSuchProcess):
                each.kill()
        if found:
            return
        time.sleep(STEP_S)


def _victims(process: "subprocess.Popen[str]", victim: str) -> list[psutil.Process]:
    """The processes to kill; none while they are not there."""
    with suppress(psutil.NoSuchProcess):
        driver = psutil.Process(process.pid)
        below = driver.children(recursive=True)
        jvms = [each for each in below if "java" in each.name()]
        workers = [each for jvm in jvms for each in jvm.children(recursive=True) if "python" in each.name()]
        found = {"driver": [driver], "jvm": jvms, "worker": workers[-1:], "group": [driver, *below]}
        return found[victim] if jvms else []
    return []


def _end(process: "subprocess.Popen[str]") -> None:
    """What is left of the run's own group goes, too."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
