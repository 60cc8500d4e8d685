"""Eight processes run a pipeline at once, over stretches that overlap. The next run equals a clean one."""

import multiprocessing
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

from muntin.errors import ConflictError
from muntin.jobs.state.bound import bind
from muntin.store.delta import DeltaStore
from muntin.store.store import Change, Snapshot, Store, Texts
from tests.soak.flow import START, flow
from tests.soak.ground import BATCHES, HERE, HOUR, Ground

AT_ONCE = 8
SLOW_S = 0.05


class Slow:
    """See `Store`: each verb takes as long as on a slow file system over a network."""

    def __init__(self, store: Store) -> None:
        self.store, self.root = store, store.root

    def snapshot(self, table: str) -> Snapshot:
        time.sleep(SLOW_S)
        return self.store.snapshot(table)

    def commit(self, table: str, base: Snapshot, change: Change) -> None:
        time.sleep(SLOW_S)
        self.store.commit(table, base, change)
        time.sleep(SLOW_S)

    def describe(self, table: str, base: Snapshot, texts: Texts) -> None:
        time.sleep(SLOW_S)
        self.store.describe(table, base, texts)

    def promote(self, staged: Mapping[str, str], table: str) -> None:
        time.sleep(SLOW_S)
        self.store.promote(staged, table)

    def discard(self, folder: str) -> None:
        time.sleep(SLOW_S)
        self.store.discard(folder)


def racer(folder: str, first: int, end: int, slow: bool, told: Any) -> None:
    """A process of its own: one run; a run that others overtook eight times says so."""
    from muntin import run

    pipeline, root = flow(folder), Path(folder, "state")
    store = Slow(DeltaStore(bind(pipeline, root, claim=True).folder)) if slow else None
    try:
        run(pipeline, root=root, spark=HERE, start=START + first * HOUR, end=START + end * HOUR, store=store)
    except ConflictError:
        told.put("overtaken")
    except BaseException as wrong:  # noqa: BLE001 - the round tells of it
        told.put(repr(wrong))
    else:
        told.put("done")


def raced(folder: Path, dice: Random, *, at_once: int = AT_ONCE, slow: bool = False) -> str:
    """Half of the time nothing is there yet; else some batches are replaced."""
    ground = Ground(folder, dice)
    if dice.random() < 0.5:
        ground.run(end=dice.randrange(1, BATCHES))
        ground.write(dice.randrange(BATCHES))
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["tests.soak.races", "muntin.jobs.finalize.finalize_task", "muntin.jobs.accumulate.accumulate_task"])
    told, stretches = processes.Queue(), [sorted(dice.sample(range(BATCHES + 1), 2)) for _ in range(at_once)]
    running = [processes.Process(target=racer, args=(str(folder), *stretch, slow, told)) for stretch in stretches]
    for process in running:
        process.start()
    ended = Counter(told.get(timeout=300) for _ in running)
    for process in running:
        process.join()
    assert set(ended) <= {"done", "overtaken"}, (stretches, ended)
    assert ground.wrong() == [], (stretches, ended)
    return f"{at_once} at once: {dict(ended)}"


def slowly(folder: Path, dice: Random) -> str:
    """Two processes on a slow root."""
    return raced(folder, dice, at_once=2, slow=True)
