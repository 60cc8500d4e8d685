"""The common type of two columns: what SQL widens both to without losing a value.

int -> long, float -> double, decimal(10,2) -> decimal(12,2); of an integer and a double a double, of an
integer and a decimal a decimal.
"""

from __future__ import annotations

import re

from muntin.sources.casts import SIGNED
from muntin.sources.nested_types import map_types, members, struct

_DIGITS = dict(zip(SIGNED, (3, 5, 10, 19), strict=True))
"""Integer type -> digits of its largest value."""
_FLOATS = ("FLOAT", "DOUBLE")
_DECIMAL = re.compile(r"DECIMAL\((\d+), ?(\d+)\)")
_NULL = '"NULL"'
UNKNOWN = "DECIMAL(1,0)"
"""The type in which states have a column that has had no value yet; any type is wider.

`stored_type` gives it to no other column.
"""
_NONE = (_NULL, UNKNOWN)
_MOST_DIGITS = 38


def common_type(one: str, other: str) -> str | None:
    """The narrowest type that holds the values of two SQL types, as states are stored with; None if these
    contradict.

    Of decimals of 38 digits, and of a long together with a double, the values must be read, too.

    >>> common_type("INTEGER", "BIGINT"), common_type("FLOAT", "DOUBLE"), common_type("DECIMAL(10,2)",
    ...     "DECIMAL(12,2)")
    ('BIGINT', 'DOUBLE', 'DECIMAL(12,2)')
    >>> (common_type("BIGINT", "DOUBLE"), common_type("BIGINT", "DECIMAL(12,2)"),
    ... common_type("DECIMAL(12,2)", "DOUBLE"))
    ('DOUBLE', 'DECIMAL(21,2)', None)
    >>> common_type("STRUCT(a INTEGER)[]", "STRUCT(a BIGINT, b DATE)[]"), common_type("INTEGER", "VARCHAR")
    ('STRUCT(a BIGINT, b DATE)[]', None)
    """
    if other in (one, *_NONE):
        return one
    if one in _NONE:
        return other
    if one.endswith("[]") and other.endswith("[]"):
        inner = common_type(one[:-2], other[:-2])
        return None if inner is None else f"{inner}[]"
    if one.startswith("STRUCT(") and other.startswith("STRUCT("):
        return _of_structs(members(one), members(other))
    if one.startswith("MAP(") and other.startswith("MAP("):
        parts = [common_type(*pair) for pair in zip(map_types(one), map_types(other), strict=True)]
        return None if None in parts else f"MAP({parts[0]}, {parts[1]})"
    return _of_numbers(one, other)


def alike(one: str, other: str) -> bool:
    """Whether equal values of two types that have a common one are written with the same text, and hashed
    alike.

    >>> alike("INTEGER", "BIGINT"), alike("INTEGER[]", "DOUBLE[]"), alike("DECIMAL(10,2)", "DECIMAL(12,4)")
    (True, False, False)
    """
    if one in _NONE or other in _NONE:
        return True
    return _as_written(one) == _as_written(other)


def _as_written(kind: str) -> str:
    plain = re.sub(r"\b(TINYINT|SMALLINT|INTEGER)\b", "BIGINT", kind)
    return _DECIMAL.sub(r"DECIMAL(38,\2)", re.sub(r"\bFLOAT\b", "DOUBLE", plain))


def _of_structs(one: list[tuple[str, str]], other: list[tuple[str, str]]) -> str | None:
    """The struct with the members of both, as a table has the columns of its files; None if two of a name
    contradict.
    """
    here, there = dict(one), dict(other)
    common_kinds = {name: common_type(here.get(name, _NULL), there.get(name, _NULL)) for name in here | there}
    typed_members = [(name, kind) for name, kind in common_kinds.items() if kind is not None]
    return (
        struct(typed_members)
        if len(typed_members) == len(common_kinds)
        and len({name.lower() for name in common_kinds}) == len(common_kinds)
        else None
    )


def _of_numbers(one: str, other: str) -> str | None:
    if one in _DIGITS and other in _DIGITS:
        return max(one, other, key=_DIGITS.__getitem__)
    if {one, other} <= {*_DIGITS, *_FLOATS}:
        return "DOUBLE"
    sizes = [_digits(kind) for kind in (one, other)]
    if None in sizes:
        return None
    whole, scale = (max(size[at] for size in sizes if size) for at in (0, 1))
    # a value that has more digits is an error when it is cast
    return f"DECIMAL({min(whole + scale, _MOST_DIGITS)},{scale})"


def _digits(kind: str) -> tuple[int, int] | None:
    """How many digits a type has before and behind the point; None if that is not exact."""
    if kind in _DIGITS:
        return _DIGITS[kind], 0
    match = _DECIMAL.fullmatch(kind)
    return (int(match[1]) - int(match[2]), int(match[2])) if match else None
