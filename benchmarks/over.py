"""`python -m benchmarks.over`: a range over a year of one-minute batches, and over 40 days of hourly ones, of 1,000 keys.

Every key has an event in every batch. The states are written in bulk, since to run half a million batches takes half a day; a year of them
takes four gigabytes and half an hour. `--days 30` writes fewer minutes, and as many hours. Tiles are those of `muntin maintain`.
Printed for each question: seconds of the first time in a new process and the median of others, and the states and rows of tiles that were
read. It ends with 1 if the long range takes more than twice the time of the short one, or if tiles change an answer.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

from muntin import Pipeline, over, run, sources, windows
from muntin import aggregates as agg
from muntin.definition.instants import instant_us
from muntin.jobs.lookups import over as lookups
from muntin.jobs.state.bound import Bound, bind
from muntin.jobs.tiles.tiers import make_history_tiers
from muntin.states.columns import BATCH, FRAME, INSTANT
from muntin.store.shared_files import write_shared
from muntin.store.store import Change
from muntin.tasks import Local
from muntin.timeline.batches import Batches

START, YEAR, SHORT = datetime(2024, 1, 1, tzinfo=UTC), 365, 40
STEPS = {"minutes": timedelta(minutes=1), "hours": timedelta(hours=1)}
TOGETHER, TIMES = 1_000, 5
QUESTIONS: Mapping[str, Mapping[str, Any]] = {"all keys": {}, "no keys": {"by": []}, "one key": {"keys": {"k": 7}}}


def main() -> int:
    """Make the histories, ask, print; 1 if what is promised does not hold."""
    asked = arguments()
    if asked.ask:
        print(json.dumps(answered(Path(asked.folder), asked.ask, asked.days, QUESTIONS[asked.question], asked.again)))
        return 0
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        return raced(Path(folder), asked.days, asked.keys)


def arguments() -> argparse.Namespace:
    """What was asked on the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.over", description=__doc__)
    parser.add_argument("--days", type=float, default=YEAR, help="of minutes (365)")
    parser.add_argument("--keys", type=int, default=1_000)
    parser.add_argument("--folder", help="where the histories are written (a temporary folder)")
    parser.add_argument("--ask", help=argparse.SUPPRESS)
    parser.add_argument("--question", default="all keys", help=argparse.SUPPRESS)
    parser.add_argument("--again", type=int, default=TIMES, help=argparse.SUPPRESS)
    return parser.parse_args()


def raced(folder: Path, days: float, keys: int) -> int:
    """Print what each question costs over each history."""
    console, lines = Console(), Table("history", "question", "first s", "again s", "rows read", title=f"over, {days:g} days, {keys:,} keys")
    spans = {"minutes": days, "hours": SHORT}
    for name, span in spans.items():
        write_history(folder, name, int(span * timedelta(days=1) / STEPS[name]), keys)
    found = {("hours", question): new_process(folder, "hours", SHORT, question) for question in QUESTIONS}
    bound = bind(definition(folder, "minutes"), folder / "minutes" / "state")
    without = found["minutes, no tiles", "all keys"] = new_process(folder, "minutes", days, "all keys", again=1)
    begun = time.perf_counter()
    while make_history_tiers(bound):
        pass
    tiles_s = time.perf_counter() - begun
    found |= {("minutes", question): new_process(folder, "minutes", days, question) for question in QUESTIONS}
    for (name, question), told in found.items():
        lines.add_row(name, question, f"{told['first_s']:.3f}", f"{told['again_s']:.3f}", f"{told['rows']:,}")
    console.print(lines)
    ratio = found["minutes", "all keys"]["again_s"] / found["hours", "all keys"]["again_s"]
    console.print(f"tiles of the minutes made in {tiles_s:.1f} s; the minutes take {ratio:.2f} times the hours, promised at most 2")
    return int(ratio > 2 or found["minutes", "all keys"]["answer"] != without["answer"])


def definition(folder: Path, name: str) -> Pipeline:
    """A pipeline of batches of one step, and frames as long as they are."""
    step = {"minutes": "1m", "hours": "1h"}[name]
    return Pipeline(
        name="over",
        source=sources.files(str(folder / name / "data/{start:%Y%m%dT%H%M}.parquet"), event_time="at"),
        schedule=step,
        start=START,
        keys=["k"],
        windows={"each": windows.tumbling(step)},
        aggregates={"n": agg.count(), "total": agg.sum("v"), "least": agg.min("v"), "most": agg.max("v")},
    )


def write_history(folder: Path, name: str, batches: int, keys: int) -> None:
    """Run the first batch, and write the states of the others."""
    (folder / name / "data").mkdir(parents=True)
    columns = {"at": pa.array([START] * keys, INSTANT), "k": np.arange(keys), "v": np.arange(keys) % 97}
    pq.write_table(pa.table(columns), folder / name / f"data/{START:%Y%m%dT%H%M}.parquet")
    pipeline, root = definition(folder, name), folder / name / "state"
    run(pipeline, root=root, start=START, end=START + STEPS[name], spark=Local(1))
    write_states(bind(pipeline, root), batches, STEPS[name] // timedelta(microseconds=1))


def write_states(bound: Bound, batches: int, step_us: int) -> None:
    """Write the states of the batches behind the first."""
    [frames] = bound.frame_sets
    snapshot, folder = bound.store.snapshot(frames.table), bound.table(frames.table)
    first = pq.read_table(f"{folder}/{snapshot.files[0].path}", partitioning=None)
    files = []
    for low in range(1, batches, TOGETHER):
        start = instant_us(START, "start") + np.arange(low, min(low + TOGETHER, batches)) * step_us
        none, numbers = np.zeros(len(start), np.int64), (start // step_us).astype(np.uint64)
        part = Batches(
            start, start + step_us, numbers, start, start, start, none + len(first), none.astype(np.bool_), none.astype(np.uint64)
        )
        files.append(write_shared(states(first, part), folder, part, bound.pipeline.keys))
    bound.store.commit(frames.table, snapshot, Change(first.schema, files, [], []))


def states(first: pa.Table, part: Batches) -> pa.Table:
    """The states of some batches, as those of the first with other values; in the order of a shared file: bucket, key, frame."""
    values = np.random.default_rng(int(part.start_us[0])).integers(0, 10_000, len(first) * len(part))
    rows, at = first.take(pa.array(np.repeat(np.arange(len(first)), len(part)))), pa.array(np.tile(part.start_us, len(first))).view(INSTANT)
    drawn = {name: pa.array(values).cast(rows.schema.field(name).type) for name in ("sum_v", "min_v", "max_v")}
    return pa.table({name: rows[name] for name in rows.column_names} | drawn | {BATCH: at, FRAME: at})


def new_process(folder: Path, name: str, days: float, question: str, *, again: int = TIMES) -> Mapping[str, Any]:
    """What a new process says of a question that it asks once, and so many times again."""
    options = {"--ask": name, "--folder": folder, "--days": days, "--question": question, "--again": again}
    command = [sys.executable, "-m", "benchmarks.over", *(str(part) for option in options.items() for part in option)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    told: Mapping[str, Any] = json.loads(done.stdout)
    return told


def answered(folder: Path, name: str, days: float, question: Mapping[str, Any], again: int) -> Mapping[str, Any]:
    """Seconds of a question the first time and again, the rows read, and the answer in short."""
    rows, reading = [0], lookups.states_of_ranges

    def counted(*given: Any, **more: Any) -> Iterator[pa.Table]:  # noqa: ANN401 - whatever is given
        for table in reading(*given, **more):
            rows[0] += len(table)
            yield table

    lookups.states_of_ranges = counted
    pipeline, end = definition(folder, name), START + int(timedelta(days=days) / STEPS[name]) * STEPS[name]
    seconds = []
    for _ in range(again + 1):
        rows[0], begun = 0, time.perf_counter()
        table = over(pipeline, START, end, root=folder / name / "state", **question)
        seconds.append(time.perf_counter() - begun)
    answer = {column: table[column].to_pylist()[:1_000] for column in ("n", "total", "least", "most")}
    return {"first_s": seconds[0], "again_s": statistics.median(seconds[1:]), "rows": rows[0], "answer": answer}


if __name__ == "__main__":
    raise SystemExit(main())
