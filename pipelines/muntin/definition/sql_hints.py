"""Hints for SQL that does not fit the columns of a source: the SQL that a user may have meant."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from muntin.definition.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

_UNKNOWN = re.compile(r'column "(.+?)" not found')
_PLAIN = re.compile(r"[^\W\d]\w*")
_OF_PYTHON = {"none": "x IS NOT NULL", "nan": "NOT isnan(x)"}


def hint(sql: str, error: str, columns: Mapping[str, str], call: str) -> str:
    """A question or a mend to put behind an error of DuckDB's; "" where nothing is likely.

    >>> hint("sum(price)", "No function matches 'sum(VARCHAR)'", {"price": "VARCHAR"}, "sources.files(...)")
    '; price is a text: say types={"price": "DOUBLE"} in sources.files(...), or write price::DOUBLE'

    Args:
        sql: as the user wrote it.
        error: DuckDB's words.
        columns: name -> SQL type of the source's columns.
        call: how the source is written; "" where a window's columns are meant.
    """
    odd = [name for name in columns if not _PLAIN.fullmatch(name) and name in sql and f'"{name}"' not in sql]
    if odd:
        return f"; write '\"{max(odd, key=len)}\"' for the column of this name: it is no plain word"
    if found := _UNKNOWN.search(error):
        return _of_unknown(sql, found[1], columns)
    used = [name for name, kind in columns.items() if kind == "VARCHAR" and re.search(rf"\b{re.escape(name)}\b", sql)]
    if not used or "VARCHAR" not in error:
        return ""
    types = ", ".join(f'"{name}": "DOUBLE"' for name in used)
    are = f"{used[0]} is a text" if len(used) == 1 else f"{', '.join(used)} are texts"
    return f"; {are}: {f'say types={{{types}}} in {call}, or ' if call else ''}write {used[0]}::DOUBLE"


def _of_unknown(sql: str, name: str, columns: Mapping[str, str]) -> str:
    if mend := _OF_PYTHON.get(name.lower()):
        return f"; {name} is of Python; in SQL write {mend}"
    if near := did_you_mean(name, columns):
        return near
    return f"; a text stands in single quotes, as '{name}'" if f'"{name}"' in sql else ""
