"""`python -m benchmarks.nexmark`: NEXMark's queries by their definitions, in this process, beside DuckDB's SQL of them.

Writes the events, compares the rows, then says the CPU seconds of both with one thread each, from files to published windows and from files
to rows in memory. Windows that are not final yet, as those of days, are read provisional in the same time; a query over the windows of
another has the time of both. A first query, which is not measured, warms the process.
"""

import argparse
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
from rich.console import Console

from benchmarks import report
from benchmarks.nexmark import files
from benchmarks.nexmark.queries import QUERIES, definitions
from muntin import read, run
from muntin.tasks import Local

HERE = Path(__file__).parent


def ours(query: str, root: Path, batches: int) -> tuple[float, pa.Table]:
    """CPU seconds of the runs of a query's definitions, and the rows of the last."""
    begun, pipelines = time.process_time(), definitions(query)
    for pipeline in pipelines:
        run(pipeline, root=root, start=files.BEGIN, end=files.BEGIN + batches * files.BATCH, spark=Local(1))
    (window,) = pipelines[-1].windows
    found = read(pipelines[-1], window, root=root, provisional=True)
    return time.process_time() - begun, found


def theirs(query: str, folder: Path) -> tuple[float, pa.Table]:
    """CPU seconds of DuckDB with one thread, and its rows."""
    with duckdb.connect(config={"threads": 1}) as session:
        for kind in files.KINDS:
            session.execute(f"CREATE VIEW {kind} AS FROM read_parquet('{folder}/{kind}/*.parquet')")
        begun = time.process_time()
        found = session.sql(in_our_names(query)).to_arrow_table()
        return time.process_time() - begun, found


def in_our_names(query: str) -> str:
    """A query's SQL with the bounds of windows as our tables have them."""
    bounds = "make_timestamptz(begin) AS window_start, make_timestamptz(finish) AS window_end"
    return f"SELECT {bounds}, * EXCLUDE (begin, finish) FROM ({QUERIES[query]})"


def rows(table: pa.Table) -> list[tuple[Any, ...]]:
    """The rows of a table, sorted, to be compared."""
    return sorted(tuple(tuple(value) if isinstance(value, list) else value for value in row.values()) for row in table.to_pylist())


def main() -> None:
    """Run what was asked."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.nexmark", description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000, help="how many (1,000,000)")
    parser.add_argument("--only", nargs="+", default=[*QUERIES], choices=[*QUERIES], help="queries")
    parser.add_argument("--folder", type=Path, default=HERE / "data", help="where data/nexmark is written (benchmarks/nexmark/data)")
    asked, lines = parser.parse_args(), []
    folder = asked.folder.absolute()
    shutil.rmtree(folder / "data/nexmark", ignore_errors=True)  # of more events
    batches = len(files.write(folder / "data/nexmark", asked.events))
    with files.beside(folder), tempfile.TemporaryDirectory() as place:
        ours("q12", Path(place, "warm"), 1)
        for query in asked.only:
            (mine, found), (other, expected) = ours(query, Path(place, query), batches), theirs(query, folder / "data/nexmark")
            if rows(found.select(expected.column_names)) != rows(expected):
                raise SystemExit(f"{query}: our {len(found)} rows differ from DuckDB's {len(expected)}")
            lines.append([query, f"{len(found):,}", f"{mine:.2f}", f"{other:.2f}", f"{mine / other:.2f}"])
    report.show(f"{asked.events:,} events", ["query", "rows", "ours, CPU s", "DuckDB, CPU s", "ratio"], lines, Console(width=140))


if __name__ == "__main__":
    main()
