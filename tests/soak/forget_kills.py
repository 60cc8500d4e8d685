"""SIGKILL to a command that forgets a key, beside a run that reads a batch with it again. The same command, run again, ends the work.

run        [==========]             of one hour
forget        [====X                killed at some moment of its work
forget                   [======]   nothing is left; windows of others are what they were
"""

import logging
import multiprocessing
import shutil
import signal
import time
from pathlib import Path
from random import Random
from typing import Any

from muntin import forget
from muntin.errors import MuntinError
from muntin.jobs.doctor.diagnosis import diagnose
from tests.forgetting.visits import KINDS, Visits, drawn, others_are

KILLS, HOURS = 20, 4
KEY = {"person": "bob"}
LONGEST_S = 300


def work(kind: str, folder: str, what: str, began: Any) -> None:
    """A process of its own."""
    logging.disable(logging.CRITICAL)
    visits = Visits(Path(folder), kind)
    began.set()
    try:
        if what == "forget":
            forget(visits.pipeline, [KEY], root=visits.root)
        else:
            visits.run(int(what))
    except MuntinError:
        return  # another came first; the round runs both again


def forget_killed(folder: Path, dice: Random, *, kills: int = KILLS) -> str:
    """So many kills that landed, each on a copy of the same state."""
    kind, processes = dice.choice([*KINDS]), multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["tests.soak.forget_kills", "muntin.extensions.forgetting.forget"])
    visits, kept = Visits(folder, kind), folder / "kept"
    for hour in range(HOURS):
        visits.write(hour, drawn(dice, hour), bad=["bob", "eve"])
        visits.run(hour)
    before = visits.tables()
    shutil.copytree(visits.root, kept)
    took, landed = 0.0, 0
    for _ in range(20 * kills):
        if landed == kills:
            break
        shutil.rmtree(visits.root)
        shutil.copytree(kept, visits.root)
        beside, _ = _started(processes, kind, folder, str(dice.randrange(HOURS)))
        process, begun = _started(processes, kind, folder, "forget")
        if took:
            process.join(dice.random() * took)
            process.kill()
        process.join(LONGEST_S)
        beside.join(LONGEST_S)
        landed, took = landed + (process.exitcode == -signal.SIGKILL), took or time.monotonic() - begun
        found = forget(visits.pipeline, [KEY], root=visits.root)
        assert found.done, found.left
        visits.run(0, HOURS - 1)
        others_are(visits.tables(), before, "bob", totals=False)
        wrong = [each.problem for each in diagnose(visits.pipeline, root=visits.root, deep=True) if "none needed" not in each.mend]
        assert wrong == [], wrong
    assert landed == kills, f"only {landed} commands were at work when they were killed"
    return f"killed {landed} times, {kind}"


def _started(processes: Any, kind: str, folder: Path, what: str) -> tuple[Any, float]:
    began = processes.Event()
    process = processes.Process(target=work, args=(kind, str(folder), what, began))
    process.start()
    assert began.wait(LONGEST_S)
    return process, time.monotonic()
