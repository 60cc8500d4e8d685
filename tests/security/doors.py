"""Ways in which SQL could reach what it has no business with, and the places of a definition that take SQL."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from muntin import aggregates as agg
from muntin import windows
from muntin.aggregates.aggregate import Aggregate, Field
from muntin.aggregates.algebra import SUM

SECRET, TABLE = "the secret", pa.table({"x": [42]})

# {secret}, {table}: files outside of the source; {out}: a file that is not there; {address}: of a server that counts who comes
READS = {
    "a text": "(SELECT count(*) FROM read_text('{secret}'))",
    "bytes": "(SELECT count(*) FROM read_blob('{secret}'))",
    "CSV": "(SELECT count(*) FROM read_csv('{table}'))",
    "a file as a table": "(SELECT count(*) FROM '{table}')",
    "a file behind a name of its own": "(WITH \"{table}\" AS (SELECT 1) SELECT count(*) FROM '{table}')",
    "a folder": "(SELECT count(*) FROM glob('{folder}/*'))",
    "a condition": "CASE WHEN v IN (SELECT size FROM read_text('{secret}')) THEN 1 ELSE 1 END",
    "SQL in a text": "(SELECT count(*) FROM query('FROM read_text(''{secret}'')'))",
    "the network": "(SELECT count(*) FROM read_csv('http://{address}/x.csv'))",
    "a bucket": "(SELECT count(*) FROM read_parquet('s3://bucket/x.parquet'))",
    "the environment": "length(getenv('HOME'))",
    "the settings": "(SELECT count(*) FROM duckdb_settings())",
    "the settings as a table": "(SELECT count(*) FROM duckdb_settings)",
    "variables of Python": "(SELECT count(*) FROM HIDDEN)",
    "what DuckDB can tell of tables": "(SELECT count(*) FROM (SHOW TABLES))",
}
STATEMENTS = {
    "write a file": "COPY (SELECT 42) TO '{out}'",
    "write a folder": "EXPORT DATABASE '{out}'",
    "open a database": "ATTACH '{out}'",
    "open one in memory": "ATTACH ':memory:' AS other",
    "fetch an extension": "INSTALL httpfs",
    "load an extension": "LOAD httpfs",
    "load code": "LOAD '{secret}'",
    "a setting": "SET threads = 2",
    "the lock": "SET lock_configuration = false",
    "a pragma": "PRAGMA threads = 2",
    "another meaning of a word": "CREATE MACRO greatest(a, b) AS 1",
    "a secret": "CREATE SECRET (TYPE s3, KEY_ID 'x', SECRET 'y')",
}
ATTACKS = {
    **READS,
    **{f"{name}, behind a number": f"1; {sql}" for name, sql in STATEMENTS.items()},
    "a bracket too many": "1) FROM read_text('{secret}') WHERE (true",
    "a bracket too many and a comment": "1)::DOUBLE FROM read_text('{secret}') --",
    "two values": "1, (SELECT count(*) FROM read_text('{secret}'))",
    "another query": "1 UNION ALL SELECT size FROM read_text('{secret}')",
}


def own(sql: str) -> Aggregate:
    """An aggregate of a user's own fields, whose SQL is looked at by nobody else."""
    return Aggregate("own", "v", (Field("total", "v", (("", f"coalesce(sum({sql}), 0)"),), SUM),), lambda total: total)


# what a definition says otherwise, with SQL that is a number
PLACES: dict[str, Callable[[str], dict[str, Any]]] = {
    "where": lambda sql: {"where": f"{sql}"},
    "where, compared": lambda sql: {"where": f"v < {sql}"},
    "an aggregate": lambda sql: {"aggregates": {"n": agg.max(sql)}},
    "an aggregate's order": lambda sql: {"aggregates": {"n": agg.max_by("v", sql)}},
    "an aggregate's where": lambda sql: {"aggregates": {"n": agg.sum("v", where=f"v < {sql}")}},
    "a group": lambda sql: {"aggregates": {"n": agg.by(sql, agg.count())}},
    "elements": lambda sql: {"aggregates": {"n": agg.elementwise("vs", agg.max(sql))}},
    "a function's column": lambda sql: {"aggregates": {"n": agg.apply(len, sql)}},
    "fields": lambda sql: {"aggregates": {"n": own(sql)}},
    "SQL over results": lambda sql: {"aggregates": {"n": agg.count(), "more": sql}},
    "SQL over results, in it": lambda sql: {"aggregates": {"n": agg.count(), "more": f"n + ({sql})"}},
    "by_delta": lambda sql: {"windows": {"hour": windows.arrival(windows.by_delta(sql, 4))}},
    "by_delta's size": lambda sql: {"windows": {"hour": windows.arrival(windows.by_delta("v", sql, first=1.0))}},
    "by_punctuation": lambda sql: {"windows": {"hour": windows.arrival(windows.by_punctuation(f"v < {sql}"))}},
    "progressive_sort": lambda sql: {"windows": {"hour": windows.progressive_sort(3, by=sql)}},
    "while_": lambda sql: {"windows": {"hour": windows.while_(f"v < {sql}")}},
    "while_same": lambda sql: {"windows": {"hour": windows.while_same(sql, name="state")}},
    "between": lambda sql: {"windows": {"hour": windows.between("v = 1", f"v < {sql}")}},
    "a type": lambda sql: {"types": {"v": f"BIGINT + {sql}"}},
    "a type alone": lambda sql: {"types": {"v": sql}},
}


def filled(attack: str, folder: Path, address: str = "127.0.0.1:1") -> str:
    """An attack on a folder, whose secret is written."""
    (folder / "secret").write_text(SECRET)
    (folder / "table.csv").write_text("x\n1\n")
    names = {"secret": folder / "secret", "table": folder / "table.csv", "out": folder / "out", "folder": folder, "address": address}
    for name, value in names.items():
        attack = attack.replace("{" + name + "}", str(value))
    return attack
