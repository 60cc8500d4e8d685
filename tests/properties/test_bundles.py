"""Small batches that are accumulated together leave behind what they leave behind one by one, to the last bit.

`MUNTIN_CORE=30000` tries more.
"""

import random
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import Limits, Pipeline, sources, windows
from muntin.definition.schedule import Interval
from muntin.jobs.accumulate import bundles
from tests.case_counts import random_seeds, some
from tests.catalogue.aggregates import ROWS
from tests.properties import random_bundles
from tests.properties.random_bundles import HOUR_US, SCHEMA, START, START_US, Given, at_once, count_files, given, one_by_one
from tests.properties.random_rows import rows

SHARES = 3
"""A case in which batches share a file, whatever else is drawn."""
CASES = [SHARES, *random_seeds(100)]
CHUNK = 20
AT_ONCE = 8  # aggregates


def differences(case: Given, folder: Path) -> list[str]:
    """What is not the same."""
    together, apart = at_once(case, folder / "together"), one_by_one(case, folder / "apart")
    return [name for name in apart if together[name] != apart[name]] + [name for name in together if name not in apart]


@pytest.mark.parametrize("chunk", range(0, len(CASES), CHUNK))
def test_batches_together_are_as_one_by_one(chunk: int, tmp_path: Path) -> None:
    shared = 0
    for seed in CASES[chunk : chunk + CHUNK]:
        folder = tmp_path / str(seed)
        (folder / "data").mkdir(parents=True)
        case = given(seed, folder / "data")
        assert (seed, differences(case, folder)) == (seed, [])
        shared += count_files(case, folder / "together") < count_files(case, folder / "apart")
    assert shared > 0


def large(folder: Path, calls: list[Any], batches: int = 4) -> Given:
    """Batches of some hundred rows, and a pipeline with these aggregates."""
    dice, starts = random.Random(7), [START_US + at * HOUR_US for at in range(batches)]
    for at, start in enumerate(starts):
        found = [random_bundles.timed(dice, random_bundles.with_columns(row)) for _ in range(60) for row in rows(dice, start, 60_000_000)]
        pq.write_table(pa.Table.from_pylist(found, SCHEMA), folder / f"{at:02d}.parquet")
    made = Pipeline(
        name="large",
        source=sources.files(f"{folder}/{{start:%H}}.parquet", event_time="t"),
        schedule="1h",
        start=START,
        keys=["k"],
        windows={"hour": windows.tumbling("1h"), "pairs": windows.arrival(windows.by_count(2))},
        aggregates={f"a{at}": call.made() for at, call in enumerate(calls)},
        limits=Limits(max_ahead=timedelta(minutes=5)),
    )
    return Given(made, [Interval(start, start + HOUR_US) for start in starts])


@pytest.mark.parametrize("first", some(range(0, len(ROWS), AT_ONCE)))
def test_every_aggregate(first: int, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    case = large(tmp_path / "data", list(ROWS[first : first + AT_ONCE]))
    assert differences(case, tmp_path) == []
    assert count_files(case, tmp_path / "together") < count_files(case, tmp_path / "apart")


# a bundle ends wherever it is full: at 3 batches, or at 200 rows
@pytest.mark.parametrize(("limit", "most"), [("MOST_BATCHES", 3), ("MOST_ROWS", 900)])
def test_several_bundles(limit: str, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").mkdir()
    case = large(tmp_path / "data", [row for row in ROWS if row.call in ('sum("x")', 'first("n")', "count()")], batches=8)
    monkeypatch.setattr(bundles, limit, most)
    assert differences(case, tmp_path) == []
    assert 4 < count_files(case, tmp_path / "together") < count_files(case, tmp_path / "apart")
