"""`python -m benchmarks.limits`: what is large in one way, each in a process of its own: seconds, peak memory, and whether it is right.

Tasks run in the process itself, one after the other, so its peak is that of the largest task and of the driver together. Windows are held
against Arrow's own sums over the events. `--one NAME` runs one of them, `--size` in another size.
"""

import argparse
import json
import multiprocessing
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.contestant import own_peak_mb
from muntin import Pipeline, read, run, sources, windows
from muntin import aggregates as agg
from muntin.tasks import Local

START, HOUR = datetime(2024, 1, 1, tzinfo=UTC), timedelta(hours=1)
START_US, HOUR_US = int(START.timestamp()) * 1_000_000, 3_600_000_000
MB = 2**20
SESSION: Any = Local(1)


def evenly(rows: int, keys: np.ndarray, hours: int = 1) -> pa.Table:
    """Events of an hour, or of some, in the order of time: `x` counts up to a thousand."""
    at = START_US + np.arange(rows, dtype=np.int64) * (hours * HOUR_US // rows)
    return pa.table({"at": pa.array(at).cast(pa.timestamp("us", tz="UTC")), "k": keys, "x": np.arange(rows) % 1000})


def hot_key(rows: int) -> pa.Table:
    return evenly(rows, np.where(np.arange(rows) % 10 == 0, np.arange(rows) % 997 + 1, 0))


def many_keys(rows: int) -> pa.Table:
    return evenly(rows, np.arange(rows))


def one_key(rows: int) -> pa.Table:
    return evenly(rows, np.zeros(rows, np.int64))


def columns(count: int) -> pa.Table:
    events = one_key(1000)
    return pa.table({**{name: events[name] for name in events.column_names}, **{f"c{at}": events["x"] for at in range(count)}})


def long_rows(count: int) -> pa.Table:
    return one_key(count).append_column("text", pa.array(["x" * 10 * MB] * count))


def days(count: int) -> pa.Table:
    return evenly(24 * count, np.zeros(24 * count, np.int64), 24 * count)


@dataclass(frozen=True)
class Limit:
    """Something large.

    `size`: how large; `events`: by the size; `kinds`: the windows, by the size; `more`: other aggregates;
    `hours`: of the batch.
    """

    told: str
    size: int
    events: Callable[[int], pa.Table]
    kinds: Callable[[int], Mapping[str, Any]] = lambda _size: {"hour": windows.tumbling("1h")}
    more: Callable[[int], Mapping[str, Any]] = lambda _size: {}
    hours: int = 1


LIMITS = {
    "hot-key": Limit("one key with 90 % of the rows", 10_000_000, hot_key),
    "many-keys": Limit("keys of one row", 10_000_000, many_keys),
    "windows-of-a-key": Limit("windows of one key", 100_000, one_key, lambda size: {"short": windows.tumbling(HOUR / size)}),
    "windows-of-a-pipeline": Limit(
        "windows in a pipeline", 1_000, lambda _: one_key(1000), lambda size: {f"w{at}": windows.tumbling("1h") for at in range(size)}
    ),
    "days-of-a-session": Limit("days of one session", 365, days, lambda _: {"visit": windows.session("2h")}, hours=366 * 24),
    "columns": Limit("columns in a file", 10_000, columns, more=lambda size: {"last": agg.sum(f"c{size - 1}")}),
    "long-rows": Limit("rows of 10 MB", 20, long_rows, more=lambda _: {"letters": agg.sum("strlen(text)")}),
}


def lived(limit: Limit, size: int, folder: Path) -> dict[str, Any]:
    """Run it; seconds, peak MB of the process before and in the end, and whether the windows are right."""
    length = limit.hours * HOUR
    pipeline = Pipeline(
        name="limits",
        source=sources.files(str(folder / "events.parquet"), event_time="at", all_files=True),
        schedule=length,
        start=START,
        keys=["k"],
        windows=dict(limit.kinds(size)),
        aggregates={"n": agg.count(), "total": agg.sum("x"), **limit.more(size)},
    )
    before, begun = memory(), time.monotonic()
    run(pipeline, root=folder / "state", spark=SESSION, start=START, end=START + length)
    seconds, peak = time.monotonic() - begun, memory()
    return {"seconds": round(seconds), "before": before, "peak": peak, "right": is_right(pipeline, folder)}


def is_right(pipeline: Pipeline, folder: Path) -> bool:
    """Whether the last of the windows have the counts and sums of their keys that the events have."""
    events = pq.read_table(folder / "events.parquet", columns=["k", "x"])
    wanted = events.group_by("k").aggregate([("x", "count"), ("x", "sum")]).sort_by("k")
    found = (
        read(pipeline, [*pipeline.windows][-1], root=folder / "state")
        .group_by("k")
        .aggregate([("n", "sum"), ("total", "sum")])
        .sort_by("k")
    )
    pairs = (("k", "k"), ("n_sum", "x_count"), ("total_sum", "x_sum"))
    return all(np.array_equal(found[ours].to_numpy(), wanted[theirs].to_numpy()) for ours, theirs in pairs)


def write(name: str, size: int, folder: str) -> None:
    """Write the events; in a process of its own, whose memory does not count."""
    pq.write_table(LIMITS[name].events(size), Path(folder, "events.parquet"), row_group_size=MB)


def memory() -> int:
    """The peak of this process so far, MB."""
    if own := own_peak_mb():
        return round(own)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (MB if sys.platform == "darwin" else 1024)


def in_a_process(name: str, size: int | None = None) -> dict[str, Any]:
    """As `lived`, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.limits", "--one", name, *(["--size", str(size)] if size else [])]
    return dict(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1]))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.limits", description=__doc__)
    parser.add_argument("--one", choices=LIMITS)
    parser.add_argument("--size", type=int)
    asked = parser.parse_args()
    if asked.one:
        size = asked.size or LIMITS[asked.one].size
        with tempfile.TemporaryDirectory() as folder:
            writer = multiprocessing.get_context("spawn").Process(target=write, args=(asked.one, size, folder))
            writer.start()
            writer.join()
            print(json.dumps(lived(LIMITS[asked.one], size, Path(folder))))
        return 0
    right = True
    for name, limit in LIMITS.items():
        found = in_a_process(name)
        right &= found["right"]
        said = "right" if found["right"] else "WRONG"
        print(f"{limit.size:>10,} {limit.told:32} {found['seconds']:>4} s {found['peak']:>6,} MB  {said}", flush=True)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
