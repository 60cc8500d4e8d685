"""Random small batches, and what accumulate makes of them: all by one call, and each by a call of its own."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from muntin import Limits, Pipeline, sources, windows
from muntin.definition.instants import from_us
from muntin.definition.schedule import Interval
from muntin.jobs.accumulate.accumulate import accumulate
from muntin.jobs.state.bound import Bound, bind
from muntin.store.batch_facts import batches_of
from muntin.store.paths import QUARANTINE
from muntin.tasks import Local
from tests.catalogue.aggregates import ROWS
from tests.catalogue.columns import COLUMNS
from tests.catalogue.random_times import MINUTE
from tests.properties.random_rows import rows
from tests.properties.test_catalogue import with_columns
from tests.source_options import grouped

START = datetime(2024, 1, 1, tzinfo=UTC)
INSTANT = pa.timestamp("us", tz="UTC")
HOUR_US, START_US = 3_600_000_000, 1_704_067_200_000_000
SCHEMA = pa.schema([("t", INSTANT), ("k", pa.string()), *COLUMNS.items()])
HERE: Any = Local(1)
Found = dict[str, Any]

KINDS: Sequence[Mapping[str, Any]] = (
    {"hour": windows.tumbling("1h"), "visit": windows.session("10m")},
    {"pairs": windows.arrival(windows.by_count(2)), "day": windows.tumbling("1d")},
    {"slide": windows.sliding("1h", step="20m"), "all": windows.all_time()},
    {"near": windows.unique_sliding("5m", resolution="1m")},
    {"long": windows.arrival(windows.by_delta("n", 3)), "file": windows.arrival(windows.by_punctuation("s = 'q'"))},
)
WAYS: Sequence[Mapping[str, Any]] = (
    {},
    {},
    {},
    {"arrival_order": "x"},
    {"types": {"n": "DOUBLE"}},
    {"arrival_time": "t"},
)


@dataclass(frozen=True)
class Given:
    """A pipeline whose files are written, and its batches."""

    pipeline: Pipeline
    intervals: Sequence[Interval]


def given(seed: int, folder: Path) -> Given:
    """Files with nulls, empty ones, several in a batch, none; rows that are late, too far ahead, or without a time."""
    dice = random.Random(seed)
    starts = [START_US + at * HOUR_US for at in range(dice.randint(3, 9))]
    for at, start in enumerate(starts):
        found = [timed(dice, with_columns(row)) for _ in range(dice.randint(1, 2)) for row in rows(dice, start, 10 * MINUTE)]
        for number, part in enumerate(np.array_split(np.arange(len(found)), dice.choice([0, 1, 1, 1, 2, 3]) or 1)):
            if dice.random() < 0.9 or at == 0:
                pq.write_table(pa.Table.from_pylist([found[place] for place in part], SCHEMA), folder / f"{at:02d}_{number}.parquet")
    return Given(pipeline(dice, folder), [Interval(start, start + HOUR_US) for start in starts])


def timed(dice: random.Random, row: dict[str, Any]) -> dict[str, Any]:
    """The row with its time as a datetime; now and then none."""
    return row | {"t": None if dice.random() < 0.05 else from_us(row["t"])}


def pipeline(dice: random.Random, folder: Path) -> Pipeline:
    """Over columns of the catalogue."""
    return Pipeline(
        name="small",
        source=sources.files(f"{folder}/{{start:%H}}_*.parquet", **grouped(event_time="t", missing="empty", **dice.choice(WAYS))),
        schedule="1h",
        start=START,
        keys=dice.choice([[], ["k"], ["k"], ["k", "b"], ["x"]]),
        where=dice.choice([None, None, "s <> 'p'"]),
        windows=dict(dice.choice(KINDS)),
        aggregates={f"a{at}": row.made() for at, row in enumerate(dice.sample(ROWS, k=4))},
        limits=Limits(
            max_ahead=dice.choice([timedelta(0), timedelta(minutes=30), timedelta(days=1)]),
            max_behind=dice.choice([None, None, timedelta(0), timedelta(minutes=30)]),
            max_quarantined=None,
        ),
    )


def at_once(given: Given, root: Path) -> Found:
    """By one call for all batches."""
    bound = bind(given.pipeline, root, claim=True)
    return found(bound, accumulate(bound, HERE, given.intervals))


def one_by_one(given: Given, root: Path) -> Found:
    """By a call for each batch."""
    bound = bind(given.pipeline, root, claim=True)
    return found(bound, [done for interval in given.intervals for done in accumulate(bound, HERE, [interval])])


def found(bound: Bound, done: Sequence[Any]) -> Found:
    """Everything that accumulate leaves behind, but for how it lies in files, as texts: NaN equals itself, and zeros differ by sign."""
    out: Found = {"done": [repr(each) for each in done]}
    for table in (QUARANTINE, *(frames.table for frames in bound.frame_sets)):
        folder, files = bound.table(table), bound.store.snapshot(table).files
        facts = batches_of(folder, files, bound.pipeline.intervals.after)
        by_batch: dict[Any, list[str]] = {}
        for row in [row for file in files for row in pq.read_table(f"{folder}/{file.path}").to_pylist()]:
            by_batch.setdefault(row["batch"], []).append(repr(row))
        out[table] = by_batch
        out[f"{table}, facts"] = {name: getattr(facts, name).tolist() for name in facts.__slots__}
    return out


def count_files(given: Given, root: Path) -> int:
    """How many files the tables of states have together."""
    bound = bind(given.pipeline, root)
    return sum(len(bound.store.snapshot(frames.table).files) for frames in bound.frame_sets)
