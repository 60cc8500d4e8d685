"""Makes the events of a workload once: 16 Parquet files in the order of arrival, the same for everyone who runs it."""

import json
import shutil
from datetime import timedelta
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.workloads import BURST_PAUSE_US, BURST_SIZE, EPOCH, FILES, LATEST_ARRIVAL_US, SECOND_US, Workload

Integers = npt.NDArray[np.int64]

SEED = 20_130_101
LAYOUT = 2
"""Counts up when the files change, so that older ones are made again."""
EPOCH_US = int(EPOCH.timestamp()) * SECOND_US
ROW_GROUP_ROWS = 131_072
DONE = "done.json"
"""Written last, so that a folder without it is made again."""


def event_files(workload: Workload, data: Path) -> list[Path]:
    """The workload's files in the order of arrival; made when they are not there."""
    folder = data / workload.folder
    recipe = {"seed": SEED, "events": workload.events, "keys": workload.keys, "layout": LAYOUT}
    if not _is_done(folder, recipe):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        _write(workload, folder)
        (folder / DONE).write_text(json.dumps(recipe))
    return sorted(folder.glob("*.parquet"))


def _is_done(folder: Path, recipe: dict[str, int]) -> bool:
    done = folder / DONE
    return done.exists() and json.loads(done.read_text()) == recipe


def _write(workload: Workload, folder: Path) -> None:
    random = np.random.default_rng(SEED)
    key, t_us = _bursts(workload, random) if workload.bursts else _uniform(workload, random)
    t_us -= t_us % workload.resolution_us
    arrival_us = t_us + random.integers(0, LATEST_ARRIVAL_US, workload.events)
    order = np.argsort(arrival_us, kind="stable")
    events = _as_table(key[order], t_us[order], random)
    file_us = workload.duration_s * SECOND_US // FILES
    bounds = np.searchsorted(arrival_us[order], np.arange(1, FILES) * file_us)
    edges = [0, *bounds.tolist(), workload.events]
    for number in range(FILES):
        rows = events.slice(edges[number], edges[number + 1] - edges[number])
        pq.write_table(rows, folder / _file_name(workload, number), row_group_size=ROW_GROUP_ROWS)


def _file_name(workload: Workload, number: int) -> str:
    """A file is named after the quarter of the time in which its events arrived."""
    quarter, part = divmod(number, FILES // 4)
    since = EPOCH + quarter * timedelta(seconds=workload.duration_s // 4)
    return f"{since:%Y%m%dT%H%M}-{part}.parquet"


def _uniform(workload: Workload, random: np.random.Generator) -> tuple[Integers, Integers]:
    key = random.integers(0, workload.keys, workload.events)
    return key, random.integers(0, workload.duration_s * SECOND_US, workload.events)


def _bursts(workload: Workload, random: np.random.Generator) -> tuple[Integers, Integers]:
    """Bursts of ten events on average; a pause within a burst is exponential, so some bursts fall into two sessions."""
    bursts = workload.events // BURST_SIZE
    sizes = 1 + random.multinomial(workload.events - bursts, np.full(bursts, 1 / bursts))
    first = np.cumsum(sizes) - sizes
    pause_us = random.exponential(BURST_PAUSE_US, workload.events).astype(np.int64)
    pause_us[first] = 0
    since_first_us = np.cumsum(pause_us)
    since_first_us -= np.repeat(since_first_us[first], sizes)
    start_us = random.integers(0, (workload.duration_s - 120) * SECOND_US, bursts)
    return np.repeat(random.integers(0, workload.keys, bursts), sizes), np.repeat(start_us, sizes) + since_first_us


def _as_table(key: Integers, t_us: Integers, random: np.random.Generator) -> pa.Table:
    rows = len(key)
    return pa.table(
        {
            "key": pa.array(key.astype(np.int32)),
            "t": pa.array(EPOCH_US + t_us, pa.timestamp("us", tz="UTC")),
            "a": pa.array(random.integers(0, 100, rows)),
            "b": pa.array(random.random(rows) * 100.0),
        }
    )
