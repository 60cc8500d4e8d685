"""Whether the first line of a CSV file has a name twice.

DuckDB would call the second x_1, and the first would be taken without a word.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from muntin.errors import SourceError
from muntin.sources.reading.scan import first_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import duckdb

    from muntin.sources.source import Source

_NUMBERED = re.compile(r"(.+)_\d+")


def check_names(
    session: duckdb.DuckDBPyConnection, source: Source, columns: Iterable[str], paths: Sequence[str]
) -> None:
    """Refuse files of CSV whose header has a name twice, in capitals or not.

    `columns`: as DuckDB tells them.
    """
    if source.format != "csv" or source.dialect.header or not _may_be_twice([*columns]):
        return
    for path in paths:
        (names,) = session.execute(first_line(source, path)).fetchall() or [()]
        plain = [(name or "").strip().lower() for name in names]
        if twice := [name for at, name in enumerate(plain) if name and name in plain[:at]]:
            raise SourceError(
                f"{path}: the first line has the column {twice[0]!r} twice; which of them is meant would be a"
                " guess. Rename one"
            )


def _may_be_twice(columns: Sequence[str]) -> bool:
    """Whether a column has the name of another and a number behind it."""
    names = {name.lower() for name in columns}
    return any((match := _NUMBERED.fullmatch(name)) and match[1].lower() in names for name in columns)
