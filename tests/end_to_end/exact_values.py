"""Values of many types as exact plain values, for a comparison of what was written with what came out, whatever the types of both."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import Any
from uuid import UUID

import pyarrow as pa

_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_CLOCK = re.compile(r"\d\d:\d\d:\d\d(\.\d+)?")
_EPOCH, _MICRO = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)


def exact(column: pa.Array | pa.ChunkedArray) -> list[Any]:
    """The values of a column: numbers as fractions, instants as seconds since 1970, times of day as texts. 0.0 and -0.0 are one.

    Lists are tuples; structs and maps are tuples of pairs, of a struct without the members that are null.
    """
    return [_exact(each) for each in column]


def _exact(one: pa.Scalar) -> Any:
    kind = one.type
    if not one.is_valid:
        return None
    if isinstance(one, pa.ExtensionScalar):
        return str(UUID(bytes=one.value.as_py())) if isinstance(kind, pa.UuidType) else _exact(one.value)
    if pa.types.is_dictionary(kind):
        return _exact(one.dictionary[one.index.as_py()])
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        return Fraction(one.value, _PER_SECOND[kind.unit])
    if pa.types.is_date(kind):
        return Fraction(one.value * (86_400 if kind == pa.date32() else 1), 1 if kind == pa.date32() else 1000)
    if pa.types.is_time(kind):
        return _clock(Fraction(one.value, _PER_SECOND[kind.unit]))
    if pa.types.is_map(kind):
        return tuple((_exact(each["key"]), _exact(each["value"])) for each in one.values)
    if pa.types.is_struct(kind):
        return tuple((field.name, value) for at, field in enumerate(kind) if (value := _exact(one[at])) is not None)
    if kind.num_fields:
        return tuple(map(_exact, one.values))
    return _plain(one.as_py())


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
        case str():
            return value.rstrip("0").rstrip(".") if _CLOCK.fullmatch(value) and "." in value else value
    return Fraction(value)


def says(raw: Any, value: Any) -> bool:
    """Whether an exact value is what a cell says. `raw`: of CSV its text, of JSON what `raw_json` gives."""
    match raw, value:
        case None, _:
            return value is None
        case bool(), _:
            return value in (raw, str(raw).lower())
        case list(), tuple():
            return len(raw) == len(value) and all(map(says, raw, value))
        case dict(), tuple():
            found = dict(value)
            return found.keys() <= raw.keys() and all(says(each, found.get(name)) for name, each in raw.items())
        case ((list() | dict()), str()):
            return bool(raw_json(value) == raw)
        case str(), str():
            return value in (raw, _plain(raw), json.dumps(raw)) or (_number(raw) is not None and _number(raw) == _number(value))
        case str(), bool():
            return raw.lower() == str(value).lower()
        case str(), Fraction():
            return value in (_number(raw), _instant(raw)) or _is_shortest(raw, value)
    return False


def raw_json(line: str) -> Any:
    """JSON with the texts of its numbers."""
    return json.loads(line, parse_float=str, parse_int=str, parse_constant=str)


def _number(text: str) -> Fraction | str | None:
    try:
        found = Decimal(text)
    except ArithmeticError:
        return None
    return Fraction(found) if found.is_finite() else str(found)


def _is_shortest(text: str, value: Fraction) -> bool:
    """Whether a value is the double that a text writes with the fewest digits."""
    return isinstance(_number(text), Fraction) and Fraction(float(text)) == value and Decimal(repr(float(text))) == Decimal(text)


def _instant(text: str) -> Fraction | None:
    """The instant of a text, to the last digit; without an offset in UTC."""
    found = re.fullmatch(r"([^.]+?)(?:\.(\d+))?(Z|[-+]\d\d:?\d\d|[-+]\d\d)?", text)
    if found is None:
        return None
    try:
        whole = datetime.fromisoformat(f"{found[1]}{found[3] or ''}")
    except ValueError:
        return None
    seconds = Fraction(((whole if whole.tzinfo else whole.replace(tzinfo=UTC)) - _EPOCH) // _MICRO, 10**6)
    return seconds + Fraction(f"0.{found[2] or 0}")


def differences(written: list[Any], keys: list[Any], counts: list[int], refused: int) -> Iterator[str]:
    """What is wrong with windows by key: a key that nobody wrote, a count that is not its own, rows that are nowhere."""
    events, windows = Counter(written), Counter[Any]()
    for key, count in zip(keys, counts, strict=True):
        windows[key] += count
    yield from (f"{key!r}: {count} of {events[key]} events" for key, count in windows.items() if count != events[key])
    if sum(counts) + refused != len(written):
        yield f"{len(written)} rows were written, {sum(counts)} are in windows and {refused} in the quarantine"
