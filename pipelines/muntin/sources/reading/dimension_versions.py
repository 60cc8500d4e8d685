"""The versions of a dimension, read from its source and seen to be sound: each key has at most one row at any
time.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import duckdb
import numpy as np
import pyarrow as pa
from blake3 import blake3

from muntin.engine.versions import islands
from muntin.errors import SourceError
from muntin.sources.nested_types import is_nested
from muntin.sources.reading.column_hints import no_column
from muntin.sources.reading.column_types import check_numbers, column_types
from muntin.sources.reading.dimension import FOREVER, Dimension
from muntin.sources.reading.row_times import instant
from muntin.sources.reading.scan import literal, quoted, scan
from muntin.sources.sessions.duckdb_session import described, explained, kept_session
from muntin.sources.sessions.listed_files import let_read
from muntin.sources.sessions.single_expressions import check_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muntin.sources.reading.lookup import Lookup
    from muntin.sources.source import Columns, Source, Used

_ROWS, _SORTED = "muntin_dimension", "muntin_versions"
_KINDS = ("VARCHAR", "BOOLEAN", "DATE", "UUID", "BLOB", "TIMESTAMP", "INTEGER")
_EXAMPLES = 3


def read_dimension(
    name: str, lookup: Lookup, source: Source, paths: Sequence[str], used: Used
) -> tuple[Dimension, pa.Table]:
    """A dimension and its versions, of the columns that a definition uses; `paths` of all its files, at least
    one.

    A key or a time that is null is refused, and two rows of a key that hold at the same time.
    """
    source = replace(source, event_time=lookup.since)
    for column, kind in source.types.items():
        check_type(kind, f"lookups[{name!r}]: types[{column!r}]")
    session = kept_session(source.timezone)
    let_read(session, source, paths)
    try:
        whole = bool(lookup.source.message_key)  # a message without a value is told by all of its fields
        read_as, columns = column_types(
            session, source, paths, lambda column: whole or column in lookup.named or used(column)
        )
        check_numbers(session, source, paths, read_as.fractions)
        dimension = _dimension(name, lookup, columns, used)
        rows = _last_messages(session, name, lookup, scan(source, paths, read_as), columns)
        _stage(session, lookup, source, dimension, rows, columns)
        _check(session, f"lookups[{name!r}]", lookup)
        table = _versions(session, dimension)
    except duckdb.Error as wrong:
        raise explained(wrong, paths) from wrong
    finally:
        session.execute(f"DROP TABLE IF EXISTS {_ROWS}")
    _check_types(session, dimension, table)
    facts = repr((dimension.keys, dimension.columns)).encode()
    digest = blake3(facts)
    for column in ("key", "since", "until", "answer"):
        digest.update(table[column].to_numpy().tobytes())
    return replace(dimension, digest=digest.hexdigest(length=8)), table


def _dimension(name: str, lookup: Lookup, columns: Columns, used: Used) -> Dimension:
    what = f"lookups[{name!r}]"
    for column in lookup.named:
        if column not in columns:
            raise SourceError(no_column(what, column, columns, lookup.source))
    for column in lookup.keys.values():
        kind = columns[column]
        if is_nested(kind) or not (kind in _KINDS or kind.startswith("DECIMAL") or kind.endswith("INT")):
            raise SourceError(
                f"{what}: keys: {column!r} is {kind}, which is not compared exactly; give it another type by"
                " types={...}"
            )
    apart = {*lookup.keys.values(), lookup.since, lookup.until, *lookup.source.message_key}
    others = lookup.columns or [column for column in columns if column not in apart]
    chosen = [column for column in others if used(column)] or others
    if not chosen:
        raise SourceError(
            f"{what}: the dimension has no column beside keys and times, so there is nothing to look up"
        )
    keys = tuple((ours, columns[theirs]) for ours, theirs in lookup.keys.items())
    return Dimension(
        name, keys, tuple((column, columns[column]) for column in chosen), lookup.of, lookup.required
    )


def _last_messages(
    session: duckdb.DuckDBPyConnection, name: str, lookup: Lookup, rows: str, columns: Columns
) -> str:
    """The rows; of a topic the last message of each message key, as compaction would leave them, without
    messages that have no value.

    Messages of one key that begin at several times are refused, as compaction removes versions.
    """
    if not lookup.source.message_key:
        return rows
    key, partition, offset = lookup.source.message_key
    fields = [column for column in columns if column not in lookup.source.message_columns]
    empty = " AND ".join(f"{quoted(field)} IS NULL" for field in fields)
    version_columns = ", ".join(quoted(column) for column in (*lookup.keys.values(), lookup.since))
    query = (
        f"SELECT {key}::VARCHAR FROM {rows} WHERE {key} IS NOT NULL AND NOT ({empty}) GROUP BY {partition},"
        f" {key} HAVING count(DISTINCT ({version_columns})) > 1 ORDER BY ALL LIMIT {_EXAMPLES}"
    )
    if several := [key for (key,) in session.execute(query).fetchall()]:
        raise SourceError(
            f"lookups[{name!r}]: messages with one key have several keys or times {lookup.since!r} in them,"
            f" and compaction keeps the last alone: {', '.join(several)}. Let the key of a message name the"
            f" version, as currency and {lookup.since} together"
        )
    last = f"row_number() OVER (PARTITION BY {partition}, {key} ORDER BY {offset} DESC) = 1"
    return f"(SELECT * FROM (SELECT * FROM {rows} QUALIFY {key} IS NULL OR {last}) WHERE NOT ({empty}))"


def _stage(
    session: duckdb.DuckDBPyConnection,
    lookup: Lookup,
    source: Source,
    dimension: Dimension,
    rows: str,
    columns: Columns,
) -> None:
    """Read the rows, each once, into a table: k0, k1, ..., id, since, until, ends, value and answer."""
    keys = [quoted(column) for column in lookup.keys.values()]
    until = instant(source, lookup.until, "until", columns) if lookup.until else "NULL::BIGINT"
    written = f"{quoted(lookup.until)} IS NOT NULL" if lookup.until else "false"
    packed = ", ".join(f"{quoted(column)} := {quoted(column)}" for column, _ in dimension.columns)
    kinds = [literal(kind) for _, kind in dimension.columns]
    parts = [
        *(f"{key} AS k{number}" for number, key in enumerate(keys)),
        f"{instant(source, lookup.since, 'since', columns)} AS since",
        f"{until} AS until",
        f"{written} AS ends",
        f"struct_pack({packed}) AS value",
        f"{text_hash([*kinds, *(quoted(column) for column, _ in dimension.columns)])} AS answer",
    ]
    order = ", ".join(f"k{number}" for number in range(len(keys)))
    session.execute(
        f"CREATE OR REPLACE TEMP TABLE {_ROWS} AS SELECT *, dense_rank() OVER (ORDER BY {order}) - 1 AS id "
        f"FROM (SELECT DISTINCT {', '.join(parts)} FROM {rows})"
    )


def text_hash(columns: Sequence[str]) -> str:
    """SQL for a hash of 64 bits of some values, by their texts: the same in each release of DuckDB, and for
    integers of any width.
    """
    texts = (
        f"coalesce(length({column}::VARCHAR)::VARCHAR || ':' || {column}::VARCHAR, '-')" for column in columns
    )
    return f"md5_number_lower({' || '.join(texts)})"


def _check(session: duckdb.DuckDBPyConnection, what: str, lookup: Lookup) -> None:
    keys = " || ', ' || ".join(f"coalesce(k{number}::VARCHAR, 'null')" for number in range(len(lookup.keys)))
    null = " OR ".join(f"k{number} IS NULL" for number in range(len(lookup.keys)))
    ahead = "lead(since) OVER (PARTITION BY id ORDER BY since, until)"
    time = "coalesce(make_timestamp(since)::VARCHAR, 'null')"
    twice = f"SELECT id, since FROM {_ROWS} GROUP BY ALL HAVING count(*) > 1"
    problems = {
        f"{_ROWS} WHERE {null}": "a key is null, and no event could meet it",
        f"{_ROWS} WHERE since IS NULL": f"{lookup.since!r} is null or no time",
        f"{_ROWS} WHERE ends AND until IS NULL": f"{lookup.until!r} is no time",
        f"{_ROWS} WHERE until <= since": f"{lookup.until!r} is not behind {lookup.since!r}",
        f"(FROM {_ROWS} SEMI JOIN ({twice}) USING (id, since))": (
            "two rows of a key begin at the same time, with other values"
        ),
    }
    if lookup.until:
        overlapping = f"ahead < coalesce(until, {FOREVER})"
        problems[f"(SELECT *, {ahead} AS ahead FROM {_ROWS}) WHERE {overlapping}"] = (
            "two rows of a key are valid at the same time"
        )
    for rows_with, problem in problems.items():
        query = f"SELECT DISTINCT {keys}, {time} FROM {rows_with} ORDER BY ALL LIMIT {_EXAMPLES}"
        if examples := session.execute(query).fetchall():
            rows = "; ".join(f"{key} since {since}" for key, since in examples)
            raise SourceError(
                f"{what}: {problem}: {rows}. An event must find one row or none: mend the rows of"
                f" {lookup.place}"
            )


def _versions(session: duckdb.DuckDBPyConnection, dimension: Dimension) -> pa.Table:
    """The versions in order.

    A version that only continues the one before, with the same values, is no other version.
    """
    keys = [f"k{number}" for number in range(len(dimension.keys))]
    ahead = "lead(since) OVER (PARTITION BY id ORDER BY since)"
    hashed = (
        f"(SELECT id, {text_hash(keys)} AS key FROM (SELECT DISTINCT id, {', '.join(keys)} FROM {_ROWS}))"
    )
    until = f"least(coalesce(until, {FOREVER}), coalesce({ahead}, {FOREVER}))"
    chosen = ", ".join([*keys, "id", "since", f"{until} AS until", "value", "key", "answer"])
    query = f"SELECT {chosen} FROM {_ROWS} JOIN {hashed} USING (id) ORDER BY id, since"
    table = session.sql(query).to_arrow_table()
    for name in ("key", "answer"):
        table = table.set_column(
            table.column_names.index(name), name, pa.array(table[name].to_numpy().view(np.int64))
        )
    ids, since, until, answer = (table[name].to_numpy() for name in ("id", "since", "until", "answer"))
    first_rows = np.flatnonzero(islands(ids, since, until, answer))
    last = np.append(first_rows[1:], len(ids))[: len(first_rows)] - 1
    table = table.take(pa.array(first_rows))
    return table.set_column(table.column_names.index("until"), "until", pa.array(until[last]))


def _check_types(session: duckdb.DuckDBPyConnection, dimension: Dimension, table: pa.Table) -> None:
    """Refuse types that a file does not keep: nothing is narrowed."""
    try:
        session.register(_SORTED, table)
        kinds = described(session, f"SELECT unnest(value) FROM {_SORTED}")
        session.execute(f"SELECT 1 FROM {_SORTED} LIMIT 0").fetchall()
    finally:
        session.unregister(_SORTED)
    for name, kind in dimension.columns:
        if kinds[name] != kind:
            raise SourceError(
                f"lookups[{dimension.name!r}]: {name!r} is {kind}, which does not stay as it is in a file"
                f" ({kinds[name]}); say its type by types={{{literal(name)}: ...}}, or leave it out of"
                " columns="
            )
