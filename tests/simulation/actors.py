"""Actors take turns: one acts until its next verb, then chance says who goes on. No threads, no waiting.

run      snapshot . . . commit .           . promote
vacuum            .           . snapshot . .
reader            . snapshot             .           read
"""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from greenlet import getcurrent, greenlet

from muntin.errors import ConflictError, MuntinError, StateError
from tests.simulation.disk import Clock

BEFORE, AFTER, LOST, CONFLICT = "before", "after", "lost answer", "false conflict"
FAULTS = (BEFORE, AFTER, LOST, CONFLICT)


often: Counter[str] = Counter()
"""How often something was met in this process: "verb commit", "fault before", "actor vacuum", "step race"."""


class Crash(BaseException):
    """The actor is gone; it cannot tidy up."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens at a verb of an actor, by its number.

    BEFORE, AFTER: the actor is gone before the verb, or after it. LOST: the verb is done, and the actor is told of an error. CONFLICT:
    it is done, and the actor is told that another one came first.
    """

    verb: int
    kind: str


class Actor(greenlet):
    """Some work that pauses at each of its verbs. `outcome`: the error that ended it, None if it got through."""

    def __init__(self, name: str, work: Callable[[], Any], fault: Fault | None = None) -> None:
        super().__init__(self.live)
        self.name, self.work, self.fault = name, work, fault
        self.verbs, self.gone = 0, False
        self.outcome: BaseException | None = None

    def live(self) -> None:
        """Do the work. Called as it is, without turns, nobody comes in between."""
        try:
            self.work()
        except (Crash, Exception) as ended:  # noqa: BLE001 - what is no error of Muntin's own is found by the laws
            self.outcome = ended

    def does(self, verb: str, do: Callable[[], Any]) -> Any:
        """Do a verb, in whose place or behind which the actor's fault may come."""
        fault = self.fault if self.fault and self.fault.verb == self.verbs else None
        self.verbs += 1
        often[f"verb {verb}"] += 1
        if fault:
            often[f"fault {fault.kind}"] += 1
        if self.gone or (fault and fault.kind == BEFORE):
            self.gone = True
            raise Crash(verb)
        done = do()
        if fault and fault.kind == AFTER:
            self.gone = True
            raise Crash(verb)
        if fault and verb == "commit":
            raise (
                ConflictError("the answer was lost, and the next try found it done") if fault.kind == CONFLICT else StateError("no answer")
            )
        return done


def pause() -> None:
    """Let another actor act. Outside actors nothing happens."""
    here = getcurrent()
    if isinstance(here, Actor):
        here.parent.switch()


def act(verb: str, do: Callable[[], Any]) -> Any:
    """Do a verb as the present actor, after the others had their chance."""
    here = getcurrent()
    if not isinstance(here, Actor):
        return do()
    here.parent.switch()
    return here.does(verb, do)


def interleave(actors: Sequence[Actor], dice: random.Random, clock: Clock, turned: Callable[[], None] = lambda: None) -> None:
    """Let actors act in turns until each is done or gone. `turned`: called after each turn."""
    living = list(actors)
    while living:
        actor = living[int(dice.random() * len(living))]
        clock.now_s += 1
        actor.switch()
        if actor.dead:
            living.remove(actor)
        turned()


def meet(actors: Sequence[Actor]) -> None:
    """Count the kinds of some actors."""
    often.update(f"actor {actor.name.partition(' ')[0]}" for actor in actors)


def raw_errors(actors: Sequence[Actor]) -> list[str]:
    """What ended otherwise than in an error of Muntin's own."""
    raw = [actor for actor in actors if isinstance(actor.outcome, Exception) and not isinstance(actor.outcome, MuntinError)]
    return [f"{actor.name} ended in a raw error: {actor.outcome!r}" for actor in raw]
