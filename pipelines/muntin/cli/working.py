"""While a command works: stdout stays free for its result, and whoever watches sees how far it is."""

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout
from pathlib import Path
from threading import Timer

from muntin.cli.interrupt import reached
from muntin.cli.quiet import is_quiet
from muntin.printable import printable

DELAY_S = 1.0
Tell = Callable[[str], None]


@contextmanager
def working(*steps: str) -> Iterator[Tell]:
    """Work that may take a while; yields the function to call with each step's name as it begins.

    A person gets a progress bar after a second, anything else a line a step, both on stderr; in quiet
    neither.
    """
    with _stdout_kept(), (_nothing if is_quiet() else _bar if _watched() else _lines)(steps) as show:

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


def _watched() -> bool:
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


@contextmanager
def _nothing(steps: Sequence[str]) -> Iterator[Tell]:  # noqa: ARG001 - one face for all
    yield lambda _: None


@contextmanager
def _lines(steps: Sequence[str]) -> Iterator[Tell]:  # noqa: ARG001 - as above
    began = time.monotonic()
    yield lambda step: print(f"{time.monotonic() - began:7.1f} s  {step}", file=sys.stderr, flush=True)


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
