"""Values of many types as exact plain values, for a comparison of what was written with what came out, whatever the types of both."""

import re
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from math import isfinite
from typing import Any

import pyarrow as pa

_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_CLOCK = re.compile(r"\d\d:\d\d:\d\d(\.\d+)?")


def exact(column: pa.Array | pa.ChunkedArray) -> list[Any]:
    """The values of a column: numbers as fractions, instants as seconds since 1970, times of day as texts. 0.0 and -0.0 are one."""
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    kind = column.type
    if pa.types.is_dictionary(kind):
        return exact(column.dictionary_decode())
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        return [None if one is None else Fraction(one, _PER_SECOND[kind.unit]) for one in column.cast(pa.int64()).to_pylist()]
    if pa.types.is_date(kind):
        return [None if one is None else Fraction(one * 86_400) for one in column.cast(pa.date32()).cast(pa.int32()).to_pylist()]
    if pa.types.is_time(kind):
        whole = column.cast(pa.int32() if kind.bit_width == 32 else pa.int64()).to_pylist()
        return [None if one is None else _clock(Fraction(one, _PER_SECOND[kind.unit])) for one in whole]
    return [_plain(one) for one in column.to_pylist()]


def _clock(seconds: Fraction) -> str:
    whole, rest = divmod(seconds, 1)
    text = f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}.{int(rest * 10**9):09}"
    return text.rstrip("0").rstrip(".")


def _plain(value: Any) -> Any:
    match value:
        case bool() | None | bytes():
            return value
        case float() if not isfinite(value):
            return str(value)
        case str() if _CLOCK.fullmatch(value):
            return value.rstrip("0").rstrip(".") if "." in value else value
        case str():
            return value
        case list() | tuple():
            return tuple(map(_plain, value))
        case dict():
            return tuple((name, _plain(each)) for name, each in value.items() if each is not None)
    return Fraction(value)


def differences(written: list[Any], keys: list[Any], counts: list[int], refused: int) -> Iterator[str]:
    """What is wrong with windows by key: a key that nobody wrote, a count that is not its own, rows that are nowhere."""
    events, windows = Counter(written), Counter[Any]()
    for key, count in zip(keys, counts, strict=True):
        windows[key] += count
    yield from (f"{key!r}: {count} of {events[key]} events" for key, count in windows.items() if count != events[key])
    if sum(counts) + refused != len(written):
        yield f"{len(written)} rows were written, {sum(counts)} are in windows and {refused} in the quarantine"
