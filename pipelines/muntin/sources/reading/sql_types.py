"""Types of states: the types of SQL, the types that Delta can store; every batch has the same types."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pyarrow as pa

from muntin.errors import SourceError
from muntin.sources.casts import SIGNED, widened
from muntin.sources.common_types import UNKNOWN, alike, common_type
from muntin.sources.nested_types import element, is_nested, map_types, members, of_leaves
from muntin.sources.reading.scan import aliased, quoted
from muntin.sources.sessions.duckdb_session import described
from muntin.states.derived_columns import storable_type

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from duckdb import DuckDBPyConnection

    from muntin.sources.source import Columns

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
