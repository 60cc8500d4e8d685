"""The same worlds step by step: Hypothesis looks for the shortest story that breaks a law."""

from random import Random

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.case_counts import cases
from tests.simulation.actors import FAULTS, Actor, Fault
from tests.simulation.definitions import KINDS, VARIANTS
from tests.simulation.rows import BAD, UNIT
from tests.simulation.seams import simulated
from tests.simulation.world import World

LAST = 3
MINUTES = st.integers(0, LAST)
AMOUNTS = st.sampled_from([BAD, UNIT, 2 * UNIT, 5 * UNIT])
ROWS = st.lists(st.tuples(st.integers(0, 3), AMOUNTS), max_size=2)
FAULT = st.builds(Fault, st.integers(0, 40), st.sampled_from(FAULTS))
TURNS = st.integers(0, 10_000)


class Story(RuleBasedStateMachine):
    """`started`: the minutes that were delivered: a file may come late, but history has no holes in the end."""

    def __init__(self) -> None:
        super().__init__()
        self.seams = simulated()
        self.seams.__enter__()
        self.started: set[int] = set()
        self.staged: list[str] = []

    @initialize(kind=st.sampled_from(list(KINDS)))
    def begin(self, kind: str) -> None:
        self.world = World(kind, Random(0))

    @rule(minute=MINUTES, rows=ROWS)
    def deliver(self, minute: int, rows: list[tuple[int, int]]) -> None:
        """The first time a file comes, later it is rewritten."""
        self.world.deliver(minute, [(minute - late, amount) for late, amount in rows])
        self.started.add(minute)

    @precondition(lambda self: self.started)
    @rule(at=MINUTES)
    def accumulate(self, at: int) -> None:
        self.world.play(self.world.accumulating(*self.one(at)))

    @precondition(lambda self: self.started)
    @rule(at=MINUTES)
    def rerun(self, at: int) -> None:
        self.world.play(self.world.run(*self.one(at)))

    @precondition(lambda self: self.started)
    @rule()
    def backfill(self) -> None:
        self.world.play(self.world.run(*self.all()))

    @precondition(lambda self: self.started)
    @rule(at=MINUTES, fault=FAULT)
    def crash(self, at: int, fault: Fault) -> None:
        self.world.play(self.world.run(*self.one(at), fault))

    @precondition(lambda self: self.started)
    @rule(one=MINUTES, other=MINUTES, rows=ROWS, turns=TURNS)
    def race(self, one: int, other: int, rows: list[tuple[int, int]], turns: int) -> None:
        minute = self.one(other)[0]
        rewriter = self.world.rewriting(minute, [(minute - late, amount) for late, amount in rows])
        self.play(turns, self.world.run(*self.one(one)), self.world.run(*self.one(other)), rewriter)

    @precondition(lambda self: self.started)
    @rule()
    def finalize(self) -> None:
        self.staged = []
        self.world.play(self.world.finalizing(*self.all(), self.staged))

    @rule(turns=TURNS)
    def publish(self, turns: int) -> None:
        self.play(turns, self.world.publishing(self.staged), self.world.reading(KINDS[self.world.kind][0]))

    @rule()
    def validate(self) -> None:
        self.world.play(self.world.validating(self.staged))

    @rule()
    def compact(self) -> None:
        self.world.play(self.world.compacting())

    @rule(hours=st.sampled_from([0, 18, 40]), turns=TURNS)
    def vacuum(self, hours: int, turns: int) -> None:
        self.world.hours(hours)
        self.play(turns, self.world.vacuuming(), self.world.reading(KINDS[self.world.kind][0]))

    @rule()
    def change_definition(self) -> None:
        self.world.variant = VARIANTS[min(VARIANTS.index(self.world.variant) + 1, len(VARIANTS) - 1)]

    @invariant()
    def laws_hold(self) -> None:
        if hasattr(self, "world"):
            assert self.world.wrong == []

    def teardown(self) -> None:
        try:
            if self.started:
                self.settle()
        finally:
            self.seams.__exit__(None, None, None)

    def settle(self) -> None:
        for minute in set(range(min(self.started), max(self.started))) - self.started:
            self.world.deliver(minute, [])
        last = self.world.run(min(self.started), max(self.started) + 1)
        self.world.play(last)
        if "superseded" not in str(last.outcome):
            assert last.outcome is None
            self.world.check_end()
            assert self.world.wrong == []

    def one(self, at: int) -> tuple[int, int]:
        """The stretch of one delivered minute."""
        minute = sorted(self.started)[at % len(self.started)]
        return minute, minute + 1

    def all(self) -> tuple[int, int]:
        """The stretch from the first delivered minute to the last."""
        return min(self.started), max(self.started) + 1

    def play(self, turns: int, *actors: Actor) -> None:
        self.world.dice = Random(turns)
        self.world.play(*actors)


TestStory = Story.TestCase
TestStory.settings = settings(max_examples=cases(200), stateful_step_count=12, derandomize=True, suppress_health_check=list(HealthCheck))
