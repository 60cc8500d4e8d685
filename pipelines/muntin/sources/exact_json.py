"""JSON as it is written: numbers keep their text, and a value is of a SQL type only if JSON has it in that
kind.

JSON                    is of the types                                 and not of
7, 7.0, 1e2             BIGINT, DECIMAL(9,2), DOUBLE, VARCHAR ("1e2")   BOOLEAN, DATE
"7"                     VARCHAR, DATE, TIMESTAMP, UUID, ENUM, ...       BIGINT, DOUBLE
true                    BOOLEAN, VARCHAR                                BIGINT
{"a": 1, "a": 2}        JSON and VARCHAR have no value of it            STRUCT(a BIGINT): a name that comes
twice

What is left is a text that SQL casts to the type: whether 300 is a TINYINT, or "2024-13-01" a day.
DuckDB's reader of JSON lines makes doubles of numbers with a fraction before a type is given: `lost_number`.
"""

from __future__ import annotations

import json
import re
import struct
from contextlib import suppress
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

from muntin.sources.casts import INTEGERS, is_double
from muntin.sources.nested_types import element, map_types, members, plain_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muntin.sources.source import Used


_UNSURE = 16  # digits, with which two numbers may have one double
MAY_BE_LOST = (
    "|".join(rf"[0-9]{{{whole}}}\.[0-9]{{{_UNSURE - whole}}}" for whole in range(_UNSURE + 1))
    + rf"|[0-9]{{{_UNSURE}}}[eE]|[eE][-+]?[0-9]{{3}}"
)
"""A regular expression that finds the lines that may have such a number."""
_FRACTION = r"[0-9]+\.[0-9]+(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+"
NO_DOUBLE = "which JSON's reader rounds to a double; write it as a text, or say DOUBLE in types="


def may_have_lost(line: str) -> str:
    """SQL for whether a line has a number that a double is not, outside of texts or inside.

    >>> may_have_lost("line").count("regexp_matches(line, ")
    1
    """
    lost = f"NOT ({is_double('muntin_number')})"
    numbers = f"list_filter(regexp_extract_all({line}, '{_FRACTION}'), lambda muntin_number: {lost})"
    return f"CASE WHEN regexp_matches({line}, '{MAY_BE_LOST}') THEN len({numbers}) > 0 ELSE false END"


def lost_number(text: str, used: Used) -> tuple[str, str] | None:
    """The first number of a line that is no double, with the column that holds it; None: there is none.
    `used`: which columns count.

    >>> lost_number('{"x": 0.1234567890123456789, "y": 0.1}', lambda name: True)
    ('x', '0.1234567890123456789')
    """
    with suppress(ValueError, RecursionError):  # a bad line, which other code finds
        line = decoded(text)
        for name, value in line.items() if isinstance(line, dict) else ():
            for each in values_in(value) if used(name) else ():
                if (
                    isinstance(each, Number)
                    and not each.lstrip("-").isdigit()
                    and Decimal(each) != Decimal(repr(float(each)))
                ):
                    return name, str(each)
    return None


DEEPEST = 128
"""Values in each other, as deep as DuckDB's reader of JSON lines goes, from the line itself to what the
innermost brackets hold.
"""
TOO_DEEP = f"nested more than {DEEPEST} deep"
_MOST_DIGITS = 80
WHOLE = (*INTEGERS, "BIGNUM")
"""SQL types of whole numbers."""
_PARTS = re.compile(r'[][{}]|"(?:[^"\\]|\\.)*"|[^][{}",:\s]+', re.DOTALL)


class MisfitError(Exception):
    """JSON is not what it has to be; says why."""


class Number(str):
    """The text of a number."""

    __slots__ = ()


class Object(dict[str, Any]):
    """The members of an object; `twice` has the names that come more than once."""

    __slots__ = ("twice",)
    twice: frozenset[str]


def _object(pairs: list[tuple[str, Any]]) -> Object:
    json_object, names = Object(pairs), [name for name, _ in pairs]
    json_object.twice = (
        frozenset()
        if len(json_object) == len(names)
        else frozenset(name for name in json_object if names.count(name) > 1)
    )
    return json_object


class _Constant:
    """NaN or an infinity, which some writers take for JSON: no type has them, and in a column that is not
    read they do no harm.
    """

    def __init__(self, name: str) -> None:
        self.name = name


_DECODER = json.JSONDecoder(
    parse_int=Number, parse_float=Number, parse_constant=_Constant, object_pairs_hook=_object
)


def decoded(text: str) -> Any:  # noqa: ANN401 - any JSON
    """JSON with `Number` and `Object`; ValueError or RecursionError if Python cannot take it."""
    return _DECODER.decode(text)


def values_in(value: Any) -> Iterator[Any]:  # noqa: ANN401 - any JSON
    """A value, and the values inside of it."""
    yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from values_in(each)


def is_deep(text: str) -> bool:
    """Whether values lie in each other deeper than `DEEPEST`."""
    if text.count("[") + text.count("{") < DEEPEST:
        return False
    depth = deepest = 0
    for part in _PARTS.findall(text):
        deepest = max(deepest, depth + (part not in ("]", "}")))
        depth += (part in ("[", "{")) - (part in ("]", "}"))
    return deepest > DEEPEST


def parsed(text: str) -> Object:
    """The object that a text is."""
    if is_deep(text):
        raise MisfitError(f"it is {TOO_DEEP}")
    try:
        json_value = decoded(text)
    except ValueError:
        raise MisfitError("it cannot be parsed") from None
    if not isinstance(json_value, Object):
        raise MisfitError(f"the value is no object but {_what(json_value)}")
    return json_value


def member(of: Any, name: str, kind: str, *, strict: bool) -> Any:  # noqa: ANN401 - any JSON, and texts in lists, dicts and pairs
    """The member of an object in a type: its text; of nested types the same with texts inside; None where it
    is null or not there.

    If `strict`, only numbers are numbers; else texts may be of any type, as in what was JSON never.
    """
    if name in of.twice:
        raise MisfitError("it comes twice")
    return _in_kind(of.get(name), kind, strict)


def _in_kind(value: Any, kind: str, strict: bool) -> Any:  # noqa: ANN401, FBT001 - as above
    if value is None:
        return None
    if inner := element(kind):
        return [_in_kind(each, inner, strict) for each in _needed(value, list)]
    if kind.startswith("STRUCT("):
        parts = [(plain_name(name), of) for name, of in members(kind)]
        json_object = _needed(value, Object)
        return {name: _inside(json_object, name, of, strict) for name, of in parts}
    if kind.startswith("MAP("):
        of = map_types(kind)[1]
        return [(_encodable(name), _inside(value, name, of, strict)) for name in _needed(value, Object)]
    return _encodable(_text(value, kind, strict))


def _inside(of: Object, name: str, kind: str, strict: bool) -> Any:  # noqa: ANN401, FBT001 - as above
    try:
        return member(of, name, kind, strict=strict)
    except MisfitError as wrong:
        raise MisfitError(f"{name}: {wrong}") from None


def _text(value: Any, kind: str, strict: bool) -> str:  # noqa: ANN401, FBT001 - as above
    if isinstance(value, _Constant) and not strict and kind in ("FLOAT", "DOUBLE", "VARCHAR"):
        return value.name  # which Avro and Protobuf have
    if kind in ("VARCHAR", "JSON"):
        return value if isinstance(value, str) and kind == "VARCHAR" else _written(value)
    if isinstance(value, Number):
        if kind in WHOLE or kind.startswith("DECIMAL"):
            return _plain(value, whole=kind in WHOLE)
        if kind in ("FLOAT", "DOUBLE"):
            return _near(value, "f" if kind == "FLOAT" else "d")
    is_number = kind in (*WHOLE, "FLOAT", "DOUBLE") or kind.startswith("DECIMAL")
    is_text = type(value) is str
    if kind == "BOOLEAN" and isinstance(value, bool):
        return _written(value)
    if is_text and (not strict or not (is_number or kind == "BOOLEAN")):
        return str(value)
    raise MisfitError(f"it is {_what(value)}")


def _plain(number: Number, *, whole: bool) -> str:
    """A number without a power of ten."""
    exact = Decimal(number)
    if abs(exact.adjusted()) > _MOST_DIGITS and exact:
        raise MisfitError("it is out of range")
    if whole and exact != exact.to_integral_value():
        raise MisfitError("it has a fraction")
    return f"{exact.to_integral_value() if whole else exact:f}"


def _near(number: Number, form: Literal["f", "d"]) -> str:
    """A number that has a double, or a float, near to it."""
    value = float(number)
    try:
        (value,) = struct.unpack(form, struct.pack(form, value))
    except OverflowError:
        value = float("inf")
    if abs(value) == float("inf") or (value == 0 and Decimal(number)):
        raise MisfitError("it is out of range")
    return str(number)


def _needed(value: Any, of: type) -> Any:  # noqa: ANN401 - as above
    if not isinstance(value, of):
        raise MisfitError(f"it is {_what(value)}")
    return value


def _what(value: Any) -> str:  # noqa: ANN401 - as above
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case Number():
            return "a number"
        case str():
            return "a text"
        case _Constant():
            return value.name
    return "a list" if isinstance(value, list) else "an object"


def _written(value: Any) -> str:  # noqa: ANN401 - as above
    """JSON as a text without blanks; numbers as they are written."""
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, list):
        return f"[{','.join(map(_written, value))}]"
    if isinstance(value, Object):
        if value.twice:
            raise MisfitError(f"{min(value.twice)} comes twice in it")
        return "{" + ",".join(f"{_written(name)}:{_written(each)}" for name, each in value.items()) + "}"
    if isinstance(value, _Constant):
        raise MisfitError(f"{value.name} is in it")
    return json.dumps(value, ensure_ascii=False)


def _encodable(text: str) -> str:
    """A text that UTF-8 has: JSON may name halves of letters."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise MisfitError("it has half of a surrogate pair, which is no letter") from None
    return text
