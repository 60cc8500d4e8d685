"""The last 100 rows after every row in DuckDB: one framed window, by key in the order of arrival."""

from collections.abc import Sequence
from pathlib import Path

import duckdb

WINDOWS = """
COPY (
  SELECT key, number - 100 AS window_index, window_start, window_end, n, sum_a::BIGINT AS sum_a, sum_b, min_b, max_b
  FROM (SELECT key, row_number() OVER w AS number, min(t) OVER w AS window_start, max(t) OVER w AS window_end,
               count(*) OVER w AS n, sum(a::DOUBLE) OVER w AS sum_a, sum(b) OVER w AS sum_b,
               min(b) OVER w AS min_b, max(b) OVER w AS max_b
        FROM read_parquet(?)
        WINDOW w AS (PARTITION BY key ORDER BY file_index, file_row_number ROWS BETWEEN 99 PRECEDING AND CURRENT ROW))
  WHERE n = 100
) TO '{out}' (FORMAT parquet, PER_THREAD_OUTPUT)
"""


def write_windows(files: Sequence[Path], out: Path) -> None:
    """Write a window for every row from the hundredth of its key on."""
    with duckdb.connect() as connection:
        connection.execute("SET preserve_insertion_order = false")
        connection.execute(WINDOWS.format(out=out), [[str(file) for file in files]])
