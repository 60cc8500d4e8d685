"""The parts of extensions: entry points of the group `muntin.extensions`, as `muntin.extensions.interface` has them."""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, PackageNotFoundError, distribution, entry_points
from itertools import chain
from typing import Any

GROUP = "muntin.extensions"


def extension(kind: str, name: str) -> Any:  # noqa: ANN401 - whatever the extension has there
    """The part that an extension has below a name: `extension("sinks", "postgres")`. Names of Muntin's own distribution come first.

    Raises:
        KeyError: no installed distribution has it.
    """
    for each in chain.from_iterable(group() for group in (_own, _all)):
        if each.name == f"{kind}.{name}":
            return each.load()
    raise KeyError(f"{kind}.{name}")


def names_of(kind: str) -> list[str]:
    """The names that extensions add of a kind, in order."""
    return sorted({each.name.partition(".")[2] for each in _all() if each.name.startswith(f"{kind}.")})


@cache
def _own() -> tuple[EntryPoint, ...]:
    """To look through all distributions takes as long as to parse a definition."""
    try:
        return tuple(distribution("muntin").entry_points.select(group=GROUP))
    except PackageNotFoundError:
        return ()


@cache
def _all() -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=GROUP))
