"""The fields of JSON in the types that a definition says: as they are written, or a reason.

DuckDB reads what is plain: whole numbers, texts, true and false, and numbers with so few digits that a double
is what was read. Whatever it may read as something else, or as more than JSON has, `exact_json` reads:
numbers of many digits, lists and objects, names that come twice.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache, partial
from typing import Any

import duckdb
import pyarrow as pa

from muntin.errors import SourceError
from muntin.extensions.kafka.source import KafkaSource
from muntin.sources.casts import in_type
from muntin.sources.exact_json import DEEPEST, MAY_BE_LOST, WHOLE, MisfitError, member, parsed
from muntin.sources.nested_types import element, inside, is_nested, map_types, members, of_leaves, plain_name
from muntin.sources.new_session import connect
from muntin.sources.reading.scan import literal, quoted
from muntin.sources.sessions.duckdb_session import closed_session

Faults = dict[int, tuple[str, str | None]]
"""Number of a message -> why it is no row, and the column that it is about."""
_OWN = ("kafka_key", "kafka_partition", "kafka_offset", "kafka_timestamp", "muntin_number")


def with_fields(source: KafkaSource, table: pa.Table) -> tuple[pa.Table, Faults]:
    """The rows with their fields as columns, and what is no row. `table`: messages with texts of JSON as
    `value`, and `muntin_number`.

    Only of JSON are numbers never texts, as `strict` of `exact_json.member` says.
    """
    strict, cut = source.is_json, (source.event_time, source.arrival_time)
    kinds, session = spelled(source.fields), closed_session()  # to open another takes longer than the rest
    try:
        session.register("muntin_given", table)
        session.execute(f"CREATE OR REPLACE TEMP TABLE muntin_read AS {_read(kinds, strict=strict)}")
        odd = session.sql(
            "SELECT muntin_number, value FROM muntin_read WHERE NOT muntin_plain"
        ).to_arrow_table()
        exact, faults = _exactly(odd, kinds, strict=strict)
        session.register("muntin_exact", exact)
        own, columns = ", ".join(_OWN), ", ".join(f"muntin_field_{at}" for at in range(len(kinds)))
        texts = (
            f"SELECT {own}, {columns} FROM muntin_read WHERE muntin_plain UNION ALL SELECT {own}, {columns}"
            f" FROM (SELECT {own} FROM muntin_read) JOIN muntin_exact USING (muntin_number)"
        )
        try:
            return session.sql(_typed(kinds, texts, cut)).to_arrow_table(), faults
        except duckdb.Error:
            more = _miscast(session.sql(texts).to_arrow_table(), kinds, cut)
        rest = f"FROM ({texts}) WHERE muntin_number NOT IN ({', '.join(map(str, more))})"
        return session.sql(_typed(kinds, rest, cut)).to_arrow_table(), faults | more
    finally:  # it lives on, and messages may be large
        session.execute("DROP TABLE IF EXISTS muntin_read")
        for name in ("muntin_given", "muntin_exact"):
            session.unregister(name)


def _read(kinds: Mapping[str, str], *, strict: bool) -> str:
    """A query of the messages with the texts of their fields, `muntin_field_0` and so on, and whether they
    are plain: so read exactly.
    """
    deep = f"strlen(value) - strlen(replace(replace(value, '[', ''), '{{', '')) >= {DEEPEST}"
    odd = f"NOT json_valid(value) OR NOT starts_with(ltrim(value, ' \t\n\r'), '{{') OR {deep}"
    # of which doubles may have lost digits
    if any("DOUBLE" in _plain_kinds(kind) for kind in kinds.values()):
        odd += f" OR regexp_matches(value, '{MAY_BE_LOST}')"
    rows_with_json = f"SELECT *, CASE WHEN NOT ({odd}) THEN value END AS muntin_json FROM muntin_given"
    paths, names = ", ".join(map(_path, kinds)), ", ".join(map(literal, kinds))
    kinds_and_parts = (
        f"json_type(muntin_json, [{paths}]) AS muntin_kinds, json_extract_string(muntin_json, [{paths}]) AS"
        " muntin_parts"
    )
    once = (
        f"len(list_filter(json_keys(muntin_json), lambda muntin_name: muntin_name IN ({names}))) ="
        " list_count(muntin_kinds)"
    )
    at = dict(enumerate(kinds.values(), 1))
    texts = ", ".join(_text(number, kind) for number, kind in at.items())
    plain = " AND ".join([once, *(_fits(number, kind, strict=strict) for number, kind in at.items())])
    return (
        f"SELECT {', '.join(_OWN)}, value, {texts}, value IS NULL OR coalesce({plain}, false) AS muntin_plain"
        f" FROM (SELECT *, {kinds_and_parts} FROM ({rows_with_json}))"
    )


def _path(name: str) -> str:
    """The path of a member. https://www.rfc-editor.org/rfc/rfc6901 says how a name is a path."""
    return literal("/" + name.replace("~", "~0").replace("/", "~1"))


def _text(number: int, kind: str) -> str:
    """SQL for the text of a plain field; a field of a type with other types inside is not plain."""
    text = f"NULL::{of_leaves(kind, lambda _: 'VARCHAR')}" if is_nested(kind) else f"muntin_parts[{number}]"
    return f"{text} AS muntin_field_{number - 1}"


def _fits(number: int, kind: str, *, strict: bool) -> str:
    """SQL for whether a field is surely of a type, as far as kinds of JSON tell, and has the text that DuckDB
    gives it.
    """
    json_kind, text, fitting = f"muntin_kinds[{number}]", f"muntin_parts[{number}]", _plain_kinds(kind)
    loose = () if strict or not fitting else ("VARCHAR",)
    among = f"{json_kind} IN ({', '.join(map(repr, ('NULL', *fitting, *loose)))})"
    # of which DuckDB has made a number, whose text may have a power of ten that was not there
    if "DOUBLE" in fitting:
        finite = "true" if kind.startswith("DECIMAL") else f"isfinite(try_cast({text} AS {kind}))"
        among += f" AND ({json_kind} <> 'DOUBLE' OR ({finite} AND NOT regexp_matches({text}, '[eE]')))"
    return f"({json_kind} IS NULL OR ({among}))"


def _plain_kinds(kind: str) -> tuple[str, ...]:
    """The kinds of JSON, as DuckDB calls them, whose values it gives as they are written, and a type may
    have.
    """
    if is_nested(kind) or kind == "JSON":
        return ()
    if kind in WHOLE:
        return ("UBIGINT", "BIGINT")
    if kind.startswith("DECIMAL") or kind in ("FLOAT", "DOUBLE"):
        return ("UBIGINT", "BIGINT", "DOUBLE")
    return {"BOOLEAN": ("BOOLEAN",), "VARCHAR": ("VARCHAR", "UBIGINT", "BOOLEAN")}.get(kind, ("VARCHAR",))


def _exactly(odd: pa.Table, kinds: Mapping[str, str], *, strict: bool) -> tuple[pa.Table, Faults]:
    """The fields of messages that are not plain:

    `muntin_number` and a column for each; and which messages are no rows.
    """
    rows, faults = list[list[Any]](), Faults()
    for number, value in zip(odd["muntin_number"].to_pylist(), odd["value"].to_pylist(), strict=True):
        name = None
        try:
            json_object, row = parsed(value), [number]
            for name, kind in kinds.items():
                row.append(member(json_object, name, kind, strict=strict))
            rows.append(row)
        except MisfitError as wrong:
            faults[number] = (
                f"no JSON: {wrong}" if name is None else f"{name} cannot be read as {kinds[name]}: {wrong}",
                name,
            )
    types = [pa.int64(), *map(_arrow, kinds.values())]
    names = ["muntin_number", *(f"muntin_field_{at}" for at in range(len(kinds)))]
    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    return (
        pa.table([pa.array(list(column), of) for column, of in zip(columns, types, strict=True)], names),
        faults,
    )


def _arrow(kind: str) -> pa.DataType:
    """The type of Arrow for a type with texts in place of what holds no other."""
    if inner := element(kind):
        return pa.list_(_arrow(inner))
    if kind.startswith("STRUCT("):
        return pa.struct([(plain_name(name), _arrow(of)) for name, of in members(kind)])
    return pa.map_(pa.string(), _arrow(map_types(kind)[1])) if kind.startswith("MAP(") else pa.string()


def _typed(kinds: Mapping[str, str], texts: str, cut: Collection[str | None]) -> str:
    """A query of the rows with the fields in their types, from a query of their texts.

    `cut`: fields that lose parts of microseconds.
    """
    chosen = ", ".join(
        f"{cast(f'muntin_field_{at}', kind, cut=name in cut)} AS {quoted(name)}"
        for at, (name, kind) in enumerate(kinds.items())
    )
    return f"SELECT {chosen}, {', '.join(_OWN)} FROM ({texts}) ORDER BY muntin_number"


def cast(value: str, kind: str, *, cut: bool) -> str:
    """SQL for a text in a type, an error where the type does not have it as it is.

    Of nested types the value has texts inside.
    """
    return inside(value, kind, partial(_cast, cut=cut))


def _cast(text: str, kind: str, *, cut: bool) -> str:
    if not kind.startswith("DECIMAL("):
        return in_type(text, kind, cut=cut)
    inexact = (
        f"regexp_matches({text}, '\\.[0-9]{{{kind.rstrip(')').rpartition(',')[2].strip()}}}[0-9]*[1-9]')"
    )
    return f"CASE WHEN {inexact} THEN ('not as it is: ' || {text})::{kind} ELSE {in_type(text, kind)} END"


def _miscast(texts: pa.Table, kinds: Mapping[str, str], cut: Collection[str | None]) -> Faults:
    """The rows with a field that its type does not have; for each row the first such field in the order of
    the definition.
    """
    out = Faults()
    with connect(in_place=True) as session:
        session.register("muntin_texts", texts)
        for at, (name, kind) in enumerate(kinds.items()):
            wrong = (
                f"muntin_field_{at} IS NOT NULL AND TRY({cast(f'muntin_field_{at}', kind, cut=name in cut)})"
                " IS NULL"
            )
            for (number,) in session.execute(
                f"SELECT muntin_number FROM muntin_texts WHERE {wrong}"
            ).fetchall():
                out.setdefault(number, (f"{name} cannot be read as {kind}", name))
    return out


def spelled(fields: Mapping[str, str]) -> dict[str, str]:
    """The types of fields as DuckDB spells them."""
    return dict(zip(fields, _spelled(*fields.values()), strict=True))


@cache
def _spelled(*kinds: str) -> tuple[str, ...]:
    chosen = ", ".join(f"NULL::{kind} AS muntin_{at}" for at, kind in enumerate(kinds))
    with connect() as session:
        try:
            return tuple(kind for _, kind, *_ in session.execute(f"DESCRIBE SELECT {chosen}").fetchall())
        except duckdb.Error as wrong:
            raise SourceError(
                f"columns= of sources.kafka(...): {' '.join(str(wrong).split())[:200]}; mend the type"
            ) from None
