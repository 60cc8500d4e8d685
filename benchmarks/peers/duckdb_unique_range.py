"""Unique sliding windows in DuckDB: a row wherever an event enters or has left, then one RANGE frame over the last 10 s."""

from collections.abc import Sequence
from pathlib import Path

import duckdb

STATES = """
CREATE TEMP TABLE states AS
SELECT key, epoch_ms(t) AS ms, count(*)::DOUBLE AS n, sum(a)::DOUBLE AS sum_a,
       sum(b) AS sum_b, min(b) AS min_b, max(b) AS max_b
FROM read_parquet(?) GROUP BY ALL
"""
"""Counts and integer sums as doubles, exact up to 2^53: framed sums over integers are HUGEINT and slower."""

WINDOWS = """
COPY (
  WITH ends AS (SELECT key, ms FROM states UNION SELECT key, ms + 10_001 FROM states),
  windows AS (
    SELECT key, ms, sum(n) OVER w AS n, sum(sum_a) OVER w AS sum_a, sum(sum_b) OVER w AS sum_b,
           min(min_b) OVER w AS min_b, max(max_b) OVER w AS max_b
    FROM ends LEFT JOIN states USING (key, ms)
    WINDOW w AS (PARTITION BY key ORDER BY ms RANGE BETWEEN 10_000 PRECEDING AND CURRENT ROW))
  SELECT key, make_timestamptz((ms - 10_000) * 1_000) AS window_start, make_timestamptz(ms * 1_000) AS window_end,
         n::BIGINT AS n, sum_a::BIGINT AS sum_a, sum_b, min_b, max_b
  FROM windows WHERE n > 0
) TO '{out}' (FORMAT parquet, PER_THREAD_OUTPUT)
"""


def write_windows(files: Sequence[Path], out: Path) -> None:
    """Write the windows of 10 s that an event enters or has just left."""
    with duckdb.connect() as connection:
        connection.execute("SET preserve_insertion_order = false")
        connection.execute(STATES, [[str(file) for file in files]])
        connection.execute(WINDOWS.format(out=out))
