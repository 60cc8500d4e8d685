"""SIGKILL to upkeep beside a run: maintain, vacuum, retention, promote, rollback. What comes then equals a clean run.

run        [=====================]    of the newest minutes, one of them replaced
maintain       [======X               killed at some moment of its work
"""

import logging
import multiprocessing
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

from muntin import Pipeline, Retain, read, run, windows
from muntin.errors import ConflictError, MuntinError
from muntin.jobs.doctor.diagnosis import diagnose
from muntin.jobs.housekeeping.expire import expire
from muntin.jobs.state.bound import bind
from muntin.jobs.upkeep.maintain import maintain
from muntin.jobs.upkeep.promote import promote, rollback
from muntin.jobs.upkeep.vacuum import vacuum
from muntin.tasks import Local
from tests.properties.equal_values import bitwise
from tests.soak.world import MINUTE, START, World

BEGUN, KILLS, AT_ONCE = 60, 20, 5
"""A round begins with so many batches, lands so many kills, and is held against a clean run after every few steps."""
NEWEST = 6
"""So many of the newest batches are run beside each command; one of them is replaced."""
YOUNG_S = 600
LONGEST_S = 300
HERE: Any = Local(2)
landed = Counter[str]()
"""Of all rounds of this process."""


def plain(folder: Path) -> Pipeline:
    """The pipeline of `World`, whose windows all close."""
    whole = World(folder, Random(0)).pipeline
    return replace(whole, windows={name: kind for name, kind in whole.windows.items() if name != "ever"})


def graced(folder: Path) -> Pipeline:
    """Another definition over the same states."""
    made = plain(folder)
    return replace(made, windows={**made.windows, "sliding": windows.sliding("10m", step="1m", grace="3m")})


def retained(folder: Path) -> Pipeline:
    """The pipeline whose old states, refused rows and reports go."""
    return replace(plain(folder), retain=Retain(states="40m", refused="40m", reports="40m"))


def ran(pipeline: Pipeline, root: Path, end: int, count: int = NEWEST) -> None:
    """A run of the newest minutes."""
    run(pipeline, root=root, start=START + max(0, end - count) * MINUTE, end=START + end * MINUTE, spark=HERE)


def retention(pipeline: Pipeline, root: Path, _: int) -> None:
    """Every row that is behind."""
    while expire(bind(pipeline, root), at_once=True):
        pass


DEFINITIONS: Mapping[str, Callable[[Path], Pipeline]] = {"plain": plain, "graced": graced, "retained": retained}
COMMANDS: Mapping[str, Callable[[Pipeline, Path, int], object]] = {
    "run": ran,
    "maintain": lambda pipeline, root, _: maintain(pipeline, root=root, older_than_us=YOUNG_S * 10**6),
    "vacuum": lambda pipeline, root, _: vacuum(root, older_than_us=YOUNG_S * 10**6, pipeline=pipeline),
    "retention": retention,
    "promote": lambda pipeline, root, _: promote(pipeline, root=root, spark=HERE),
    "rollback": lambda pipeline, root, _: rollback(pipeline, root=root),
}


def work(command: str, definition: str, folder: str, end: int, told: str, began: Any) -> None:
    """A process of its own. How it ended is in the file `told`; of a killed process there is none."""
    logging.disable(logging.CRITICAL)
    pipeline = DEFINITIONS[definition](Path(folder))
    began.set()
    try:
        COMMANDS[command](pipeline, Path(folder, "state"), end)
        ended = "done"
    except ConflictError:
        ended = "overtaken"
    except MuntinError as wrong:
        ended = f"refused: {wrong}"
    except BaseException as wrong:  # noqa: BLE001 - the round tells of it
        ended = f"BARE {wrong!r}"
    Path(told).write_text(ended, encoding="utf-8")


def upkeep_killed(folder: Path, dice: Random, *, kills: int = KILLS, begun: int = BEGUN) -> str:
    """Half of the rounds have two definitions, which are promoted in turn; the others have a retention."""
    ground = Upkeep(folder, dice, ("plain", "graced") if dice.random() < 0.5 else ("retained",), begun)
    ground.begin()
    for _ in range(20 * kills):
        if ground.killed.total() < kills:
            ground.step()
    ground.check()
    assert ground.killed.total() == kills, f"only {ground.killed} of {20 * kills} commands were at work when they were killed"
    landed.update(ground.killed)
    return f"killed {_counts(ground.killed)}; in all {_counts(landed)}; else {dict(ground.ended)}"


def _counts(killed: Counter[str]) -> str:
    return ", ".join(f"{name} {killed[name]}" for name in COMMANDS if killed[name])


@dataclass
class Upkeep:
    """A world whose upkeep is killed. `took`: command -> seconds of its last whole run; `killed`: command -> kills that landed in it."""

    folder: Path
    dice: Random
    definitions: tuple[str, ...]
    end: int
    unchecked: int = 0
    took: dict[str, float] = field(default_factory=dict)
    killed: Counter[str] = field(default_factory=Counter)
    ended: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.world = World(self.folder, self.dice)
        self.processes = multiprocessing.get_context("forkserver")
        self.processes.set_forkserver_preload(
            ["tests.soak.upkeep_kills", "muntin.jobs.finalize.finalize_task", "muntin.jobs.accumulate.accumulate_task"]
        )

    @property
    def commands(self) -> list[str]:
        own = ["retention"] if len(self.definitions) == 1 else ["promote", "rollback"]
        return ["run", "maintain", "vacuum", *own]

    def begin(self) -> None:
        """Run the first minutes a few at a time, so that there is something to put together and to remove."""
        for minute in range(self.end):
            self.world.write(minute)
        for end in range(2, self.end + 1, 2):
            ran(DEFINITIONS[self.definitions[0]](self.folder), self.folder / "state", end)

    def step(self) -> None:
        """Bring a new minute, replace one, and kill a command beside the run of both."""
        self.world.write(self.end)
        self.world.write(self.dice.randrange(self.end - NEWEST + 2, self.end))
        self.end, self.unchecked = self.end + 1, self.unchecked + 1
        self._age()
        command, definition = self.dice.choice(self.commands), self.dice.choice(self.definitions)
        beside, _, told = self._start("run", self.dice.choice(self.definitions))
        if self._kill(command, definition):
            self.killed[command] += 1
        beside.join(LONGEST_S)
        self._note("run", told)
        if self.unchecked == AT_ONCE:
            self.check()

    def _age(self) -> None:
        """Make files old enough to be removed, but for those that the next run writes."""
        then = time.time() - 2 * YOUNG_S
        for path in (self.folder / "state").rglob("*"):
            if path.is_file():
                os.utime(path, (then, then))

    def _start(self, command: str, definition: str) -> tuple[Any, float, Path]:
        told, began = self.folder / f"told {time.monotonic_ns()}", self.processes.Event()
        process = self.processes.Process(target=work, args=(command, definition, str(self.folder), self.end, str(told), began))
        process.start()
        assert began.wait(LONGEST_S)
        return process, time.monotonic(), told

    def _kill(self, command: str, definition: str) -> bool:
        """Whether the command was at work when it was killed. The first of each kind is left alone, to see how long it takes."""
        process, begun, told = self._start(command, definition)
        if command in self.took:
            process.join(self.dice.random() * self.took[command])
            process.kill()
        process.join(LONGEST_S)
        if process.exitcode == -signal.SIGKILL and not told.exists():
            return True
        self._note(command, told)
        self.took[command] = time.monotonic() - begun
        return False

    def _note(self, command: str, told: Path) -> None:
        ended = told.read_text(encoding="utf-8")
        assert not ended.startswith("BARE"), f"{command}: {ended}"
        assert not ended.startswith("refused") or len(self.definitions) > 1, f"{command}: {ended}"  # superseded, or nothing to go back to
        self.ended[f"{command} {ended.partition(':')[0]}"] += 1

    def check(self) -> None:
        """A last command and a last run of one definition, which then equals its clean run; and doctor finds nothing."""
        pipeline, root = DEFINITIONS[self.dice.choice(self.definitions)](self.folder), self.folder / "state"
        if len(self.definitions) > 1:
            promote(pipeline, root=root, spark=HERE)
        ran(pipeline, root, self.end, NEWEST + self.unchecked)  # runs beside may have been refused
        self.unchecked = 0
        clean = self.folder / f"clean {time.monotonic_ns()}"
        run(replace(pipeline, retain=None), root=clean, start=START, end=START + self.end * MINUTE, spark=HERE)
        both = {name: [read(pipeline, name, root=place) for place in (root, clean)] for name in pipeline.windows}
        wrong = [name for name, (ours, wanted) in both.items() if not bitwise(ours, wanted)]
        assert wrong == [], f"{', '.join(wrong)} differ from a clean run: {self.killed}"
        found = [f"{each.place}: {each.problem}" for each in diagnose(pipeline, root=root, deep=True) if "none needed" not in each.mend]
        assert found == [], f"doctor: {found}: {self.killed}"
