"""Hidden names, by which writers keep files apart that are no data yet, or never: `_temporary/`, `_SUCCESS`, `.part.parquet.crc`."""

from __future__ import annotations

from itertools import zip_longest

_MARKS = ("_", ".")


def is_hidden(path: str, pattern: str) -> bool:
    """Whether a name in a path begins with `_` or `.`, where the pattern that found it does not write this itself.

    >>> [is_hidden(f"/data/00/{name}", "/data/00/**/*.csv") for name in ("a.csv", "_a.csv", "_temporary/0/a.csv")]
    [False, True, True]
    >>> is_hidden("/_landing/00/_a.csv", "/_landing/*/_*.csv")
    False
    """
    names, wanted = _parts(path), _parts(pattern)
    if "**" in wanted:  # any number of folders: what stands before it is met from the begin, what stands behind it from the end
        before, behind = wanted.index("**"), wanted[::-1].index("**")
        wanted = wanted[:before] + [""] * (len(names) - before - behind) + wanted[len(wanted) - behind :]
    return any(name.startswith(_MARKS) and not plain.startswith(name[0]) for name, plain in zip_longest(names, wanted, fillvalue=""))


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part]
