"""What a wait has to say: which component died, and that nothing moves. Time is an argument."""

import signal
from collections.abc import Mapping
from dataclasses import dataclass, replace

from examples.demo.failure import DemoError

SPEAK_S = 120.0
GIVE_UP_S = 600.0


@dataclass(frozen=True, slots=True)
class Inspection:
    """What a look at some work saw: whether it is done, how far it is, and why the look saw no more than that."""

    done: bool
    progress: str
    remark: str = ""

    def __str__(self) -> str:
        return "; ".join(filter(None, (self.progress, self.remark)))


@dataclass(frozen=True, slots=True)
class Standstill:
    """The latest progress, since when it is the same, and when that is next worth a word. Seconds of one clock, any."""

    progress: str
    since_s: float
    speak_at_s: float

    def lasts_s(self, now_s: float) -> float:
        """How long the progress has been the same."""
        return now_s - self.since_s


def begun(progress: str, now_s: float) -> Standstill:
    """Progress that is new."""
    return Standstill(progress, now_s, now_s + SPEAK_S)


def after(before: Standstill, inspection: Inspection, now_s: float) -> tuple[Standstill, str | None]:
    """The standstill after another inspection, and the sentence that is due, if any. A remark is no progress.

    Raises:
        DemoError: the progress has been the same for `GIVE_UP_S`.
    """
    if inspection.progress != before.progress:
        return begun(inspection.progress, now_s), None
    sentence = f"nothing has moved for {before.lasts_s(now_s):.0f} s ({inspection})"
    if before.lasts_s(now_s) >= GIVE_UP_S:
        raise DemoError(f"given up: {sentence}")
    if now_s < before.speak_at_s:
        return before, None
    return replace(before, speak_at_s=now_s + SPEAK_S), sentence


def deaths(exit_codes: Mapping[str, int | None]) -> str | None:
    """What a person reads about the components that ended; None while all of them run. A component that runs has no exit code."""
    ended = [f"{name} died ({exit_words(code)})" for name, code in exit_codes.items() if code is not None]
    return ", ".join(ended) or None


def exit_words(code: int) -> str:
    """An exit code, with the signal's name if a signal ended the program."""
    return f"exit code {code}, by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
