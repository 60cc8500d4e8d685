"""Words for people: numbers of things and bytes, lengths of time, names similar to a misspelt name."""

from __future__ import annotations

from collections.abc import Iterable

from muntin.errors import DefinitionError


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """A question to put behind an error; "" where no known name is similar.

    >>> did_you_mean("dely", ["delay", "late"])
    "; did you mean 'delay'?"
    >>> did_you_mean("speed", ["delay", "late"])
    ''
    """
    from difflib import get_close_matches

    by_lower = {each.lower(): each for each in names}
    close = get_close_matches(name.lower(), by_lower, n=2, cutoff=0.6)
    return f"; did you mean {' or '.join(repr(by_lower[each]) for each in close)}?" if close else ""


def check_whole(what: str, names: Iterable[object]) -> None:
    """Check that names of columns are no other names to Arrow."""
    for name in names:
        if isinstance(name, str) and ("\0" in name or name.startswith(".")):
            why = "holds a NUL, at which Arrow ends a name" if "\0" in name else _POINT
            raise DefinitionError(f"{what}: {name!r} {why}; give the column another name")


_POINT = "begins with a point, with which Arrow begins the name of a member"
_TIMES = ((86_400_000_000, "d"), (3_600_000_000, "h"), (60_000_000, "min"), (1_000_000, "s"))


def many(count: int, noun: str) -> str:
    """A number of things.

    >>> many(1, "batch"), many(1200, "row"), many(2, "batch")
    ('1 batch', '1,200 rows', '2 batches')
    """
    plural = f"{noun}es" if noun.endswith(("ch", "sh", "s", "x")) else f"{noun}s"
    return f"{count:,} {noun if count == 1 else plural}"


def lasting(us: int | None) -> str:
    """A length of time, in its largest unit and the next.

    >>> lasting(90_061_000_000), lasting(500_000)
    ('1 d 1 h', '0 s')
    """
    if us is None:
        return "\N{EN DASH}"
    parts: list[str] = []
    rest = abs(us)
    for size, unit in _TIMES:
        if rest >= size and len(parts) < 2:  # noqa: PLR2004 - see above
            parts.append(f"{rest // size:,} {unit}")
            rest %= size
        elif parts:
            break
    return ("\N{MINUS SIGN}" if us < 0 else "") + (" ".join(parts) or "0 s")
