"""Keys as integers: codes in the keys' own order, and buckets, which are the same on every machine and for
ever.

Null is a key as any other and sorts last.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.states.frames import Ints

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
