"""Names that are similar to a misspelt name, and names that no column can have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.errors import DefinitionError

if TYPE_CHECKING:
    from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A question to put behind an error; "" where no known name is similar.

    >>> did_you_mean("dely", ["delay", "late"])
    "; did you mean 'delay'?"
    >>> did_you_mean("speed", ["delay", "late"])
    ''
    """
    from difflib import get_close_matches

    by_lower = {each.lower(): each for each in known}
    close = get_close_matches(name.lower(), by_lower, n=2, cutoff=0.6)
    return f"; did you mean {' or '.join(repr(by_lower[each]) for each in close)}?" if close else ""


def check_whole(what: str, names: Iterable[object]) -> None:
    """Check that names of columns have no NUL in them.

    Raises:
        DefinitionError: a name has.
    """
    for name in names:
        if isinstance(name, str) and "\0" in name:
            raise DefinitionError(f"{what}: {name!r} holds a NUL, at which Arrow ends a name; give the column another name")
