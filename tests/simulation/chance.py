"""What happens in worlds, drawn from a seed. The worlds of a life begin alike, and what they share is lived once:

world 1   first runs  ra, the power fails          settle
world 2   first runs  race                         settle
world 3   first runs  race  swe, the power fails   settle
world 4   first runs  race  sweep                  settle
"""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from random import Random

from tests.simulation.actors import FAULTS, Actor, Fault, often
from tests.simulation.definitions import KINDS, VARIANTS
from tests.simulation.rows import BAD, POISON, UNIT, Row
from tests.simulation.world import World

STEPS = (range(2, 6), (1, 1, 1, 1))
LATE = (0, 0, 0, 1, 2, 4)  # minutes
DAMAGED = 0.2
OFTEN = (2, 2, 1, 1, 2)  # kinds of worlds: that with both kinds of windows is the longest
VERBS = 40  # about as many as a run has
CUTS, TURNS = 6, 80  # the power may fail so often in a step, after so many turns


@dataclass
class Life:
    """A world and its chance, and copies of it that end sooner.

    `make`: a world in memory, or one like it; `end`: the first minute that nothing was heard of; `worlds`: how many came to their end;
    `wrong`: what was wrong in one that ended sooner.
    """

    seed: int
    make: Callable[[str, Random], World] = World
    dice: Random = field(init=False)
    world: World = field(init=False)
    end: int = 0
    staged: list[str] = field(default_factory=list)
    worlds: int = 0
    wrong: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.dice = Random(self.seed)
        self.world = self.make(self.dice.choices([*KINDS], OFTEN)[0], self.dice)

    def live(self) -> list[str]:
        """Some steps, a last run after each, and what was wrong."""
        self.world.cut = self.end_here
        self.first_runs() if self.dice.random() < 0.3 else self.next()
        for left in reversed(range(self.dice.choices(*STEPS)[0])):
            self.world.cuts = [self.dice.randrange(1, TURNS) for _ in range(CUTS)]
            step = self.dice.choices(STEP, WEIGHTS)[0]
            often[f"step {step.__name__}"] += 1
            step(self)
            self.world.cuts = []
            if not self.world.wrong:
                self.end_here() if left else self.settle()
            if self.world.wrong or self.wrong:
                break
        self.worlds += 1
        return self.world.wrong or self.wrong

    def end_here(self) -> None:
        """Whoever is at work is gone, and the world is settled: a copy of it, while it goes on itself."""
        other = self.world.copy(Random(self.dice.random()))
        if other is None or self.wrong:
            return
        ending = copy(self)
        ending.world, ending.dice = other, other.dice
        ending.settle()
        self.wrong = [*other.wrong, *other.told] if other.wrong else []
        self.worlds += 1
        self.world.take_place()

    # what a source does

    def rows(self, minute: int) -> list[Row]:
        amounts = (BAD if self.dice.random() < 0.1 else UNIT * self.dice.randrange(1, 10**6) for _ in range(self.dice.randrange(4)))
        return [(minute - self.dice.choice(LATE), amount) for amount in amounts]

    def deliver(self, minute: int) -> None:
        self.world.told.append(f"deliver {minute}")
        self.world.deliver(minute, self.rows(minute))

    def some_minute(self) -> int:
        return self.end - 1 if self.dice.random() < 0.4 else self.dice.randrange(self.end)

    def fault(self, share: float = 0.3) -> Fault | None:
        return Fault(self.dice.randrange(VERBS), self.dice.choice(FAULTS)) if self.dice.random() < share else None

    # steps

    def next(self) -> None:
        """A new minute or some at once."""
        first, self.end = self.end, self.end + self.dice.choice((1, 1, 2, 3))
        for minute in range(first, self.end):
            self.deliver(minute)
        self.world.play(self.world.run(first, self.end, self.fault()))

    def first_runs(self) -> None:
        """Nothing is there yet, and several begin at once."""
        self.end = 2
        self.deliver(0)
        self.deliver(1)
        runs = [self.world.run(*self.dice.choice(((0, 1), (1, 2), (0, 2))), self.fault(0.2)) for _ in range(2)]
        self.world.play(*runs, self.rewriter())

    def leave_out(self) -> None:
        """A file comes late, or never."""
        self.end += 1
        self.next()

    def replace(self) -> None:
        minute = self.some_minute()
        self.deliver(minute)
        self.world.play(self.world.run(minute, minute + 1, self.fault()))

    def rewrite(self) -> None:
        """States change, windows do not yet."""
        minute = self.some_minute()
        self.deliver(minute)
        self.world.play(self.world.accumulating(minute, minute + 1, self.fault()))

    def race(self) -> None:
        if self.dice.random() < 0.4:  # over a minute that nobody has run yet
            self.end += 1
            self.deliver(self.end - 1)
        self.world.play(*(self.anyone() for _ in range(self.dice.choice((2, 2, 3)))))

    def twice(self) -> None:
        """Two runs read a new minute, whose file is rewritten meanwhile."""
        minute, self.end = self.end, self.end + 1
        self.deliver(minute)
        runs = [self.world.run(minute, self.end, self.fault(0.1)) for _ in range(2)]
        self.world.play(*runs, self.world.rewriting(minute, self.rows(minute)))

    def anyone(self) -> Actor:
        """Somebody who acts in a race."""
        return self.dice.choices(ACTOR, ACTORS)[0](self)

    def runner(self) -> Actor:
        """A run of a new minute, of a replaced one, of the same once more, or of all."""
        minute, what = self.some_minute(), self.dice.randrange(5)
        if what == 0:
            self.end += 1
            minute = self.end - 1
        if what in (0, 1):
            self.deliver(minute)
        first, end = (0, self.end) if what == 4 else (minute, minute + 1)
        return self.world.run(first, end, self.fault(0.2))

    def reader(self) -> Actor:
        return self.world.reading(self.dice.choice(KINDS[self.world.kind]))

    def rewriter(self) -> Actor:
        minute = self.some_minute()
        return self.world.rewriting(minute, self.rows(minute))

    def publisher(self) -> Actor:
        """Who publishes what an earlier step staged, in the midst of others."""
        keep, self.staged = self.staged, []
        return self.world.publishing(keep, self.fault(0.2))

    def stage(self) -> None:
        """A DAG run whose tasks publish and validate come later."""
        self.rewrite()
        self.staged = []
        self.world.play(self.world.finalizing(0, self.end, self.staged, self.fault(0.1)))

    def stage_and_publish(self) -> None:
        """The tasks of a DAG run, hours apart; validate may be skipped, and vacuum may come in between."""
        self.stage()
        for actor in (self.world.validating(self.staged), self.world.vacuuming(), self.reader()):
            if self.dice.random() < 0.6:
                self.world.hours(self.dice.choice((0, 18)))
                self.world.play(actor)
        self.world.play(self.publisher(), self.anyone())
        self.world.play(self.reader())

    def poison(self) -> None:
        minute = self.some_minute()
        self.world.deliver(minute, [(minute, UNIT + POISON)])
        self.world.play(self.world.run(minute, minute + 1, self.fault(0.1)))

    def poisoned_dag_run(self) -> None:
        minute = self.some_minute()
        self.world.deliver(minute, [(minute, UNIT + POISON)])
        self.world.play(self.world.accumulating(minute, minute + 1))
        self.staged = []
        self.world.play(self.world.finalizing(0, self.end, self.staged))
        self.world.play(self.publisher())
        self.world.play(self.reader())

    def vanish(self) -> None:
        minute = self.some_minute()
        self.world.vanish(minute)
        self.world.told.append(f"vanish {minute}")
        self.world.play(self.world.run(minute, minute + 1, self.fault(), allow_missing=self.dice.random() < 0.5))

    def sweep(self) -> None:
        self.world.hours(self.dice.choice((0, 18, 40)))
        self.world.play(self.world.vacuuming(), self.anyone())

    def compact(self) -> None:
        self.world.play(self.world.compacting(self.fault()), self.anyone())

    def redefine(self) -> None:
        """The definition changes; runs of the one before may still be at work."""
        before, at = self.runner(), VARIANTS.index(self.world.variant)
        self.world.variant = VARIANTS[min(at + 1, len(VARIANTS) - 1)]
        self.world.told.append(f"definition {self.world.variant}")
        self.world.hours(self.dice.choice((0, 40)))
        others = [before, self.world.vacuuming(), self.reader()]
        self.world.play(self.world.run(0, self.end, self.fault()), *self.dice.sample(others, self.dice.randrange(3)))

    def settle(self) -> None:
        """The missing files come, poison is mended, a file is damaged perhaps, and all is run once more."""
        rows = self.world.delivered()
        for minute in range(self.end):
            if minute not in rows or any(amount % UNIT for _, amount in rows[minute]):
                self.deliver(minute)
        if self.dice.random() < DAMAGED:
            self.world.damage()
        last = self.world.run(0, self.end)
        self.world.play(last)
        if "superseded" in str(last.outcome):  # of two definitions that began at once, the older one came last
            last = self.world.promoting()
            self.world.play(last)
        if last.outcome:
            self.world.wrong.append(f"the last run failed: {last.outcome!r}")
            return
        self.world.check_end()


WEIGHED: dict[Callable[[Life], None], int] = {
    Life.next: 16,
    Life.leave_out: 3,
    Life.replace: 12,
    Life.rewrite: 4,
    Life.race: 28,
    Life.twice: 8,
    Life.stage_and_publish: 10,
    Life.stage: 4,
    Life.poison: 2,
    Life.poisoned_dag_run: 2,
    Life.vanish: 4,
    Life.sweep: 8,
    Life.compact: 4,
    Life.redefine: 8,
}
STEP, WEIGHTS = [*WEIGHED], [*WEIGHED.values()]
ACTOR: list[Callable[[Life], Actor]] = [
    Life.runner,
    Life.reader,
    Life.publisher,
    Life.rewriter,
    lambda life: life.world.compacting(),
    lambda life: life.world.vacuuming(),
]
ACTORS = (8, 3, 2, 3, 1, 2)
