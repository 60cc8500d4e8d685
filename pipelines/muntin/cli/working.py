"""While a command works: stdout stays free for its result, whoever watches sees how far it is, and a signal
ends it.
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stdout
from pathlib import Path
from threading import Event, Thread, Timer, current_thread, get_ident, main_thread
from types import FrameType
from typing import NoReturn

from muntin.cli.output import is_quiet
from muntin.printable import printable

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
    _stopping.append(Thread(target=_stop_jobs, daemon=True))
    _stopping[-1].start()
    raise _caught[0]


def _stop_jobs() -> None:
    from muntin.spark.stopping import stop_jobs_until

    stop_jobs_until(_ended)


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


DELAY_S = 1.0
Tell = Callable[[str], None]


@contextmanager
def working(*steps: str) -> Iterator[Tell]:
    """Work that may take a while; yields the function to call with each step's name as it begins.

    A person gets a progress bar after a second, anything else a line a step, both on stderr; in quiet
    neither.
    """
    with _stdout_kept(), _shown(steps) as show:

        def tell(step: str) -> None:
            reached(step)
            show(printable(step))

        yield tell


@contextmanager
def _stdout_kept() -> Iterator[None]:
    """Whatever prints meanwhile (a definition, Spark's Java, Great Expectations) prints to stderr; in quiet,
    nowhere.
    """
    sys.stdout.flush()
    stdout_copy = os.dup(1)
    try:
        with (
            Path(os.devnull).open("w", encoding="utf-8")
            if is_quiet()
            else nullcontext(sys.stderr) as elsewhere
        ):
            os.dup2(elsewhere.fileno() if is_quiet() else 2, 1)
            with redirect_stdout(elsewhere):
                yield
    finally:
        os.dup2(stdout_copy, 1)
        os.close(stdout_copy)


def _shown(steps: Sequence[str]) -> AbstractContextManager[Tell]:
    if is_quiet():
        return nullcontext(lambda _: None)
    if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        return _bar(steps)
    began = time.monotonic()
    return nullcontext(
        lambda step: print(f"{time.monotonic() - began:7.1f} s  {step}", file=sys.stderr, flush=True)
    )


@contextmanager
def _bar(steps: Sequence[str]) -> Iterator[Tell]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    style = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TimeElapsedColumn(),
    )
    bar = Progress(*style, console=Console(stderr=True), transient=True)
    task = bar.add_task("muntin", total=len(steps) or None)

    def tell(step: str) -> None:
        bar.update(
            task, description=step, completed=steps.index(step) if step in steps else None, refresh=True
        )

    timer = Timer(DELAY_S, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield tell
    finally:
        timer.cancel()
        timer.join()
        bar.stop()
