"""A pipeline over many kinds of keys and values, the files of its states, and slots for however few rows."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from muntin import Pipeline, run, sources, windows
from muntin import aggregates as agg
from muntin.aggregates.aggregate import Aggregate
from muntin.jobs.accumulate import accumulate_split, slot_lift
from muntin.states import slot_tables
from muntin.states.rows_in_slots import LiftedStates, rows_in_slots
from muntin.states.slot_tables import fits
from muntin.tasks import Local
from muntin.windows.kind import Window

START = datetime(2024, 1, 1, tzinfo=UTC)


SIGNED_ZEROS = (0.0, -0.0)


ODD_FLOATS = (*SIGNED_ZEROS, float("nan"), float("inf"), float("-inf"), 0.1, 1e300)


INSTANTS = (0, -1, 1_704_067_200_000_000, 1_704_067_200_000_001, 2**63 - 1, -(2**63) + 1)
"""The last two are no instants, but DuckDB's infinities."""


KEYS: dict[str, Callable[[np.random.Generator, int], pa.Array]] = {
    "integers": lambda dice, rows: pa.array(dice.integers(-3, 12, rows), pa.int32(), mask=dice.random(rows) < 0.1),
    "texts": lambda dice, rows: pa.array([None if one == "x0" else one for one in (f"x{n}" for n in dice.integers(0, 9, rows))]),
    "small": lambda dice, rows: pa.array(dice.integers(-128, 128, rows), pa.int8()),
    "ever more": lambda dice, rows: pa.array(dice.integers(0, np.arange(rows) // 200 + 1), mask=dice.random(rows) < 0.01),
    "far apart": lambda dice, rows: pa.array(dice.choice(dice.integers(-(2**62), 2**62, 5), rows)),
}


AGGREGATES = {
    "n": agg.count(),
    "positive": agg.count(where="i > 0"),
    "known": agg.count("f"),
    "whole": agg.sum("i"),
    "float": agg.sum("f"),
    "half": agg.sum("f / 2", where="i % 2 = 0"),
    "low": agg.min("f"),
    "high": agg.max("f"),
    "nearly": agg.max("f", where="abs(f) < 0.001"),
    "least": agg.min("i"),
    "narrow": agg.max("s"),
    "late": agg.max("i", where="f > 0"),
    "opening": agg.first("f"),
    "closing": agg.last("i"),
    "early": agg.first("s", where="i > 0", ignore_nulls=True),
    "latest": agg.last("g", ignore_nulls=True),
    "final": agg.last("g"),
    "some": agg.any_value("f", where="i > 3"),
    "newest": agg.max("u"),
    "oldest": agg.min("u", where="i > 0"),
    "since": agg.last("u"),
    "at_high": agg.max_by("f", "i"),
    "at_low": agg.min_by("g", "f"),
    "text_at_high": agg.max_by("'<' || i || '>'", "g", where="s > 3"),
    "at_newest": agg.max_by("i::DECIMAL(9, 2)", "u"),
    "at_oldest": agg.min_by("u", "u"),
    "high_ones": agg.count_if("f > 3 OR i < 0"),
    "few_high_ones": agg.count_if("g > 3", where="s > 3"),
    "all_at_high": agg.max_by("'<' || i || '>'", "g", ties=True),
    "all_at_low": agg.min_by("i", "s", where="f > 3", ties=True),
    "all_at_newest": agg.max_by("s", "u", ties=True),
    "different": agg.count_distinct("i"),
    "different_narrow": agg.count_by("s", where="f > 3"),
    "most": agg.mode("i", where="f > 3"),
    "spread": agg.stddev("f"),
    "narrower": agg.variance("g", where="i > 0"),
    "skewed": agg.skewness("i"),
    "together": agg.correlation("f", "s", where="i < 500"),
}


OF_SEVERAL_ROWS = ("spread", "narrower", "skewed", "together")


def written(tmp_path: Path, name: str, pipeline: Pipeline) -> list[str]:
    """The files of states, which are named by their content."""
    root = tmp_path / name
    run(pipeline, root=root, start=START, end=START + timedelta(hours=1), spark=Local(1))
    return sorted(str(path.relative_to(root)) for path in root.rglob("frames/**/*.parquet"))


@contextmanager
def slots_made(layout: str) -> Iterator[list[LiftedStates | None]]:
    """Few rows at once, slots for however few rows, linked wherever that is asked; what they gave, None where they did not."""
    made = list[LiftedStates | None]()

    def kept(*args: Any, **named: Any) -> LiftedStates | None:
        made.append(None)
        made[-1] = rows_in_slots(*args, **named)
        return made[-1]

    with (
        mock.patch.object(accumulate_split, "MANY_ROWS", 1),
        mock.patch.object(slot_lift, "_AT_ONCE", 700),
        mock.patch.object(slot_lift, "rows_in_slots", kept),
        mock.patch.object(slot_lift, "fits", lambda *sizes: layout == "dense" and fits(*sizes)),
        mock.patch.object(slot_tables, "_LINKS_PER_ROW", 100),
    ):
        yield made


def write_rows(folder: Path, seed: int, keys: tuple[str, ...], rows: int = 8_000) -> None:
    dice = np.random.default_rng(seed)
    seconds = dice.integers(-50, 3_600, rows) if seed % 2 else np.sort(dice.integers(0, 3_600, rows))
    odd = ODD_FLOATS if seed % 3 else SIGNED_ZEROS
    floats = np.where(dice.random(rows) < 0.05, dice.choice(odd, rows), dice.random(rows) * 100 - 9)
    columns = {f"k{at}": KEYS[kind](dice, rows) for at, kind in enumerate(keys)}
    columns |= {
        "t": pa.array(int(START.timestamp()) * 1_000_000 + seconds * 1_000_000).cast(pa.timestamp("us", tz="UTC")),
        "i": pa.array(dice.integers(-1000, 1000, rows), mask=dice.random(rows) < 0.2),
        "s": pa.array(dice.integers(0, 9, rows), pa.int16()),
        "f": pa.array(floats, mask=dice.random(rows) < 0.2),
        "g": pa.array(floats, mask=dice.random(rows) < 0.2).cast(pa.float32()),
        "u": pa.array(dice.choice(INSTANTS, rows), mask=dice.random(rows) < 0.2).cast(pa.timestamp("us", tz="UTC")),
    }
    folder.mkdir()
    pq.write_table(pa.table(columns), folder / "rows.parquet", row_group_size=1_000)


def definition(folder: Path, keys: int, kinds: dict[str, Window], aggregates: dict[str, Aggregate]) -> Pipeline:
    return Pipeline(
        name="fast",
        source=sources.files(f"{folder}/*.parquet", event_time="t", all_files=True),
        schedule="1h",
        start=START,
        keys=[f"k{at}" for at in range(keys)],
        windows=kinds,
        aggregates=aggregates,
    )


ARRIVED = {
    "counted": windows.arrival(windows.by_count(7)),
    "grown": windows.arrival(windows.by_delta("i", 100)),
    "marked": windows.arrival(windows.by_punctuation("i > 900")),
}
