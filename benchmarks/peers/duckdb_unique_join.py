"""Unique sliding windows in DuckDB: every window in the two pieces of 10 s that it touches, joined with their events."""

from collections.abc import Sequence
from pathlib import Path

import duckdb

EVENTS = """
CREATE TEMP TABLE events AS
SELECT key, epoch_ms(t) AS ms, epoch_ms(t) // 10_000 AS piece, a, b FROM read_parquet(?)
"""

WINDOWS = """
COPY (
  WITH starts AS (SELECT key, ms - 10_000 AS start FROM events UNION SELECT key, ms + 1 FROM events),
  pieces AS (SELECT key, start, start // 10_000 + unnest([0, 1]) AS piece FROM starts)
  SELECT key, make_timestamptz(start * 1_000) AS window_start, make_timestamptz((start + 10_000) * 1_000) AS window_end,
         count(*) AS n, sum(a)::BIGINT AS sum_a, sum(b) AS sum_b, min(b) AS min_b, max(b) AS max_b
  FROM pieces JOIN events USING (key, piece) WHERE ms BETWEEN start AND start + 10_000
  GROUP BY key, start
) TO '{out}' (FORMAT parquet, PER_THREAD_OUTPUT)
"""


def write_windows(files: Sequence[Path], out: Path) -> None:
    """Write the windows of 10 s that an event enters or has just left."""
    with duckdb.connect() as connection:
        connection.execute("SET preserve_insertion_order = false")
        connection.execute(EVENTS, [[str(file) for file in files]])
        connection.execute(WINDOWS.format(out=out))
