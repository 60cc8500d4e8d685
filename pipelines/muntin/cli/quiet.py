"""`--quiet`: no progress, and no word of what was done; results that were asked for, and errors, stay."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from muntin.cli.output import say

_QUIET = ContextVar("quiet", default=False)


@contextmanager
def quietly(on: bool) -> Iterator[None]:
    """Work in quiet, if asked."""
    before = _QUIET.set(on)
    try:
        yield
    finally:
        _QUIET.reset(before)


def is_quiet() -> bool:
    """Whether --quiet was given."""
    return _QUIET.get()


def say_what_was_done(text: str = "") -> None:
    """A line of the report on work that was done, on stdout; nothing in quiet."""
    if not is_quiet():
        say(text)
