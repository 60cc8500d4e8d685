"""Every 100 rows in DuckDB: rows numbered in the order of arrival within their key, then one group-by."""

from collections.abc import Sequence
from pathlib import Path

import duckdb

WINDOWS = """
COPY (
  SELECT key, number // 100 AS window_index, min(t) AS window_start, max(t) AS window_end,
         count(*) AS n, sum(a)::BIGINT AS sum_a, sum(b) AS sum_b, min(b) AS min_b, max(b) AS max_b
  FROM (SELECT *, row_number() OVER (PARTITION BY key ORDER BY file_index, file_row_number) - 1 AS number
        FROM read_parquet(?))
  GROUP BY ALL HAVING count(*) = 100
) TO '{out}' (FORMAT parquet, PER_THREAD_OUTPUT)
"""


def write_windows(files: Sequence[Path], out: Path) -> None:
    """Write the windows that are full."""
    with duckdb.connect() as connection:
        connection.execute("SET preserve_insertion_order = false")
        connection.execute(WINDOWS.format(out=out), [[str(file) for file in files]])
