"""Sketches of Apache DataSketches: how each kind is made of values, read, written and combined."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import datasketches as ds
import numpy as np
import pyarrow as pa
from datasketches import NO_FALSE_NEGATIVES, frequent_strings_sketch

from muntin.engine.ordered_lists import lengths_of, settled
from muntin.engine.reduce.fold import Algebra
from muntin.errors import SourceError


def frequencies(size: int, counts: Sequence[tuple[str, int]]) -> frequent_strings_sketch:
    """A sketch of texts with how often each came; exact for up to three quarters of `2**size` texts."""
    sketch = frequent_strings_sketch(size)
    for text, count in counts:
        sketch.update(text, count)
    return sketch


def top(sketch: frequent_strings_sketch, k: int | None = None) -> list[tuple[str, int, int]]:
    """(value, count at most, count at most minus count at least), most frequent first."""
    items = [
        (value, upper, upper - lower)
        for value, _, lower, upper in sketch.get_frequent_items(NO_FALSE_NEGATIVES)
    ]
    return sorted(items, key=lambda item: (-item[1], item[0]))[:k]


def pairs(values: pa.Array) -> list[tuple[str, int]]:
    """(text, count) of structs of a value and its count."""
    keys, counts = values.flatten()
    return list(zip(texts(settled(keys)), counts.to_pylist(), strict=True))


def texts(values: pa.Array) -> list[str]:
    """Values as texts that `values_of` reads again; bytes in hexadecimal."""
    if pa.types.is_nested(values.type):
        raise SourceError(
            f'values of type {values.type} do not go into a sketch; ask for a text of them, as "x::VARCHAR"'
        )
    if pa.types.is_binary(values.type):
        return [value.hex() for value in values.to_pylist()]
    spelled: list[str] = values.cast(pa.string()).to_pylist()
    return spelled


def values_of(spelled: Sequence[str], kind: pa.DataType) -> pa.Array:
    """The values of a type that `texts` spelled."""
    if pa.types.is_binary(kind):
        return pa.array([bytes.fromhex(text) for text in spelled], kind)
    return pa.array(spelled, pa.string()).cast(kind)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of sketch; `size` is what the library calls k or lg_k.

    Attributes:
        items: from flat lifted values to a sequence of items that a sketch takes.
        build: (size, items) -> sketch.
        read, write: from bytes to a sketch, and back.
        union: (size, sketch, sketch) -> sketch; may change the first.
        show: from a sketch to a value that equal sketches share.
    """

    items: Callable[[pa.Array], Any]
    build: Callable[[int, Any], Any]
    read: Callable[[bytes], Any]
    write: Callable[[Any], bytes]
    union: Callable[[int, Any, Any], Any]
    show: Callable[[Any], Any]

    def algebra(self, size: int) -> Algebra:
        """How sketches of this size combine."""
        return Algebra(self.read, self.write, partial(self.union, size))

    def states(self, lists: pa.Array, size: int) -> pa.Array:
        """A sketch of each list of values, as bytes."""
        bounds, items = np.append(0, np.cumsum(lengths_of(lists))).tolist(), self.items(lists.flatten())
        return pa.array(
            [self.write(self.build(size, items[start:stop])) for start, stop in pairwise(bounds)], pa.binary()
        )


def _hashed(values: pa.Array) -> list[Any]:
    """Values as the library hashes them: whole numbers, floats, texts; moments and dates as numbers of their
    unit.

    The library leaves out empty texts, which are values too: they go in as a zero byte.
    """
    kind = values.type
    if pa.types.is_nested(kind):
        raise SourceError(
            f'values of type {kind} do not go into a sketch; ask for a text of them, as "x::VARCHAR"'
        )
    if pa.types.is_temporal(kind):
        values = values.cast(pa.int32() if kind.bit_width == 32 else pa.int64())  # noqa: PLR2004 - dates are 32 bits wide
    elif pa.types.is_boolean(kind):
        values = values.cast(pa.int8())
    elif pa.types.is_decimal(kind):
        values = values.cast(pa.string())
    items: list[Any] = values.to_pylist()
    if pa.types.is_binary(kind):
        items = [value.hex() for value in items]
    return [value if value != "" else "\x00" for value in items]


def _distinct(values: Sequence[Any]) -> list[Any]:
    """The distinct values, ascending; NaN last."""
    return sorted(set(values), key=_nan_last if isinstance(values[0], float) else None)


def _nan_last(value: float) -> tuple[bool, float]:
    return value != value, value  # noqa: PLR0124 - only NaN is not itself


_LISTED = 8  # below this number of values HyperLogLog keeps a list of them, whose order does not matter


def _hll(size: int, values: Sequence[Any]) -> ds.hll_sketch:
    sketch = ds.hll_sketch(size, ds.HLL_4)
    many = len(values) >= _LISTED
    for value in _distinct(values) if many else values:
        sketch.update(value)
    return _hll_union(size, sketch) if many else sketch


def _hll_union(size: int, *sketches: ds.hll_sketch) -> ds.hll_sketch:
    """The union of sketches. Its estimate depends on registers alone, not on the order of values."""
    union = ds.hll_union(size)
    for sketch in sketches:
        union.update(sketch)
    return union.get_result(ds.HLL_4)


def _theta(size: int, values: Sequence[Any]) -> ds.compact_theta_sketch:
    sketch = ds.update_theta_sketch(size)
    for value in values:
        sketch.update(value)
    sketch.trim()
    return sketch.compact()


def _theta_union(size: int, *sketches: ds.compact_theta_sketch) -> ds.compact_theta_sketch:
    union = ds.theta_union(size)
    for sketch in sketches:
        union.update(sketch)
    return union.get_result()


def _doubles(values: pa.Array) -> np.ndarray:
    """Doubles, zeros without a sign, as a new array: the library refuses arrays that cannot be written."""
    numbers: np.ndarray = values.to_numpy(zero_copy_only=False) + 0.0
    return numbers


def _digest(size: int, values: np.ndarray) -> ds.tdigest_double:
    digest = ds.tdigest_double(size)
    if len(values):
        digest.update(values)
    return digest


def _five(digest: ds.tdigest_double) -> list[float]:
    """The weight of a sketch, then five quantiles, from the least to the greatest value."""
    places = () if digest.is_empty() else (0, 0.25, 0.5, 0.75, 1)
    return [float(digest.get_total_weight()), *map(digest.get_quantile, places)]


def _merged(_size: int, first: Any, second: Any) -> Any:  # noqa: ANN401 - sketches of two kinds
    first.merge(second)
    return first


_HLL, _THETA, _DIGEST, _ITEMS = (
    ds.hll_sketch,
    ds.compact_theta_sketch,
    ds.tdigest_double,
    ds.frequent_strings_sketch,
)
KINDS = {
    "hll": Kind(_hashed, _hll, _HLL.deserialize, _HLL.serialize_compact, _hll_union, _HLL.get_estimate),
    "theta": Kind(_hashed, _theta, _THETA.deserialize, _THETA.serialize, _theta_union, sorted),
    "tdigest": Kind(_doubles, _digest, _DIGEST.deserialize, _DIGEST.serialize, _merged, _five),
    "frequent": Kind(pairs, frequencies, _ITEMS.deserialize, _ITEMS.serialize, _merged, top),
}
