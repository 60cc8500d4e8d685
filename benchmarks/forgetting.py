"""The cost of forgetting a key of many, beside reading the files that hold it: `python -m benchmarks.forgetting`."""

import argparse
import shutil
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from muntin import Pipeline, forget, read, run, sources, windows
from muntin import aggregates as agg
from muntin.extensions.forgetting.forget import plan_forget
from muntin.extensions.forgetting.without_keys import holding
from muntin.jobs.state.bound import bind
from muntin.states.forgotten_keys import Plain, key_of
from muntin.tasks import Local

START, HOUR = datetime(2024, 1, 1, tzinfo=UTC), timedelta(hours=1)
KEY = {"user": 7}


def definition(folder: Path) -> Pipeline:
    return Pipeline(
        name="visits",
        source=sources.files(f"{folder}/data/{{start:%Y%m%dT%H}}.parquet", event_time="at"),
        schedule="1h",
        start=START,
        keys=["user"],
        windows={"hour": windows.tumbling("1h")},
        aggregates={"n": agg.count(), "spent": agg.sum("price")},
    )


def write(folder: Path, batches: int, keys: int, rows: int) -> None:
    """Files of random visits; user 7 is in each."""
    dice = np.random.default_rng(0)
    (folder / "data").mkdir(parents=True)
    for number in range(batches):
        begin = START + number * HOUR
        at = np.sort(dice.integers(0, 3_600_000_000, rows)) + int(begin.timestamp()) * 1_000_000
        user = dice.integers(0, keys, rows)
        user[0] = KEY["user"]
        table = pa.table({"at": pa.array(at, pa.timestamp("us", "UTC")), "user": user, "price": dice.random(rows)})
        pq.write_table(table, folder / f"data/{begin:%Y%m%dT%H}.parquet")


def timed(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def measured(folder: Path, batches: int, keys: int, rows: int) -> dict[str, float]:
    """CPU seconds: of reading all columns of the files that hold the key, of a plan, and of forgetting it."""
    write(folder, batches, keys, rows)
    pipeline, root = definition(folder), folder / "state"
    run(pipeline, root=root, start=START, end=START + batches * HOUR, spark=Local(2))
    before = read(pipeline, "hour", root=root)
    bound, plain = bind(pipeline, root), Plain(frozenset({key_of(KEY)}))
    tables = [frames.table for frames in bound.frame_sets] + ["../windows/hour"]
    files = {name: bound.store.snapshot(name).files for name in tables}
    held = [bound.table(name) / file.path for name in tables for file in holding(bound.table(name), name, files[name], plain)]
    # the first reading takes once or twice as long as others
    reading = median(timed(lambda: [pq.ParquetFile(path).read() for path in held]) for _ in range(5))
    plan = timed(lambda: plan_forget(pipeline, [KEY], root=root))
    cost = timed(lambda: forget(pipeline, [KEY], root=root))
    after = read(pipeline, "hour", root=root)
    if not after.equals(before.filter(pa.compute.not_equal(before["user"], KEY["user"]))):
        raise SystemExit("windows of other users changed")
    return {"files": len(held), "reading": reading, "plan": plan, "forgetting": cost}


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--batches", type=int, default=1_000)
    asked.add_argument("--keys", type=int, default=100_000)
    asked.add_argument("--rows", type=int, default=2_000, help="of each batch")
    given = asked.parse_args()
    folder = Path(tempfile.mkdtemp())
    try:
        found = measured(folder, given.batches, given.keys, given.rows)
    finally:
        shutil.rmtree(folder)
    print(
        ", ".join(f"{name} {value:.2f}" for name, value in found.items()), f"({found['forgetting'] / found['reading']:.1f} times reading)"
    )


if __name__ == "__main__":
    main()
