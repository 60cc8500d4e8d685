"""Every kind of window and of state, over three small batches. The state beside this file was written by version 0.1."""

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from muntin import Pipeline, sources, windows
from muntin import aggregates as agg

START = datetime(2024, 3, 9, tzinfo=UTC)  # New York's clocks change on the 10th
END = START + timedelta(days=3)
NEW_YORK = "America/New_York"


def source(folder: Path) -> sources.Source:
    """Files of one day each below a folder."""
    return sources.files(f"{folder}/{{start:%Y-%m-%d}}.parquet", event_time="at", arrival_time="received")


def every_kind(folder: Path) -> Pipeline:
    """A pipeline over files in a folder."""
    return Pipeline(
        name="every_kind",
        source=source(folder),
        schedule="@daily",
        start=START,
        keys=["k"],
        where="n is distinct from 13",
        windows={
            "hours": windows.tumbling("6h", grace="1h"),
            "days": windows.tumbling("1d", timezone=NEW_YORK),
            "months": windows.tumbling("1mo"),
            "sliding": windows.sliding("12h", step="6h", grace="3h"),
            "so_far": windows.cumulating("1d", step="6h"),
            "visits": windows.session("3h", grace="1h"),
            "short_visits": windows.session("3h", max_length="7h"),
            "changes": windows.unique_sliding("4h", resolution="1m"),
            "ever": windows.all_time(),
            "four": windows.arrival(windows.by_count(4)),
            "last_five": windows.arrival(windows.by_count(5), trigger=windows.by_count(2), incomplete=True),
            "half_days": windows.arrival(windows.by_time("12h"), dense=True),
            "rising": windows.arrival(windows.by_delta("n", 6), flush=True),
            "sorted": windows.arrival(windows.by_count(3), output="rows"),
        },
        aggregates={
            "events": agg.count(),
            "n": agg.sum("n"),
            "x": agg.sum("x"),
            "mean": agg.mean("x", where="n > 2"),
            "worst": agg.max("x"),
            "first": agg.first("n"),
            "best": agg.max_by("s", "x"),
            "spread": agg.stddev("x"),
            "items": agg.collect_sorted("n"),
            "kinds": agg.count_by("s"),
            "middle": agg.percentile("x", 0.5),
            "distinct": agg.approx_count_distinct("n"),
            "by_s": agg.by("s", agg.mean("x"), where="n > 0"),
            "by_s_few": agg.by("s", agg.count(where="n > 3")),
            "places": agg.elementwise("l", agg.max("l")),
            "level": agg.time_weighted_mean("x"),
        },
    )


def rows_alone(folder: Path) -> Pipeline:
    """A pipeline by arrival alone whose aggregates can be told of one row: its states are made without groups."""
    return Pipeline(
        name="rows_alone",
        source=source(folder),
        schedule="@daily",
        start=START,
        keys=["k"],
        windows={
            "four": windows.arrival(windows.by_count(4)),
            "last_five": windows.arrival(windows.by_count(5), trigger=windows.by_count(2), incomplete=True),
            "rising": windows.arrival(windows.by_delta("n", 6), flush=True),
            "marked": windows.arrival(windows.by_punctuation("n = 7")),
        },
        aggregates={
            "events": agg.count(),
            "n": agg.sum("n"),
            "least": agg.min("n"),
            "x": agg.sum("x"),
            "mean": agg.mean("x", where="n > 2"),
            "worst": agg.max("x"),
            "lowest": agg.min("x"),
            "first": agg.first("n"),
            "last": agg.last("s", ignore_nulls=True),
        },
    )


def batch(day: int, seed: int) -> pa.Table:
    """Thirty rows of a day, some of them late, with nulls and values that do not add up exactly."""
    chance, midnight = random.Random(f"{day} {seed}"), START + timedelta(days=day)
    rows = []
    for _ in range(30):
        late = timedelta(hours=chance.choice([0, 0, 0, 0, 2, 20]))
        received = midnight + timedelta(seconds=chance.randrange(86_400))
        rows.append(
            {
                "at": received - late,
                "received": received,
                "k": chance.choice(["a", "b", None]),
                "n": chance.choice([*range(15), None]),
                "x": chance.choice([0.1, 0.7, 1e16, -1e16, 3.3, None]),
                "s": chance.choice(["p", "q", None]),
                "l": [chance.randrange(9) for _ in range(2)],
            }
        )
    return pa.Table.from_pylist(rows, SCHEMA)


SCHEMA = pa.schema(
    [
        ("at", pa.timestamp("us", "UTC")),
        ("received", pa.timestamp("us", "UTC")),
        ("k", pa.string()),
        ("n", pa.int64()),
        ("x", pa.float64()),
        ("s", pa.string()),
        ("l", pa.list_(pa.int64())),
    ]
)


def write(folder: Path, day: int, seed: int = 0) -> None:
    """One day's file."""
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(batch(day, seed), folder / f"{START + timedelta(days=day):%Y-%m-%d}.parquet")
