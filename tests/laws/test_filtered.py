"""`where=` narrows every aggregate of a lift, whichever of DuckDB's it is made of."""

import duckdb

from pipelines.aggregates.filtered import AGGREGATES


def test_every_aggregate_of_duckdb_is_known() -> None:
    names = duckdb.sql("SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type = 'aggregate'").fetchall()
    assert {name for (name,) in names} <= AGGREGATES
