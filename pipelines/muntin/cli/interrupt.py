"""A command that is interrupted, by Ctrl-C or by whoever ends processes, stops Spark's jobs and says in a
line what that means.
"""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread, Timer, current_thread, get_ident, main_thread
from types import FrameType
from typing import NoReturn

from muntin.spark.stopping import stop_jobs_until

SIGNALS = (signal.SIGINT, signal.SIGTERM)
PUBLISH = "publish"
_PATIENCE_S = 5.0
_SOON_S = 0.02

_heard: list[signal.Signals] = []  # the signals that this process listens for
_caught: list["Interrupted"] = []
_steps: list[str] = []
_stopping: list[Thread] = []
_ended = Event()
_again: dict[int, Timer] = {}


class Interrupted(BaseException):
    """Raised in the main thread by a signal.

    It is no `Exception`, so that nothing takes it for a failed attempt.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def listening() -> Iterator[None]:
    """Let signals raise in the main thread; signals that the process was started to ignore stay ignored."""
    before = {each: signal.getsignal(each) for each in SIGNALS}
    for collection in (_heard, _caught, _steps, _stopping, _again):
        collection.clear()
    _ended.clear()
    if current_thread() is main_thread():
        _heard.extend(each for each in SIGNALS if before[each] is not signal.SIG_IGN)
    _listen()
    ignored, sys.unraisablehook = sys.unraisablehook, lambda lost: _ignored(lost, ignored)
    try:
        yield
    finally:
        _ended.set()
        sys.unraisablehook = ignored
        _send_no_more()
        for each in _heard:
            signal.signal(each, before[each] or signal.SIG_DFL)


def reached(step: str) -> None:
    """A step begins. Spark, once it has started, handles Ctrl-C itself: from now on we do again."""
    _steps.append(step)
    _listen()


def caught() -> Interrupted | None:
    """The error that a signal raised; None: no signal came.

    A library may have turned it into another error.
    """
    return _caught[0] if _caught else None


def end(number: int) -> int:
    """Wait until Spark knows, say what was interrupted, and give the exit status as shells do."""
    _send_no_more()
    _ended.set()
    for thread in _stopping:
        thread.join(_PATIENCE_S)
    print(_reported(), file=sys.stderr)
    return 128 + number


def _reported() -> str:
    if not _steps:
        return "interrupted; run it again, nothing is half done"
    where = f"interrupted in step {_steps[-1]}"
    if any(step.split()[0] == PUBLISH for step in _steps):
        return f"{where}; what was published before is whole; run again for the rest"
    return f"{where}; nothing of this run was published; run again"


def _listen() -> None:
    for each in _heard if not _caught else ():
        signal.signal(each, _interrupt)


def _interrupt(number: int, _frame: FrameType | None) -> NoReturn:
    """Stop what Spark does, in another thread, for this one may be in a call to Java; and leave.

    Another signal ends the process.
    """
    for each in _heard:
        signal.signal(each, signal.SIG_DFL)
    _caught.append(Interrupted(number))
    _stopping.append(Thread(target=stop_jobs_until, args=(_ended,), daemon=True))
    _stopping[-1].start()
    raise _caught[0]


def _ignored(lost: "sys.UnraisableHookArgs", hook: Callable[["sys.UnraisableHookArgs"], object]) -> None:
    """Python ignores what is raised while it frees an object.

    A signal that came then is sent once more, after this has returned.
    """
    if not isinstance(lost.exc_value, Interrupted):
        hook(lost)
        return
    number = lost.exc_value.number
    signal.signal(number, _interrupt_again)
    _again[number] = Timer(_SOON_S, signal.pthread_kill, (get_ident(), number))
    _again[number].daemon = True
    _again[number].start()


def _interrupt_again(number: int, _frame: FrameType | None) -> NoReturn:
    _again[number].cancel()
    signal.signal(number, signal.SIG_DFL)
    raise _caught[0]


def _send_no_more() -> None:
    """No signal that was to be sent once more is on its way: the command ends for another reason."""
    for number, timer in _again.items():
        signal.signal(number, lambda *_: None)
        timer.cancel()
        timer.join()
        signal.signal(number, signal.SIG_DFL)
    _again.clear()
