"""What a one-minute batch costs under sliding windows of 10 minutes to 30 days, each kind alone.

Every key has an event in every minute. The history of a month is written as states and ledgers: to run 43,200 batches takes an hour. Then
some more minutes are run one by one.
"""

import os
import shutil
import statistics
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from muntin import Pipeline, run, sources, windows
from muntin import aggregates as agg
from muntin.definition.instants import AFTER_ALL, instant_us
from muntin.jobs.published.ledger_segments import write_segment
from muntin.jobs.published.pending import accumulated
from muntin.jobs.published.window_tables import published
from muntin.jobs.state.bound import Bound, bind
from muntin.jobs.tiles.tiers import make_tiers
from muntin.states.columns import BATCH, FRAME, INSTANT
from muntin.states.frames import Ints
from muntin.store.shared_files import write_shared
from muntin.store.store import Change
from muntin.tasks import Local
from muntin.timeline.batches import Batches
from muntin.timeline.ledger import NOTES, Entries, Ledger

START, MINUTE, MINUTE_US = datetime(2024, 1, 1, tzinfo=UTC), timedelta(minutes=1), 60_000_000
SIZES = ("10m", "24h", "7d", "30d")
KEYS, MONTH, MORE, TOGETHER = 1_000, 44_000, 40, 1_000


def long_windows(folder: Path) -> dict[str, Mapping[str, float]]:
    """For each size of windows: CPU seconds of a batch, median and mean; wall seconds; CPU seconds of making all tiers."""
    for minute in (0, *range(MONTH, MONTH + MORE)):
        write_events(folder / "data", minute)
    made = folder / "made"
    once(definition(folder, SIZES[0]), made, 0)
    batches = write_states(bind(definition(folder, SIZES[0]), made))
    for size in SIZES:
        shutil.copytree(made, folder / size, copy_function=os.link)
    return {size: measured(definition(folder, size), folder / size, batches) for size in SIZES}


def definition(folder: Path, size: str) -> Pipeline:
    """A pipeline of one kind of windows and exact aggregates. The states are the same for every size."""
    return Pipeline(
        name="life",
        source=sources.files(str(folder / "data/{start:%Y%m%dT%H%M}.parquet"), event_time="at"),
        schedule="1m",
        start=START,
        keys=["k"],
        windows={"sliding": windows.sliding(size, step="1m")},
        aggregates={"n": agg.count(), "total": agg.sum("v"), "least": agg.min("v"), "most": agg.max("v")},
    )


def write_events(folder: Path, minute: int) -> None:
    """A file with an event of each key."""
    folder.mkdir(parents=True, exist_ok=True)
    dice, at = np.random.default_rng(minute), START + minute * MINUTE
    times = instant_us(at, "at") + np.sort(dice.integers(0, MINUTE_US, KEYS))
    columns = {"at": pa.array(times).cast(INSTANT), "k": dice.permutation(KEYS), "v": dice.integers(0, 10_000, KEYS)}
    pq.write_table(pa.table(columns), folder / f"{at:%Y%m%dT%H%M}.parquet")


def once(pipeline: Pipeline, root: Path, minute: int) -> tuple[float, float]:
    """Run a batch; CPU and wall seconds."""
    cpu, wall = time.process_time(), time.perf_counter()
    run(pipeline, root=root, start=START + minute * MINUTE, end=START + (minute + 1) * MINUTE, spark=Local(1))
    return time.process_time() - cpu, time.perf_counter() - wall


def write_states(bound: Bound) -> Batches:
    """Write the states of the month behind its first batch; returns the facts of all batches."""
    [frames] = bound.frame_sets
    snapshot, folder = bound.store.snapshot(frames.table), bound.table(frames.table)
    first = pq.read_table(f"{folder}/{snapshot.files[0].path}", partitioning=None)
    parts = [facts(np.arange(low, min(low + TOGETHER, MONTH))) for low in range(1, MONTH, TOGETHER)]
    files = [write_shared(states(first, part), folder, part, bound.pipeline.keys) for part in parts]
    bound.store.commit(frames.table, snapshot, Change(first.schema, files, [], []))
    return accumulated(bound, frames.table, bound.store.snapshot(frames.table))


def facts(minutes: Ints) -> Batches:
    """The facts of some batches, each with a state a key."""
    start = instant_us(START, "start") + minutes * MINUTE_US
    rows, kept, undecided = np.full(len(start), KEYS), np.zeros(len(start), np.bool_), np.zeros(len(start), np.uint64)
    return Batches(start, start + MINUTE_US, minutes.astype(np.uint64), start + MINUTE_US - 1, start, start, rows, kept, undecided)


def states(first: pa.Table, part: Batches) -> pa.Table:
    """The states of some batches, as those of the first batch with other values; in the order of a shared file: bucket, key, frame."""
    values = np.random.default_rng(int(part.start_us[0])).integers(0, 10_000, len(first) * len(part))
    rows, at = first.take(pa.array(np.repeat(np.arange(len(first)), len(part)))), pa.array(np.tile(part.start_us, len(first))).view(INSTANT)
    drawn = {name: pa.array(values).cast(rows.schema.field(name).type) for name in ("sum_v", "min_v", "max_v")}
    return pa.table({name: rows[name] for name in rows.column_names} | drawn | {BATCH: at, FRAME: at})


def measured(pipeline: Pipeline, root: Path, batches: Batches) -> Mapping[str, float]:
    """Go on from the month as if its windows were published: the batches behind it, one by one."""
    bound, cpu = bind(pipeline, root), time.process_time()
    write_ledger(bound, batches)
    while make_tiers(bound):
        pass
    tiers = time.process_time() - cpu
    each = [once(pipeline, root, minute) for minute in range(MONTH, MONTH + MORE)]
    cpus = [cpu for cpu, _ in each]
    wall_s = statistics.median(wall for _, wall in each)
    return {"cpu_s": statistics.median(cpus), "mean_cpu_s": statistics.mean(cpus), "wall_s": wall_s, "all_tiers_cpu_s": tiers}


def write_ledger(bound: Bound, batches: Batches) -> None:
    """Write a ledger that says that the batches of the month closed no windows."""
    now, none = published(bound.store, "sliding"), np.zeros(len(batches), np.int64)
    snapshot = now.snapshot
    opened, note = np.full(len(batches), AFTER_ALL), pa.nulls(len(batches), NOTES)
    spans = (batches.low_us, batches.high_us)
    entries = Entries(batches.start_us, batches.version, batches.end_us, *spans, none, none, none, opened, none, batches.version * 0, note)
    schema = snapshot.schema or pa.schema([])
    ledger = Ledger(bound.derivation("sliding"), entries, bound.state)
    segment = write_segment(bound.table(now.table), schema, len(snapshot.files) + 1, ledger)
    bound.store.commit(now.table, snapshot, Change(schema, [segment], snapshot.files, []))
