"""A world in memory: a source, a state, and what is done to them. The jobs are the product's, the disk and the clock are not."""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field
from itertools import count
from random import Random
from typing import Any

from muntin.definition.schedule import Interval
from muntin.errors import ConflictError
from muntin.jobs.accumulate.accumulate import accumulate
from muntin.jobs.finalize.finalize import finalize
from muntin.jobs.housekeeping.compact import compact
from muntin.jobs.publish.finish import finish
from muntin.jobs.publish.publish import publish
from muntin.jobs.published.staged_windows import load_staged
from muntin.jobs.state.bound import Bound
from muntin.jobs.upkeep.vacuum import vacuum
from muntin.store.state import FORMAT, OWNER_FILE, _mark
from muntin.tasks import Local
from tests.simulation import laws, source, stand_ins
from tests.simulation.actors import Actor, Fault, interleave, meet, pause, raw_errors
from tests.simulation.definitions import HOME, ROOT, bound_before, start_us
from tests.simulation.disk import DAY_S, Disk, at_hand
from tests.simulation.rows import Row
from tests.simulation.seams import FEW, forget, put_together
from tests.simulation.tables import MemoryStore, Tables
from tests.simulation.watched import Watched

HERE: Any = Local(2)
RETENTION_US = DAY_S * 1_000_000


@dataclass
class World:
    """One world, over tables as strict as Delta's or as `Store` says.

    `kind`: which windows; `variant`: the definition that is deployed; `told`: what happened; `wrong`: laws that did not hold; `contents`:
    (start of a batch, version of its states) -> their rows; `cuts`: after how many turns from now to call `cut`.
    """

    kind: str
    dice: Random
    variant: str = "plain"
    disk: Disk = field(default_factory=Disk)
    tables: Tables = field(init=False)
    wrong: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    contents: dict[tuple[int, int], list[Row]] = field(default_factory=dict)
    cuts: list[int] = field(default_factory=list)
    cut: Callable[[], None] = lambda: None

    def __post_init__(self) -> None:
        self.tables = Tables(self.disk, strict=self.dice.random() < 0.5)
        at_hand.numbers = count()
        self.take_place()
        forget()
        put_together(self.dice.choice((FEW, 2 * FEW)))
        self.disk.write(f"{HOME}/{OWNER_FILE}", _mark({"format": FORMAT, "pipeline": HOME}))

    def take_place(self) -> None:
        """From now on the jobs act in this world."""
        at_hand.disk, at_hand.tables, at_hand.contents = self.disk, self.tables, self.contents

    def copy(self, dice: Random) -> "World":
        """Another world that is like this one so far, with its own chance; it takes this one's place."""
        other = copy(self)
        other.dice, other.disk, other.told, other.contents = dice, self.disk.copy(), list(self.told), dict(self.contents)
        other.tables = self.tables.copy(other.disk)
        other.wrong, other.cuts = [], []
        other.take_place()
        return other

    def bound(self, variant: str | None = None) -> Bound:
        """The deployed definition with its state."""
        before = bound_before(self.kind, variant or self.variant)
        found = Bound(before.pipeline, before.folder, Watched(MemoryStore(before.folder, self.tables)))
        found.__dict__.update(before.__dict__ | {"given": found.given})
        return found

    def deliver(self, minute: int, rows: list[Row]) -> None:
        source.deliver(self.disk, minute, rows)

    def vanish(self, minute: int) -> None:
        source.vanish(self.disk, minute)

    def delivered(self) -> dict[int, list[Row]]:
        """Minute -> the rows of its file."""
        return source.delivered(self.disk)

    def check_end(self) -> None:
        laws.check_end(self)

    def play(self, *actors: Actor) -> None:
        """Let actors act in turns, or the only one that nothing disturbs at once; then the laws that hold at any moment are looked at."""
        self.told += [actor.name for actor in actors]
        meet(actors)
        if len(actors) == 1 and not actors[0].fault and not self.cuts:
            actors[0].live()
        else:
            interleave(actors, self.dice, self.disk.clock, self.turned)
        self.wrong += raw_errors(actors)
        if self.disk.removed:
            laws.check_use(self)
            self.disk.removed.clear()
        laws.check_published(self)

    def turned(self) -> None:
        if self.cuts:
            self.cuts = [left - 1 for left in self.cuts]
            while 0 in self.cuts:
                self.cuts.remove(0)
                self.cut()

    def damage(self) -> None:
        """The disk loses a file, or half of one: of states, notes or windows."""
        forget()
        files = [path for path in self.disk.below(HOME) if path.endswith(".parquet") and "/staging/" not in path and "/ledger_" not in path]
        if files:
            path = self.dice.choice(files)
            content = self.disk.files.pop(path).content
            if "/windows/" not in path and self.dice.random() < 0.5:
                self.disk.write(path, content[: len(content) // 2])
            self.told.append(f"damage {path}")

    def hours(self, count: int) -> None:
        self.disk.clock.now_s += count * 3600

    # what actors do

    def run(self, first: int, end: int, fault: Fault | None = None, *, allow_missing: bool = False) -> Actor:
        """`muntin run` over the minutes of `[first, end)`."""
        bound, intervals = self.bound(), _intervals(first, end)

        def work() -> None:
            accumulate(bound, HERE, intervals, allow_missing=allow_missing)
            finish(bound, HERE, intervals, validate=True, tell=_silent)

        return Actor(f"run {first} {end} {fault or ''}", work, fault)

    def accumulating(self, first: int, end: int, fault: Fault | None = None) -> Actor:
        """The first task of a DAG run: other tasks never come."""
        return Actor(f"accumulate {first} {end}", lambda: accumulate(self.bound(), HERE, _intervals(first, end)), fault)

    def finalizing(self, first: int, end: int, keep: list[str], fault: Fault | None = None) -> Actor:
        """The task finalize of a DAG run: `keep` gets the folder of what is staged."""
        asked = [start_us(minute) for minute in range(first, end)]

        def work() -> None:
            staged = finalize(self.bound(), HERE, asked)
            keep.extend([staged.folder] if staged.windows else [])

        return Actor(f"finalize {first} {end}", work, fault)

    def validating(self, keep: Sequence[str]) -> Actor:
        """The task validate of a DAG run."""
        bound = self.bound()

        def work() -> None:
            for folder in keep:
                stand_ins.validate_staged(bound, HERE, load_staged(bound.store, folder))

        return Actor("validate", work)

    def publishing(self, keep: Sequence[str], fault: Fault | None = None) -> Actor:
        """The task publish of a DAG run. Where validate was skipped, it comes all the same."""
        bound = self.bound()

        def work() -> None:
            for folder in keep:
                staged = load_staged(bound.store, folder)
                pause()
                try:
                    publish(bound, staged)
                except ConflictError:
                    bound.store.discard(folder)
                    raise

        return Actor("publish", work, fault)

    def promoting(self) -> Actor:
        """`muntin promote`: the deployed definition is current again."""
        bound = self.bound()
        return Actor("promote", lambda: finish(bound, HERE, [], validate=True, tell=_silent, again=True))

    def rewriting(self, minute: int, rows: list[Row]) -> Actor:
        """A file that is rewritten while others act."""

        def work() -> None:
            for _ in range(self.dice.choice((3, 5, 20))):
                pause()
            self.deliver(minute, rows)

        return Actor(f"rewrite {minute}", work)

    def compacting(self, fault: Fault | None = None) -> Actor:
        return Actor("compact", lambda: compact(self.bound()), fault)

    def vacuuming(self, fault: Fault | None = None) -> Actor:
        """At the end all that is in use is there: who acts meanwhile sees it as well."""

        def work() -> None:
            vacuum(ROOT, older_than_us=RETENTION_US, now=_now(self.disk))
            if self.disk.removed:
                laws.check_use(self)

        return Actor("vacuum", work, fault)

    def reading(self, window: str) -> Actor:
        """A slow reader of the table that readers know."""
        return Actor(f"read {window}", lambda: laws.read_slowly(self, window))


def _intervals(first: int, end: int) -> list[Interval]:
    return [Interval(start_us(minute), start_us(minute + 1)) for minute in range(first, end)]


def _now(disk: Disk) -> Any:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(disk.clock.now_s, UTC)


def _silent(_step: str) -> None:
    pass
