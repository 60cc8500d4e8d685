"""Messages become rows: the fields of their values in the types that the definition says, and what is no row, with the reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa

from muntin.sources.casts import in_type
from muntin.sources.nested_types import members
from muntin.sources.new_session import connect
from muntin.sources.topics.texts import texts, told

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy as np

    from muntin.sources.kafka import KafkaSource

_OWN = ("kafka_partition", "kafka_offset", "kafka_timestamp")


@dataclass(frozen=True, slots=True)
class Odd:
    """A message that is no row.

    Attributes:
        number: in its range, from 0.
        offset: in its partition.
        reason: why.
        column: that it is about; None: the whole message.
        text: the value as it is; a byte that is no UTF-8 by its number.
    """

    number: int
    offset: int
    reason: str
    column: str | None
    text: str | None


@dataclass(frozen=True, slots=True)
class Decoded:
    """The rows of a range.

    Attributes:
        rows: the rows that can be read: the fields, `kafka_key`, `kafka_partition`, `kafka_offset` and `kafka_timestamp`.
        number: of each of these rows in its range, from 0.
        offset: of each of these rows.
        odd: the messages that are no rows.
    """

    rows: pa.Table
    number: np.ndarray
    offset: np.ndarray
    odd: tuple[Odd, ...]


def decoded(source: KafkaSource, messages: pa.Table) -> Decoded:
    """The rows of messages.

    Args:
        source: says what values and keys are.
        messages: as `MESSAGES` has them, in order.
    """
    faults: dict[int, tuple[str, str | None]] = {}
    table = messages.append_column("muntin_number", pa.array(range(len(messages)), pa.int64()))
    if source.key == "text":
        keys, wrong = texts(table["kafka_key"])
        faults |= {number: (f"the key: {why}", "kafka_key") for number, why in wrong.items()}
        table = table.set_column(table.schema.get_field_index("kafka_key"), "kafka_key", keys)
    if source.value != "raw":
        values, wrong = told(source, table["value"])
        faults |= {number: (f"no {source.value}: {why}", None) for number, why in wrong.items()}
        table = table.set_column(table.schema.get_field_index("value"), "value", values)
    if source.fields:
        table, more = _with_fields(source.fields, table, [*faults])
        faults = more | faults
    else:
        table = _good(table.rename_columns({"value": "kafka_value"}), [*faults])
    odd = tuple(_odd(messages, number, *why) for number, why in sorted(faults.items()))
    number = table["muntin_number"].to_numpy()
    return Decoded(table.drop_columns(["muntin_number"]), number, table["kafka_offset"].to_numpy(), odd)


def _odd(messages: pa.Table, number: int, why: str, column: str | None) -> Odd:
    value = messages["value"][number].as_py()
    text = None if value is None else value.decode(errors="backslashreplace")
    return Odd(number, messages["kafka_offset"][number].as_py(), why, column, text)


def _good(table: pa.Table, bad: list[int]) -> pa.Table:
    if not bad:
        return table
    keep = [True] * len(table)
    for number in bad:
        keep[number] = False
    return table.filter(pa.array(keep))


def _with_fields(fields: Mapping[str, str], table: pa.Table, bad: list[int]) -> tuple[pa.Table, dict[int, tuple[str, str | None]]]:
    """The rows with their fields as columns; number of a row that has none -> reason and column."""
    with connect() as session:
        fields = _spelled(session, fields)
        session.register("muntin_given", _good(table, bad))
        session.execute("CREATE TEMP TABLE muntin_texts AS FROM muntin_given")
        faults: dict[int, tuple[str, str | None]] = {
            number: (f"no JSON: {why}", None) for number, why in session.execute(_NO_OBJECT).fetchall()
        }
        if faults:
            session.execute(f"DELETE FROM muntin_texts WHERE muntin_number IN ({', '.join(map(str, faults))})")
        try:
            return session.sql(_typed(fields)).to_arrow_table(), faults
        except duckdb.Error:
            faults |= _miscast(session.sql("FROM muntin_texts").to_arrow_table(), fields)
        session.execute(f"DELETE FROM muntin_texts WHERE muntin_number IN ({', '.join(map(str, faults))})")
        return session.sql(_typed(fields)).to_arrow_table(), faults


_NO_OBJECT = """
    SELECT muntin_number, CASE WHEN json_valid(value) THEN 'the value is no object but ' || json_type(value) ELSE 'it cannot be parsed' END
    FROM muntin_texts WHERE value IS NOT NULL AND CASE WHEN json_valid(value) THEN json_type(value) <> 'OBJECT' ELSE true END
"""


def _typed(fields: Mapping[str, str]) -> str:
    """A query of the rows with the fields: an object that lacks a field has null there."""
    own = ", ".join(("kafka_key", *_OWN, "muntin_number"))
    chosen = ", ".join(f"{typed(f'muntin_parts[{at}]', kind)} AS {_quoted(name)}" for at, (name, kind) in enumerate(fields.items(), 1))
    return f"SELECT {chosen}, {own} FROM (SELECT *, {_parts(fields)} AS muntin_parts FROM muntin_texts) ORDER BY muntin_number"


def _parts(fields: Iterable[str]) -> str:
    """SQL for the list of the fields of a value, as JSON. https://www.rfc-editor.org/rfc/rfc6901 says how a name is a path."""
    return f"json_extract(value, [{', '.join(map(_path, fields))}])"


def _path(name: str) -> str:
    return "'/" + name.replace("~", "~0").replace("/", "~1").replace("'", "''") + "'"


def typed(value: str, kind: str) -> str:
    """SQL for JSON in a type, as DuckDB spells it; an error where it is of another type. A struct may lack members, and have more of them.

    >>> typed("x", "DOUBLE")
    "(x->>'$')::DOUBLE"
    """
    if kind.endswith("[]"):
        each = typed("muntin_each", kind[:-2])
        return _if(value, "ARRAY", kind, f"list_transform(from_json({value}, '[\"JSON\"]'), lambda muntin_each: {each})")
    if kind.startswith("STRUCT("):
        parts = [(name, typed(_part(value, name), inner)) for name, inner in members(kind)]
        return _if(value, "OBJECT", kind, "struct_pack(" + ", ".join(f"{_quoted(name)} := {part}" for name, part in parts) + ")")
    if kind == "JSON":
        return f"nullif({value}, 'null'::JSON)"
    return in_type(f"{value}->>'$'", kind)


def _part(value: str, name: str) -> str:
    return f"json_extract({value}, {_path(name)})"


def _if(value: str, needed: str, kind: str, then: str) -> str:
    """SQL for what becomes of JSON of a type; null of null, and an error of another type."""
    told, other = f"coalesce(json_type({value}), 'NULL')", f"({value})::VARCHAR::{kind}"  # fails; TRY goes with no error() of our own
    return f"CASE WHEN {told} = 'NULL' THEN NULL WHEN {told} = '{needed}' THEN {then} ELSE {other} END"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _miscast(messages: pa.Table, fields: Mapping[str, str]) -> dict[int, tuple[str, str | None]]:
    """The rows with a field of another type; for each row the first such field in the order of the definition."""
    out: dict[int, tuple[str, str | None]] = {}
    with connect(in_place=True) as session:
        session.register("muntin_texts", messages)
        for name, kind in fields.items():
            rows = f"SELECT muntin_number, {_parts([name])}[1] AS muntin_part FROM muntin_texts"
            wrong = f"coalesce(json_type(muntin_part), 'NULL') <> 'NULL' AND TRY({typed('muntin_part', kind)}) IS NULL"
            for (number,) in session.execute(f"SELECT muntin_number FROM ({rows}) WHERE {wrong}").fetchall():
                out.setdefault(number, (f"{name} cannot be read as {kind}", name))
    return out


def _spelled(session: duckdb.DuckDBPyConnection, fields: Mapping[str, str]) -> dict[str, str]:
    """The types as DuckDB spells them."""
    told = session.execute("DESCRIBE SELECT " + ", ".join(f"NULL::{kind} AS {_quoted(name)}" for name, kind in fields.items()))
    return {name: kind for name, kind, *_ in told.fetchall()}
