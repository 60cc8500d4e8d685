"""Calendar days in DuckDB: `date_trunc` of the local time, then one group-by."""

from collections.abc import Sequence
from pathlib import Path

import duckdb

WINDOWS = """
COPY (
  SELECT key, timezone('America/New_York', day) AS window_start,
         timezone('America/New_York', day + INTERVAL 1 DAY) AS window_end, n, sum_a, sum_b, min_b, max_b
  FROM (SELECT key, date_trunc('day', timezone('America/New_York', t)) AS day, count(*) AS n, sum(a)::BIGINT AS sum_a,
               sum(b) AS sum_b, min(b) AS min_b, max(b) AS max_b
        FROM read_parquet(?) GROUP BY ALL)
) TO '{out}' (FORMAT parquet, PER_THREAD_OUTPUT)
"""


def write_windows(files: Sequence[Path], out: Path) -> None:
    """Write the days of New York that hold an event."""
    with duckdb.connect() as connection:
        connection.execute("SET preserve_insertion_order = false")
        connection.execute(WINDOWS.format(out=out), [[str(file) for file in files]])
