"""What one more batch of NEXMark costs after many, and what replacing one does: `python -m benchmarks.nexmark.history QUERY ...`.

Batches of a minute, a hundred events a second. Nothing happens in the last twenty seconds, so that windows that others are made of end
within the last batch, as DuckDB's all do. The history is run in bulk, and its logs get a commit a batch. Then come some batches more,
one by one in a warm process, and some in the middle of the history are replaced by half of their rows. In the end the rows are those of
DuckDB over all files. Beside it: DuckDB's whole query, which is what an engine without states asks when a batch has come or changed; and
where windows end soon, its query over only the files that a new batch's windows are made of, which is what a person writes who knows that.
Prints a line of JSON a query.
"""

import argparse
import json
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq

from benchmarks.life import DAY, MINUTE, apart
from benchmarks.long_logs import lengthen
from benchmarks.nexmark import files, queries
from benchmarks.nexmark.engines import read_muntin, run_muntin, with_duckdb
from benchmarks.nexmark.queries import ROWS
from benchmarks.nexmark.rows import as_others, columns, digest
from muntin.tasks import Local

A_SECOND, MORE, REPLACED, QUIET_S = 100, 5, 3, 20
_OF_AUCTIONS = ("q3", "q8")
_FILES = {"q5": 2, "q7": 1, "q8": 1, "q12": 1}
"""Query -> how many of the newest files of each kind the windows of a new batch are made of. Other queries need all: a day, a session or an
auction has no first file that follows from the definition."""


def costs(query: str, batches: int, place: Path) -> dict[str, float]:
    """Seconds and CPU seconds, each the median. `place`: a folder with the events of so many batches and `MORE`."""
    apart(_run, query, place, range(batches))
    lengthen(place / "state", batches, DAY // MINUTE)
    return apart(_go_on, query, place, batches)


def _run(query: str, place: Path, batches: range) -> None:
    run_muntin(query, place / "data/nexmark", place / "state", Local(), batches)


def _go_on(query: str, place: Path, batches: int) -> dict[str, float]:
    out = place / "others"
    out.mkdir()
    more = _median([partial(_run, query, place, range(number, number + 1)) for number in range(batches, batches + MORE)])
    middle = range(batches // 2, batches // 2 + REPLACED)
    for number in middle:
        _thin(query, place, number)
    replaced = _median([partial(_run, query, place, range(number, number + 1)) for number in middle])
    whole = _median([partial(with_duckdb, query, place / "data/nexmark", out)] * REPLACED)
    some = _median([partial(with_duckdb, query, place / "data/nexmark", out, _FILES[query])] * REPLACED) if query in _FILES else {}
    with_duckdb(query, place / "data/nexmark", out)
    pq.write_table(as_others(read_muntin(query, place / "state")), place / ROWS)
    if digest(place, columns(out)) != digest(out, columns(out)):
        raise RuntimeError(f"{query}: windows differ from DuckDB's rows after batches were replaced")
    names = ("more", "replaced", "whole")
    found = {f"{name}{unit}": value for name, pair in zip(names, (more, replaced, whole), strict=True) for unit, value in pair.items()}
    return found | {f"files{unit}": value for unit, value in some.items()}


def _median(jobs: list[Callable[[], None]]) -> dict[str, float]:
    found = []
    for job in jobs:
        begun, used = time.perf_counter(), time.process_time()
        job()
        found.append((time.perf_counter() - begun, time.process_time() - used))
    return {"_s": statistics.median(wall for wall, _ in found), "_cpu_s": statistics.median(cpu for _, cpu in found)}


def _thin(query: str, place: Path, number: int) -> None:
    """Leave a batch every other of the events that the query counts."""
    kind = "auction" if query in _OF_AUCTIONS else "bid"
    path = place / "data/nexmark" / kind / f"{files.BEGIN + number * files.BATCH:%Y-%m-%dT%H%M}.parquet"
    table = pq.read_table(path)
    pq.write_table(table.take([*range(0, len(table), 2)]), path)


def main() -> None:
    """Print the figures of some queries."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.nexmark.history", description=__doc__)
    parser.add_argument("queries", nargs="+", choices=[*queries.QUERIES])
    parser.add_argument("--batches", type=int, default=1000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        events = Path(folder, "events")
        files.write(events / "data/nexmark", A_SECOND * (60 * (asked.batches + MORE) - QUIET_S), a_second=A_SECOND)
        for query in asked.queries:
            place = Path(folder, query)
            shutil.copytree(events, place)
            print(json.dumps({"query": query} | costs(query, asked.batches, place)), flush=True)
            shutil.rmtree(place)


if __name__ == "__main__":
    main()
