"""Types of states: the types of SQL, and the types that Delta can store; every batch has the same types.

Two columns have the common type to which SQL widens both without losing a value: int -> long,
float -> double, decimal(10,2) -> decimal(12,2); of an integer and a double a double, of an integer and a
decimal a decimal.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pyarrow as pa

from muntin.errors import SourceError
from muntin.sources.casts import SIGNED, widened
from muntin.sources.nested_types import element, is_nested, map_types, members, of_leaves, struct
from muntin.sources.reading.scan import aliased, quoted
from muntin.sources.sessions.duckdb_session import described
from muntin.states.derived_columns import storable_type

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from duckdb import DuckDBPyConnection

    from muntin.sources.source import Columns


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
    """The struct with the members of both; None if two of a name contradict."""
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


# What DuckDB gives -> what every reader of Parquet and Delta understands.
_STORED = {
    "HUGEINT": "BIGINT",
    "UHUGEINT": "BIGINT",
    "UBIGINT": "DECIMAL(20,0)",
    "UINTEGER": "BIGINT",
    "USMALLINT": "INTEGER",
    "UTINYINT": "SMALLINT",
    "TIMESTAMP": "TIMESTAMP WITH TIME ZONE",
    "TIMESTAMP_S": "TIMESTAMP WITH TIME ZONE",
    "TIMESTAMP_MS": "TIMESTAMP WITH TIME ZONE",
    "TIMESTAMP_NS": "TIMESTAMP WITH TIME ZONE",
    "TIME": "VARCHAR",
    "TIME_NS": "VARCHAR",
    "TIME WITH TIME ZONE": "VARCHAR",
    "INTERVAL": "VARCHAR",
    "UUID": "VARCHAR",
    "JSON": "VARCHAR",
    '"NULL"': UNKNOWN,
    UNKNOWN: "DECIMAL(2,0)",
}


def stored_type(kind: str) -> str:
    """The SQL type a column is stored as.

    >>> stored_type("STRUCT(n UINTEGER, moments TIMESTAMP[])[]"), stored_type("MAP(VARCHAR, TIME)")
    ('STRUCT(n BIGINT, moments TIMESTAMP WITH TIME ZONE[])[]', 'MAP(VARCHAR, VARCHAR)')
    """
    if inner := element(kind):
        return f"{stored_type(inner)}[]"
    if kind.startswith(("STRUCT(", "MAP(")):
        return of_leaves(kind, stored_type)
    return "VARCHAR" if kind.startswith("ENUM") else _STORED.get(kind, kind)


NEEDS = {
    "number": 'a number; cast it, as "x::DOUBLE"',
    "order": (
        'values that have an order; ask for a text of them, as "x::VARCHAR", of intervals for seconds, as'
        ' "epoch(x)"'
    ),
    "list": "a list",
    "difference": 'a number, a date or an instant; cast it, as "x::DOUBLE"',
    "instant": 'an instant; cast it, as "x::TIMESTAMPTZ"',
    "condition": "a condition that is true or false",
    "duration": 'a number of seconds, an INTERVAL, or a text of one, as "10 minutes"',
}
_NUMBERS = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL\(.*\)|\"NULL\"")


def meets(kind: str, need: str) -> bool:
    """Whether a SQL type is what an aggregate needs.

    >>> meets("DECIMAL(9,2)", "number"), meets("VARCHAR", "number"), meets("BIGINT[]", "order")
    (True, False, False)
    """
    number = _NUMBERS.fullmatch(kind) is not None
    if need == "order":
        return kind != "INTERVAL" and not is_nested(kind)
    if need == "list":
        return kind.endswith("]")
    if need == "instant":
        return kind.startswith(("TIMESTAMP", "DATE", "VARCHAR", '"NULL"')) and not is_nested(kind)
    if need == "duration":
        return number or kind in ("INTERVAL", "VARCHAR")
    if need == "difference":
        return number or kind == "DATE" or kind.startswith("TIMESTAMP")
    return number or (need == "condition" and kind == "BOOLEAN")


def targets_of(
    natural: Columns,
    targets: Columns,
    paths: Sequence[str],
    *,
    hashed: Collection[str] = (),
) -> dict[str, str]:
    """Column -> SQL type to cast to: the type of a batch's states in the state, or a wider type that holds
    both.

    `hashed`: the columns whose fields tell values apart by a hash or a text, which types of another kind do
    not share. A column that no type holds both ways is refused.
    """
    out = {}
    for name, kind in natural.items():
        earlier_type = targets.get(name, stored_type(kind))
        wide = earlier_type if _fits(kind, earlier_type) else common_type(earlier_type, stored_type(kind))
        if wide is None or (name in hashed and not alike(stored_type(kind), earlier_type)):
            raise SourceError(
                f"{', '.join(paths)}: {name} is {kind} here and {earlier_type} in earlier batches; "
                f'cast in the definition, as agg.sum("x::DOUBLE"), or say the column\'s type in'
                f' sources.files(..., types={{"x": "DOUBLE"}})'
            )
        out[name] = wide
    return out


def _fits(kind: str, target: str) -> bool:
    if kind in (target, '"NULL"') or stored_type(kind) == target or target == UNKNOWN:
        return target != UNKNOWN or stored_type(kind) == UNKNOWN
    inner = (element(kind), element(target))
    if None not in inner or (kind.startswith("MAP(") and target.startswith("MAP(")):
        parts = [inner] if None not in inner else zip(map_types(kind), map_types(target), strict=True)
        return all(_fits(str(one), str(other)) for one, other in parts)
    if kind.startswith("STRUCT(") and target.startswith("STRUCT("):
        here, there = members(kind), dict(members(target))
        return [name for name, _ in here] == list(there) and all(
            _fits(member, there[name]) for name, member in here
        )
    if kind in SIGNED and target in SIGNED:
        return SIGNED.index(kind) <= SIGNED.index(target)
    if kind == "FLOAT":
        return target == "DOUBLE"
    return kind in ("HUGEINT", *SIGNED) and (target in ("BIGINT", "DOUBLE") or target.startswith("DECIMAL"))


def stored(
    session: DuckDBPyConnection,
    query: str,
    kinds: Columns | None = None,
    natural: Columns | None = None,
) -> pa.Table:
    """The result of a query, in the types that states are stored with.

    `kinds`: column -> SQL type, where they are settled; `natural`: column -> the SQL type that the query
    gives, where that may be narrower. A `duckdb.ConversionException` where a value does not go into the wider
    type as it is.
    """
    kinds = kinds or {name: stored_type(kind) for name, kind in described(session, query).items()}
    before = {**kinds, **(natural or {})}
    chosen = {name: widened(quoted(name), before[name], kind) for name, kind in kinds.items()}
    return storable(session.sql(f"SELECT {aliased(chosen)} FROM ({query})").to_arrow_table())


def storable(table: pa.Table) -> pa.Table:
    """The table with Arrow types that Delta has: plain strings, timestamps in UTC microseconds."""
    return table.cast(pa.schema([field.with_type(storable_type(field.type)) for field in table.schema]))
