"""`python -m benchmarks.page`: how long the page takes over a large state.

A history of 10,000 minutes is run in bulk, 200 events a minute over 1,000,000 keys. Printed for each page: the first answer of a process
that has answered no other, then the median of the next ones, in milliseconds, and the answer's size. Spark is left out, as in `life`.
"""

import argparse
import resource
import statistics
import tempfile
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table
from starlette.testclient import TestClient

from benchmarks.life import MINUTE, START, definition, once
from muntin import windows
from muntin.definition.instants import instant_us
from muntin.extensions.page.app import page_app
from muntin.extensions.page.installation import Installation

KINDS: dict[str, Any] = {
    "tumbling": windows.tumbling("5m"),
    "sliding": windows.sliding("10m", step="5m"),
    "session": windows.session("2m"),
}
EVENTS, AGAIN = 200, 5
DEFINITION = """
from pathlib import Path
from benchmarks.life import definition
from benchmarks.page import KINDS

life = definition(Path({folder!r}), KINDS)
"""


def write_events(folder: Path, minutes: int, keys: int) -> None:
    """A file for each minute, of events of random keys."""
    folder.mkdir(parents=True)
    dice = np.random.default_rng(7)
    for minute in range(minutes):
        at = START + minute * MINUTE
        times = int(at.timestamp()) * 1_000_000 + np.sort(dice.integers(0, 59_000_000, EVENTS))
        columns = {"at": pa.array(times).cast(pa.timestamp("us", tz="UTC")), "k": dice.integers(0, keys, EVENTS), "v": dice.random(EVENTS)}
        pq.write_table(pa.table(columns), folder / f"{at:%Y%m%dT%H%M}.parquet")


def pages(key: int, middle: str) -> dict[str, str]:
    """What is asked for, by name."""
    of_key = f"k0={key}"
    return {
        "overview": "/",
        "timeline": "/pipeline/life/timeline",
        "timeline of a key": f"/pipeline/life/timeline?window=session&{of_key}",
        "timeline, half way back": "/pipeline/life/timeline?end=5000&count=96",
        "windows": "/pipeline/life/windows",
        "windows of a key": f"/pipeline/life/windows?f0={key}",
        "windows of an hour": f"/pipeline/life/windows?from={middle}:00&to={middle}:59",
        "results of a key": f"/pipeline/life/results?f0={key}",
        "batches": "/pipeline/life/batches?skip=5000",
        "a window explained": f"/pipeline/life/window?window=sliding&{of_key}&at={middle}:00",
        "a session explained": f"/pipeline/life/window?window=session&{of_key}&at={middle}:00",
        "quarantine": "/pipeline/life/quarantine",
    }


def measured(folder: Path, minutes: int) -> dict[str, tuple[float, float, int]]:
    """Page -> milliseconds of the first answer, of later ones, bytes."""
    file, end = folder / "life.py", START + minutes * MINUTE
    file.write_text(DEFINITION.format(folder=str(folder)), encoding="utf-8")
    installation = Installation(lambda: {"life": file}, folder / "state", folder)
    now_us = instant_us(end + timedelta(hours=1), "now")
    app = page_app(installation, enter=lambda: None, may_see=lambda *_: True, clock=lambda: now_us)
    key = int(pq.read_table(folder / f"data/{START + minutes // 2 * MINUTE:%Y%m%dT%H%M}.parquet")["k"][0].as_py())
    middle = f"{START + minutes // 2 * MINUTE:%Y-%m-%dT%H}"
    with TestClient(app) as client:
        return {name: _timed(client, address) for name, address in pages(key, middle).items()}


def _timed(client: TestClient, address: str) -> tuple[float, float, int]:
    took = []
    for _ in range(AGAIN + 1):
        begun = time.perf_counter()
        answer = client.get(address)
        took.append(1000 * (time.perf_counter() - begun))
        assert answer.status_code == 200, answer.text[-500:]  # noqa: S101 - a benchmark of pages that work
    return took[0], statistics.median(took[1:]), len(answer.content)


def main() -> None:
    """Make the state, ask for each page, print a row for each."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.page", description=__doc__)
    parser.add_argument("--batches", type=int, default=10_000)
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--kept", type=Path, help="a folder to make the state in, or to find it in")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = (asked.kept or Path(made)).absolute()
        if not (folder / "state").exists():
            write_events(folder / "data", asked.batches, asked.keys)
            cpu, wall = once(definition(folder, KINDS), folder / "state", 0, asked.batches)
            print(f"the state was made in {wall:.0f} s ({cpu:.0f} s CPU)", flush=True)
        table = Table("page", "first ms", "next ms", "kB", title=f"The page over {asked.batches:,} batches and {asked.keys:,} keys")
        for name, (first, later, size) in measured(folder, asked.batches).items():
            table.add_row(name, f"{first:,.0f}", f"{later:,.0f}", f"{size / 1000:,.0f}")
    Console(width=100).print(table)
    print(f"peak of memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")


if __name__ == "__main__":
    main()
