"""Forgotten keys among refused rows: a row is kept as JSON, or, if it could not be read, as the text of its line. Pure."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

from muntin.states.forgotten_keys import UNDONE, Plain, key_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from muntin.states.forgotten_keys import Key, Keys

_CELL, _WORD = re.compile(r"""[^,;|\t"']+"""), re.compile(r"[\w.@+-]+")


def refused_among(rows: Sequence[str | None], keys: Keys) -> np.ndarray:
    """Whether each refused row is of one of some keys (bool). Of a line that could not be read: whether such a value stands in it.

    >>> refused_among(['{"user": 42, "x": null}', "42,not a time", "421,not a time", None], Plain(frozenset({(("user", "42"),)})))
    array([ True,  True, False, False])
    """
    return np.array([row is not None and _is_among(row, keys) for row in rows], np.bool_)


def _is_among(row: str, keys: Keys) -> bool:
    try:
        values = json.loads(row, parse_float=Decimal)
    except ValueError:
        values = None
    if not isinstance(values, dict):
        return stands_in(row, keys)
    wanted = ({name: values.get(name) for name in columns} for columns in keys.columns)
    return any(None not in each.values() and _is_forgotten(key_of(each), keys) for each in wanted)


def _is_forgotten(key: Key, keys: Keys) -> bool:
    """Whether rows of a key are left out, whatever their time: nobody knows that of a refused row."""
    until = keys.until_us(key)
    return until is not None and until > UNDONE


def stands_in(text: str, keys: Keys) -> bool:
    """Whether the values of one of some keys stand in a text, each as a whole word. By hashes, keys of one column alone are found."""
    if isinstance(keys, Plain):
        return any(all(word_of(value).search(text) for _, value in key) for key in keys.keys)
    single = [columns for columns in keys.columns if len(columns) == 1]
    return any(_is_forgotten(((name, part),), keys) for (name,) in single for part in _parts(text))


def word_of(value: str) -> re.Pattern[str]:
    """The pattern of a value as a whole word; a number is none within a time, a date or a fraction.

    >>> [bool(word_of("42").search(text)) for text in ("user 42.", "a,42,b", "10:42", "0.42", "2042")]
    [True, True, False, False, False]
    """
    if value.isdigit():
        return re.compile(rf"(?<![\w.:/+-]){value}(?![\w:/+-]|\.\d)")
    return re.compile(rf"(?<!\w){re.escape(value)}(?!\w)")


def _parts(text: str) -> Iterator[str]:
    """The words and the cells of a line."""
    for pattern in (_WORD, _CELL):
        yield from (found.strip() for found in pattern.findall(text))
