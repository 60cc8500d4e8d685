"""A file of JSON lines cut into its rows."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from muntin.sources.exact_json.numbers import MAY_BE_LOST, NO_DOUBLE, lost_number
from muntin.sources.exact_json.values import TOO_DEEP, is_deep
from muntin.sources.reading.cut_rows import MARK, Cut, is_text, not_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import duckdb

_LINES = "muntin_lines"
_MAY_BE_LOST = re.compile(MAY_BE_LOST)
_NO_NAME = re.compile(r'[{,]\s*""\s*:')
_FAULTS = f"""
SELECT number, CASE WHEN NOT json_valid(text) THEN 'no valid JSON'
WHEN json_type(text) <> 'OBJECT' THEN 'a JSON value that is no object' END AS fault
FROM {_LINES} WHERE fault IS NOT NULL
"""


class _NameTwiceError(Exception):
    """An object has two values of one name."""


def cut_json(
    session: duckdb.DuckDBPyConnection,
    data: bytes,
    exact: Callable[[str], bool] = lambda _: False,
    guessed: Callable[[str], bool] = lambda _: False,
) -> Cut:
    """The rows of a file of JSON lines. DuckDB itself says whether a line is JSON. Empty lines are none.

    `exact`: the columns whose numbers must be there as they are written; `guessed`: the columns whose types
    are told from the file. DuckDB tells none where a member has the name "".
    """
    cut, at, number, plain = Cut(data), len(MARK) if data.startswith(MARK) else 0, 1, is_text(data)
    while at < len(data):
        stop = data.find(b"\n", at)
        stop = len(data) if stop < 0 else stop
        text = data[at:stop]
        if text.strip():
            fault = "" if plain else not_text(text)
            cut.add(
                at,
                at + len(text.rstrip(b"\r")),
                number,
                fault or (TOO_DEEP if is_deep(text.decode(errors="replace")) else ""),
            )
        at, number = stop + 1, number + 1
    cut.faults.update(_not_objects(session, cut))
    for row in range(len(cut)):
        if (
            row not in cut.faults
            and _MAY_BE_LOST.search(line := cut.text(row))
            and (lost := lost_number(line, exact))
        ):
            cut.faults[row] = f"{lost[0]} holds {lost[1]}, {NO_DOUBLE}"
        if (
            row not in cut.faults
            and _NO_NAME.search(line := cut.text(row))
            and (place := _nameless(line, guessed))
        ):
            cut.faults[row] = f"{place} has a member without a name"
    return cut


def _nameless(text: str, guessed: Callable[[str], bool]) -> str:
    """The object, or the column of it, with a member that has the name ""; "" if there is none."""
    line: dict[str, Any] = {}
    with suppress(ValueError, RecursionError):  # as below
        line = json.loads(text)
    if "" in line:
        return "the object"
    return next(
        (name for name, value in line.items() if guessed(name) and _NO_NAME.search(json.dumps(value))), ""
    )


def _not_objects(session: duckdb.DuckDBPyConnection, cut: Cut) -> dict[int, str]:
    """Number of a line -> why it is no object."""
    rows = [row for row in range(len(cut)) if row not in cut.faults]
    texts = [cut.text(row) for row in rows]
    session.register(
        _LINES, pa.table({"number": pa.array(rows, pa.int64()), "text": pa.array(texts, pa.string())})
    )
    try:
        fault_of_row = dict(session.execute(_FAULTS).fetchall())
    finally:
        session.unregister(_LINES)
    twice = (
        row
        for row, text in zip(rows, texts, strict=True)
        if row not in fault_of_row and _has_name_twice(text)
    )
    return fault_of_row | dict.fromkeys(twice, "a name stands twice in an object")


def _has_name_twice(text: str) -> bool:
    try:
        with suppress(ValueError, RecursionError):  # what DuckDB takes and Python does not
            json.loads(text, object_pairs_hook=_distinct)
    except _NameTwiceError:
        return True
    return False


def _distinct(pairs: Sequence[tuple[str, Any]]) -> None:
    if len({name for name, _ in pairs}) < len(pairs):
        raise _NameTwiceError
