"""Keys as integers: codes in the keys' own order, and buckets, which are the same on every machine and for
ever.

Null is a key as any other and sorts last.

The key dictionary: the distinct keys so far, and a number for each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.states.frames import NO_INTS, Ints

_BITS = 20
MOST_VALUES = 2**_BITS
"""A key column may have fewer, so that three places fit one number."""
MOST_LOOKED_UP = 2**17
"""So many values that no table has are looked up: they are hashed anew for each batch of rows."""
_WIDEST = 2**20  # of a table of places


@dataclass(slots=True)
class DistinctValues:
    """The distinct values of a column so far, `values`, by first occurrence.

    `table`: the places among them of whole numbers that lie near each other, from `least` on; -1 where a
    value did not occur.
    """

    values: pa.Array
    least: int = 0
    table: Ints = field(default_factory=lambda: NO_INTS)

    def places(self, column: pa.Array) -> Ints:
        """The place of each row's value; new values are appended in the order in which they come."""
        from muntin.states.slot_kernels import tabulated_places

        if not self._has_room_for(column):
            return self._looked_up(column)
        value = column.to_numpy()
        place = np.empty(len(column), np.int64)
        new = np.empty_like(value)
        if count := tabulated_places(value, self.least, self.table, len(self.values), place, new):
            self.values = pa.concat_arrays([self.values, pa.array(new[:count])])
        return place

    def _has_room_for(self, column: pa.Array) -> bool:
        """Whether the table has a place for each value of a column, or is widened to have it."""
        if column.null_count or not pa.types.is_integer(column.type) or not len(column):
            return False
        ends = pc.min_max(column).as_py()
        return (self.least <= ends["min"] and ends["max"] < self.least + len(self.table)) or self._tabulate(
            ends["min"], ends["max"]
        )

    @property
    def are_too_many(self) -> bool:
        """Whether the values are more than can be numbered, or more than are worth numbering."""
        return len(self.values) >= (MOST_VALUES if len(self.table) else MOST_LOOKED_UP)

    def _looked_up(self, column: pa.Array) -> Ints:
        places = pc.index_in(column, value_set=self.values)
        if places.null_count:
            new = column.filter(pc.is_null(places)).unique()
            self.values = pa.concat_arrays([self.values, new])
            self.table = self.table[:0]
            places = pc.index_in(column, value_set=self.values)
        return places.to_numpy().astype(np.int64)

    def _tabulate(self, least: int, most: int) -> bool:
        """Lay the places of all values into a table over `least` to `most`; False: too wide."""
        values = self.values.drop_null()
        if len(values):
            ends = pc.min_max(values).as_py()
            least = min(least, ends["min"])
            most = max(most, ends["max"])
        if most - least >= _WIDEST:
            return False
        self.least, self.table = least, np.full(most - least + 1, -1)
        self.table[values.to_numpy().astype(np.int64) - least] = np.flatnonzero(
            self.values.is_valid().to_numpy(zero_copy_only=False)
        )
        return True


@dataclass(slots=True)
class KeyDictionary:
    """The distinct keys so far. `parts`: each key column's values; `codes`: places of each key's values."""

    parts: list[DistinctValues]
    codes: DistinctValues = field(default_factory=lambda: DistinctValues(pa.array([], pa.int64())))

    def numbers(self, columns: Sequence[pa.Array], rows: int) -> Ints | None:
        """The number of each row's key, from 0, by first occurrence; None where there are too many."""
        places = [part.places(column) for part, column in zip(self.parts, columns, strict=True)]
        code: Ints = (
            reduce(lambda code, place: (code << _BITS) | place, places)
            if places
            else np.zeros(rows, np.int64)
        )
        number = code if len(self.parts) == 1 else self.codes.places(pa.array(code))
        return None if any(each.are_too_many for each in (*self.parts, self.codes)) else number

    def __len__(self) -> int:
        return len(self.parts[0].values) if len(self.parts) == 1 else len(self.codes.values)

    @property
    def columns(self) -> list[pa.Array]:
        """The key columns, a row a key."""
        if len(self.parts) == 1:
            return [self.parts[0].values]
        code = self.codes.values.to_numpy()
        shifts = range(_BITS * (len(self.parts) - 1), -1, -_BITS)
        return [
            part.values.take(pa.array((code >> shift) & (MOST_VALUES - 1)))
            for part, shift in zip(self.parts, shifts, strict=True)
        ]


BUCKETS = 1024
_NULL = np.uint64(0x9E3779B97F4A7C15)
_SPARE = 1_000
_FEW = 10_000  # bytes of texts: hashed in a millisecond, without numba, whose import takes most of a second


def contiguous(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """The column in one piece. Numbers and instants that are in one piece already are not copied."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    if column.num_chunks == 1 and pa.types.is_primitive(column.type) and column.chunk(0).offset == 0:
        return column.chunk(0)
    return column.combine_chunks()


def key_codes(columns: Sequence[pa.Array], rows: int) -> Ints:
    """A code for each row, equal for equal keys and ordered as the keys are; all 0 without key columns."""
    if not columns:
        return np.zeros(rows, np.int64)
    codes, _ = _ranks(columns[0])
    for column in columns[1:]:
        own, count = _ranks(column)
        if len(codes) and (int(codes.max()) + 1) * count >= 2**62:
            codes = np.unique(codes, return_inverse=True)[1].astype(np.int64)
        codes = codes * count + own
    return codes


def codes_of(table: pa.Table, names: Iterable[str]) -> Ints:
    """The codes that `key_codes` gives, of columns of a table."""
    return key_codes([contiguous(table[name]) for name in names], len(table))


def _ranks(column: pa.Array) -> tuple[Ints, int]:
    """A number for each row in the order of the values, and how many numbers there can be."""
    if pa.types.is_integer(column.type) and not column.null_count and len(column):
        wide = column if pa.types.is_signed_integer(column.type) else column.cast(pa.int64())
        values = wide.to_numpy(zero_copy_only=False)
        low, high = int(values.min()), int(values.max())
        if high - low < 2**31 - 1:
            return np.subtract(values, low, dtype=np.int64), high - low + 1
    coded = column.dictionary_encode()
    rank = np.empty(len(coded.dictionary) + 1, np.int64)
    rank[pc.sort_indices(coded.dictionary).to_numpy()] = np.arange(len(rank) - 1)
    rank[-1] = len(rank) - 1
    return rank[coded.indices.fill_null(len(rank) - 1).to_numpy(zero_copy_only=False)], len(rank)


def numbered_keys(
    columns: Sequence[pa.Array], rows: int
) -> tuple[Ints, np.ndarray[tuple[int], np.dtype[np.int16]]]:
    """Keys as numbers in the order of (bucket, key): each row's number, and each number's bucket."""
    codes = key_codes(columns, rows)
    if not rows:
        return codes, np.empty(0, np.int16)
    if int(codes.max()) >= 4 * rows + _SPARE:
        codes = np.unique(codes, return_inverse=True)[1].astype(np.int64)
    head = np.full(int(codes.max()) + 1, -1)
    head[codes] = np.arange(rows)
    keys = np.flatnonzero(head >= 0)
    bucket = buckets([column.take(pa.array(head[keys])) for column in columns], len(keys))
    order = np.argsort(bucket, kind="stable")
    head[keys[order]] = np.arange(len(keys))
    return head[codes], bucket[order]


def buckets(columns: Sequence[pa.Array], rows: int) -> np.ndarray[tuple[int], np.dtype[np.int16]]:
    """The bucket of each row's key, 0 to 1023: a pure function of its value, the same on every machine."""
    mixed = np.zeros(rows, np.uint64)
    for column in columns:
        mixed = scattered(mixed * np.uint64(31) + _hashes(column))
    return (mixed % np.uint64(BUCKETS)).astype(np.int16)


def _hashes(column: pa.Array) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    coded = column.dictionary_encode()
    values = coded.dictionary
    if pa.types.is_integer(values.type) or pa.types.is_boolean(values.type):
        plain = values.cast(pa.int64()).to_numpy(zero_copy_only=False).view(np.uint64)
    elif pa.types.is_floating(values.type):
        plain = values.cast(pa.float64()).to_numpy(zero_copy_only=False).view(np.uint64)
    elif pa.types.is_timestamp(values.type):
        plain = values.view(pa.int64()).to_numpy(zero_copy_only=False).view(np.uint64)
    else:
        plain = _text_hashes(values if pa.types.is_binary(values.type) else values.cast(pa.string()))
    return np.append(scattered(plain), _NULL)[
        coded.indices.fill_null(len(plain)).to_numpy(zero_copy_only=False)
    ]


def _text_hashes(texts: pa.Array) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    _, ends, data = texts.buffers()
    bounds = (
        np.frombuffer(ends, np.int32)[texts.offset : texts.offset + len(texts) + 1]
        if ends
        else np.zeros(1, np.int32)
    )
    if bounds[-1] - bounds[0] <= _FEW:
        return np.array([_fnv1a(text) for text in texts.cast(pa.binary()).to_pylist()], np.uint64)
    from muntin.states.order_kernels import fnv1a

    return fnv1a(bounds, np.frombuffer(data, np.uint8))  # type: ignore[no-any-return]


def _fnv1a(text: bytes) -> int:
    """FNV-1a, 64 bits (Fowler, Noll, Vo)."""
    value = 0xCBF29CE484222325
    for byte in text:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def scattered(value: np.ndarray) -> np.ndarray:
    """The finalizer of splitmix64 (Steele, Lea, Flood 2014) over integers of 64 bits, as uint64."""
    value = value.view(np.uint64)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


def odd_floats(states: pa.Table, columns: Iterable[str]) -> np.ndarray:
    """Whether each row has -0.0 or NaN in a column: the least of 0.0 and -0.0 depends on the order."""
    odd = np.zeros(len(states), np.bool_)
    for name in columns:
        if pa.types.is_floating(states.schema.field(name).type):
            values = contiguous(states[name].cast(pa.float64())).fill_null(1.0).to_numpy(zero_copy_only=False)
            odd |= np.isnan(values) | ((values == 0) & np.signbit(values))
    return odd
