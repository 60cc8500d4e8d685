"""`python -m benchmarks.reading`: what it costs to read files of text exactly, beside DuckDB's own reading of them with the same sums.

Events with an instant as text, a key, a whole number, a price and a word, in one batch of an hour: CSV and JSON lines, also packed by gzip,
and Parquet. All runs are in this process, without Spark, and by one thread. Sums are compared first.
"""

import argparse
import tempfile
import time
from collections.abc import Iterable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import duckdb
from rich.console import Console

from benchmarks import report
from benchmarks.workloads import EPOCH
from muntin import Pipeline, read, run, sources, windows
from muntin import aggregates as agg
from muntin.tasks import Local

HOUR = timedelta(hours=1)
FORMS = {
    "csv": "FORMAT csv, HEADER",
    "csv.gz": "FORMAT csv, HEADER, COMPRESSION gzip",
    "jsonl": "FORMAT json",
    "jsonl.gz": "FORMAT json, COMPRESSION gzip",
    "parquet": "FORMAT parquet",
}
EVENTS = """SELECT strftime(make_timestamp({begin} + i * 3_600_000_000 // {events}), '%Y-%m-%dT%H:%M:%S.%fZ') AS t, hash(i) % 1000 AS key,
    (hash(i + 1) % 1000)::BIGINT AS a, ((hash(i + 2) % 100_000) / 100.0) AS price, 'word-' || hash(i + 3) % 100 AS word
    FROM range({events}) numbers(i)"""
SUMS = "SELECT key, count(*), sum(a), max(price), max(word) FROM '{path}' GROUP BY key, epoch_us(t::TIMESTAMPTZ) // 60_000_000 ORDER BY ALL"
RESULTS = ["key", "n", "sum_a", "max_price", "max_word"]


def pipeline(path: Path) -> Pipeline:
    """The definition over one file."""
    return Pipeline(
        name="reading",
        source=sources.files(f"{path.parent}/{path.name}", event_time="t", all_files=True),
        schedule=HOUR,
        start=EPOCH,
        keys=["key"],
        windows={"minute": windows.tumbling("1m")},
        aggregates={"n": agg.count(), "sum_a": agg.sum("a"), "max_price": agg.max("price"), "max_word": agg.max("word")},
    )


def ours(path: Path, root: Path) -> tuple[float, list[tuple[Any, ...]]]:
    """CPU seconds of a run, and its windows."""
    begun = time.process_time()
    run(pipeline(path), root=root, start=EPOCH, end=EPOCH + HOUR, spark=Local(1))
    seconds = time.process_time() - begun
    rows = read(pipeline(path), "minute", root=root).select(RESULTS)
    return seconds, sorted(zip(*(rows[name].to_pylist() for name in RESULTS), strict=True))


def theirs(path: Path) -> tuple[float, list[tuple[Any, ...]]]:
    """CPU seconds of DuckDB with one thread, and its rows."""
    with duckdb.connect(config={"threads": 1}) as session:
        begun = time.process_time()
        rows = session.execute(SUMS.format(path=path)).fetchall()
        return time.process_time() - begun, sorted(rows)


def measured(events: int, forms: Iterable[str]) -> Iterator[tuple[str, float, float, float]]:
    """Of each form: megabytes, our CPU seconds, DuckDB's; the same sums, or none."""
    with tempfile.TemporaryDirectory() as place:
        begin = int(EPOCH.timestamp()) * 1_000_000
        for form in forms:
            path = Path(place, f"events.{form}")
            duckdb.sql(f"COPY ({EVENTS.format(begin=begin, events=events)}) TO '{path}' ({FORMS[form]})")
            (mine, found), (other, expected) = ours(path, Path(place, form)), theirs(path)
            if found != expected:
                raise SystemExit(f"{form}: {len(found)} windows differ from DuckDB's {len(expected)} rows")
            yield form, path.stat().st_size / 1_000_000, mine, other


def ratios(events: int) -> dict[str, float]:
    """Our CPU seconds to DuckDB's, of texts that are not packed."""
    return {form: mine / other for form, _, mine, other in measured(events, ("csv", "jsonl"))}


def main() -> None:
    """Run what was asked."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reading", description=__doc__)
    parser.add_argument("events", type=float, nargs="?", default=10, help="millions of events (10)")
    events = round(parser.parse_args().events * 1_000_000)
    lines = [
        [form, f"{size:.0f}", f"{mine:.1f}", f"{other:.1f}", f"{mine / other:.2f}", f"{mine / events * 1_000_000:.2f}"]
        for form, size, mine, other in measured(events, FORMS)
    ]
    headings = ["file", "MB", "ours, CPU s", "DuckDB, CPU s", "ratio", "ours, CPU s a million"]
    report.show(f"{events:,} events", headings, lines, Console(width=140))


if __name__ == "__main__":
    main()
