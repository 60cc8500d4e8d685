"""Sketches of frequent items. Values go in as texts, so that one kind of sketch serves all types."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from datasketches import NO_FALSE_NEGATIVES, frequent_strings_sketch

from muntin.engine.ordered_lists import settled
from muntin.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Sequence


def frequencies(size: int, counts: Sequence[tuple[str, int]]) -> frequent_strings_sketch:
    """A sketch of texts with how often each came; exact for up to three quarters of `2**size` texts."""
    sketch = frequent_strings_sketch(size)
    for text, count in counts:
        sketch.update(text, count)
    return sketch


def top(sketch: frequent_strings_sketch, k: int | None = None) -> list[tuple[str, int, int]]:
    """(value, count at most, count at most minus count at least), most frequent first."""
    items = [(value, upper, upper - lower) for value, _, lower, upper in sketch.get_frequent_items(NO_FALSE_NEGATIVES)]
    return sorted(items, key=lambda item: (-item[1], item[0]))[:k]


def pairs(values: pa.Array) -> list[tuple[str, int]]:
    """(text, count) of structs of a value and its count."""
    keys, counts = values.flatten()
    return list(zip(texts(settled(keys)), counts.to_pylist(), strict=True))


def texts(values: pa.Array) -> list[str]:
    """Values as texts that `values_of` reads again; bytes in hexadecimal.

    Raises:
        SourceError: values that cannot be text.
    """
    if pa.types.is_nested(values.type):
        raise SourceError(f'values of type {values.type} do not go into a sketch; ask for a text of them, as "x::VARCHAR"')
    if pa.types.is_binary(values.type):
        return [value.hex() for value in values.to_pylist()]
    spelled: list[str] = values.cast(pa.string()).to_pylist()
    return spelled


def values_of(spelled: Sequence[str], kind: pa.DataType) -> pa.Array:
    """The values of a type that `texts` spelled."""
    if pa.types.is_binary(kind):
        return pa.array([bytes.fromhex(text) for text in spelled], kind)
    return pa.array(spelled, pa.string()).cast(kind)
