"""Whether a record says a key: all values of one key stand in it, each as a whole word, or as a number under
the name of its column.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.extensions.forgetting.without_keys import rows_among
from muntin.states.forgotten_keys import Plain, text_of_value, word_of

Leaf = tuple[str, Any]
"""The name that a value has, and the value."""


def says(value: Any, keys: Plain, *, numbers: bool = True) -> bool:  # noqa: ANN401 - JSON, or as Arrow has it
    """Whether a record says one of some keys.

    Args:
        value: dicts, lists of pairs, lists, texts, numbers; names of fields count as texts.
        keys: the keys.
        numbers: whether a key that is a number may stand in a text of another name: 42 clicks are not user
            42.

    >>> bob, user_42 = (Plain(frozenset({(("user", text),)})) for text in ("bob", "42"))
    >>> (says({"note": ["call bob."]}, bob), says({"note": "bobby"}, bob), says({"user": 42}, user_42),
    ... says({"clicks": 42}, user_42))
    (True, False, True, False)
    """
    leaves = [*_leaves("", value)]
    return any(
        all(any(_is_said(*leaf, *part, numbers=numbers) for leaf in leaves) for part in key)
        for key in keys.keys
    )


def table_says(table: pa.Table, keys: Plain) -> int:
    """How many rows of a table say some keys.

    Only rows in whose texts or lists a key may stand are looked at one by one.
    """
    own = rows_among("", table, keys)
    may = np.zeros(len(table), np.bool_)
    for name, column in zip(table.column_names, table.columns, strict=True):
        may |= _may_say(name, column, keys)
    rows = table.filter(pa.array(may & ~own)).to_pylist() if (may & ~own).any() else []
    return int(own.sum()) + sum(says(row, keys, numbers=False) for row in rows)


def values_of(note: Any) -> Any:  # noqa: ANN401 - JSON
    """The values of a note, without the names of its fields."""
    if isinstance(note, dict):
        return [values_of(each) for each in note.values()]
    return [values_of(each) for each in note] if isinstance(note, list) else note


def unsaid(keys: Plain, text: str) -> Plain:
    """The keys that a text does not say itself."""
    return Plain(
        frozenset(key for key in keys.keys if not all(word_of(value).search(text) for _, value in key))
    )


def _may_say(name: str, column: pa.ChunkedArray, keys: Plain) -> np.ndarray | bool:
    """The rows of a column that may hold a value of a key: more, but no fewer."""
    kind = column.type
    if (
        pa.types.is_nested(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
    ):
        return True
    if pa.types.is_dictionary(kind) or pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        column, kind = column.cast(pa.large_string()), pa.large_string()
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        matches = (pc.fill_null(pc.match_substring(column, text), False) for text in keys.texts)  # noqa: FBT003 - where it is null
        return np.logical_or.reduce([each.to_numpy() for each in matches])
    return any(name == part for key in keys.keys for part, _ in key)


def _leaves(name: str, value: Any) -> Iterator[Leaf]:  # noqa: ANN401 - JSON, or as Arrow has it
    if isinstance(value, dict):
        value = [*value.items()]
    if isinstance(value, bytes):
        yield name, value.decode(errors="replace")
    elif isinstance(value, list | tuple):
        for each in value:
            if isinstance(each, tuple) and len(each) == 2 and isinstance(each[0], str):  # noqa: PLR2004 - a field and its value
                yield "", each[0]
                yield from _leaves(*each)
            else:
                yield from _leaves(name, each)
    elif value is not None and not isinstance(value, bool):
        yield name, value


def _is_said(name: str, value: Any, column: str, text: str, *, numbers: bool) -> bool:  # noqa: ANN401 - as Arrow has it
    if name == column and text_of_value(value) == text:
        return True
    return (
        isinstance(value, str) and (numbers or not text.isdigit()) and word_of(text).search(value) is not None
    )
