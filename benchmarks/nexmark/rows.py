"""Are two results the same rows? In any order, of lists too."""

from pathlib import Path

import duckdb
import pyarrow as pa

from benchmarks.nexmark.queries import ROWS

Columns = dict[str, str]


def as_others(windows: pa.Table) -> pa.Table:
    """Windows of ours as others give them: the bounds by their names here, instants as microseconds since 1970."""
    names = {"window_start": "begins", "window_end": "ends"}
    plain = [column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column for column in windows.columns]
    return pa.table(plain, names=[names.get(name, name) for name in windows.column_names])


def columns(out: Path) -> Columns:
    """Column -> DuckDB's type of it."""
    return {name: kind for name, kind, *_ in duckdb.execute(f"DESCRIBE FROM {_source(out)}").fetchall()}


def digest(out: Path, like: Columns) -> tuple[int, int]:
    """How many rows there are, and the sum of what these columns hash to, each as its type and with lists in order."""
    values = ", ".join(f'list_sort("{name}"::{kind})' if kind.endswith("[]") else f'"{name}"::{kind}' for name, kind in like.items())
    count, total = duckdb.execute(f"SELECT count(*), sum(hash(row({values}))::HUGEINT) FROM {_source(out)}").fetchall()[0]
    return count, total


def _source(out: Path) -> str:
    parts = [str(path) for path in (out / ROWS).glob("part-*")] or [str(out / ROWS)]
    return f"read_parquet({parts})"
