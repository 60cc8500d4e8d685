"""`python -m benchmarks.settling`: what it costs to notice a changed past, and to mend it. No batch is named.

A thousand days, a CSV file of 2,000 rows each, are run. Then ten random days get a file more with late rows, ten are written anew, ten
lose a file and ten a row. One run of the next day mends them; its windows are held against a first run over the files as they are then.
Beside it: the same run where nothing has changed; DuckDB, which computes the sums of all days anew; and, where `chdb` is installed, a
materialised view of ClickHouse, whose table gets the same deletes and rows, named by hand, and how many of its sums are wrong then. Each in
a process of its own, without Spark.

CPU seconds of one core of a busy machine, of 2.2 million rows: 0.98 for the next day where nothing has changed, 7.6 where forty days have;
77 for a first run of all days; DuckDB 4.3 for the sums of days alone, without sessions. ClickHouse's view takes all rows in 2.9 s and the
changed files in 0.98 s, and 1,491 of its sums are wrong then: it keeps what was deleted.
"""

import argparse
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv

from muntin import Limits, Pipeline, read, run, sources, windows
from muntin import aggregates as agg
from muntin.tasks import Local

START, DAY = datetime(2020, 1, 1, tzinfo=UTC), timedelta(days=1)
DAYS, ROWS, KEYS, CHANGED = 1_000, 2_000, 50, 10
VIEW = (
    "CREATE DATABASE IF NOT EXISTS d",
    "CREATE TABLE d.events (file String, at DateTime64(6, 'UTC'), k Int64, x Int64) ENGINE = MergeTree ORDER BY (k, at)",
    "CREATE TABLE d.sums (day Date, k Int64, n UInt64, x Int64) ENGINE = SummingMergeTree ORDER BY (day, k)",
    "CREATE MATERIALIZED VIEW d.view TO d.sums AS SELECT toDate(at) AS day, k, count() AS n, sum(x) AS x FROM d.events GROUP BY day, k",
)
FROM_FILES = "SELECT _path AS file, at, k, x FROM file('{}', CSVWithNames, 'at DateTime64(6), k Int64, x Int64')"
SUMS = "SELECT day, k, sum(n) AS n, sum(x) AS x FROM ({}) GROUP BY day, k ORDER BY day, k"


def write(folder: Path, day: int, name: str, rows: int, seed: int) -> None:
    """A file of a day: times, keys, and whole numbers, whose sums are exact in any order."""
    dice = np.random.default_rng([day, seed])
    at = (START + day * DAY).timestamp() * 1_000_000 + np.sort(dice.integers(0, 86_400_000_000, rows))
    table = {
        "at": pa.array(at.astype(np.int64)).cast(pa.timestamp("us", "UTC")),
        "k": dice.integers(0, KEYS, rows),
        "x": dice.integers(0, 999, rows),
    }
    path = folder / f"dt={START + day * DAY:%Y-%m-%d}" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    pyarrow.csv.write_csv(pa.table(table), path)


def definition(folder: Path) -> Pipeline:
    """Days and sessions over the files."""
    return Pipeline(
        name="settling",
        source=sources.files(f"{folder}/dt={{start:%Y-%m-%d}}/*.csv", event_time="at", types={"k": "BIGINT", "x": "BIGINT"}),
        schedule="@daily",
        start=START,
        keys=["k"],
        windows={"day": windows.tumbling("1d"), "visit": windows.session("30m")},
        aggregates={"n": agg.count(), "x": agg.sum("x")},
        limits=Limits(settle_after=0),
    )


def change(folder: Path, days: int) -> list[Path]:
    """Ten days get late rows, ten are written anew, ten lose a file and ten a row; the files."""
    chosen, files = np.random.default_rng(7).permutation(days)[: 4 * CHANGED].tolist(), list[Path]()
    for at, day in enumerate(chosen):
        of_day = folder / f"dt={START + day * DAY:%Y-%m-%d}"
        files.append(of_day / ("late.csv", "a.csv", "b.csv", "a.csv")[at // CHANGED])
        if at < CHANGED:
            write(folder, day, "late.csv", ROWS // 100, 2)
        elif at < 2 * CHANGED:
            write(folder, day, "a.csv", ROWS, 3)
        elif at < 3 * CHANGED:
            (of_day / "b.csv").unlink()
        else:
            lines = (of_day / "a.csv").read_text().splitlines(keepends=True)
            (of_day / "a.csv").write_text("".join(lines[:7] + lines[8:]))
    return files


def our_run(folder: Path, root: Path, first: int, end: int) -> float:
    """The CPU seconds of a run of some days, without the start of the process."""
    began = time.process_time()
    run(definition(folder), root=root, start=START + first * DAY, end=START + end * DAY, spark=Local(1))
    return time.process_time() - began


def duckdb_sums(folder: Path) -> float:
    """The CPU seconds that DuckDB takes for the sums of all days."""
    began = time.process_time()
    with duckdb.connect(config={"threads": 1}) as session:
        session.sql(
            f"SELECT k, date_trunc('day', \"at\") AS day, count(*), sum(x) FROM read_csv('{folder}/*/*.csv') GROUP BY ALL"
        ).to_arrow_table()
    return time.process_time() - began


def clickhouse(state: Path, folder: Path, changed: list[Path] | None = None) -> tuple[float, int]:
    """The CPU seconds in which a materialised view takes all files, or what has `changed`; and how many of its sums are wrong then."""
    session = import_module("chdb.session").Session(str(state))
    session.query("SET max_threads = 1, mutations_sync = 2, date_time_input_format = 'best_effort', session_timezone = 'UTC'")
    began = time.process_time()
    if changed is None:
        for statement in (*VIEW, f"INSERT INTO d.events {FROM_FILES.format(f'{folder}/*/*.csv')}"):
            session.query(statement)
    else:
        session.query(f"ALTER TABLE d.events DELETE WHERE file IN ({', '.join(repr(str(path)) for path in changed)})")
        for path in filter(Path.exists, changed):
            session.query(f"INSERT INTO d.events {FROM_FILES.format(path)}")
    seconds = time.process_time() - began
    anew = f"SELECT toDate(at) AS day, k, 1 AS n, x FROM ({FROM_FILES.format(f'{folder}/*/*.csv')})"
    of_view, right = (str(session.query(SUMS.format(rows), "CSV")).splitlines() for rows in ("SELECT * FROM d.sums", anew))
    return seconds, len({*right} - {*of_view})


def alone(call: Callable[..., Any], *given: object) -> Any:  # noqa: ANN401 - what it returns
    """The result of a call in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(call, given)


def main() -> None:
    """Measure, compare, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=int, default=DAYS)
    days = parser.parse_args().days
    with tempfile.TemporaryDirectory(prefix="muntin-settling-") as name:
        folder, root = Path(name, "events"), Path(name, "state")
        for day in range(days + 2):
            write(folder, day, "a.csv", ROWS, 0)
            write(folder, day, "b.csv", ROWS // 10, 1)
        figures = {"a first run of all days": alone(our_run, folder, root, 0, days)}
        figures["a day more, nothing has changed"] = alone(our_run, folder, root, days, days + 1)
        has_chdb = find_spec("chdb") is not None
        if has_chdb:
            figures["ClickHouse's view, all days"], _ = alone(clickhouse, Path(name, "view"), folder)
        changed = change(folder, days)
        figures["a day more, and forty days have changed"] = alone(our_run, folder, root, days + 1, days + 2)
        figures["DuckDB, the sums of all days anew"] = alone(duckdb_sums, folder)
        if has_chdb:
            seconds, wrong = alone(clickhouse, Path(name, "view"), folder, changed)
            figures[f"ClickHouse's view, the changed files named by hand: {wrong:,} sums wrong"] = seconds
        alone(our_run, folder, Path(name, "clean"), 0, days + 2)
        ours = [read(definition(folder), window, root=root) for window in definition(folder).windows]
        clean = [read(definition(folder), window, root=Path(name, "clean")) for window in definition(folder).windows]
    print("\n".join(["| run | CPU s |", "| --- | --- |", *(f"| {what} | {seconds:.2f} |" for what, seconds in figures.items())]))
    print(f"equal to a first run over the files as they are: {ours == clean}")
    sys.exit(ours != clean)


if __name__ == "__main__":
    main()
