"""The events as Parquet files, a batch a minute: `bid/2015-07-15T0000.parquet`, `auction/...` and `person/...`."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.nexmark.events import BEGIN_MS, Clock, auctions, bids, of_auctions, of_bids, of_persons, persons

BEGIN = datetime.fromtimestamp(BEGIN_MS / 1000, UTC)
BATCH = timedelta(minutes=1)
_MS = pa.scalar(1000, pa.duration("us"))


def write(folder: Path, events: int, *, a_second: int = 10_000, group: int = 1, generators: int = 1, extra: bool = False) -> list[datetime]:
    """Write the events.

    Args:
        folder: of the three folders.
        events: how many.
        a_second: how many of them happen in a second.
        group: so many are shuffled, so that some come in a batch behind their own.
        generators: how many generators of Beam they come of; auctions last as many times longer.
        extra: whether bids have the text that only makes them longer.

    Returns:
        The starts of the batches.
    """
    clock, each = Clock(1_000_000 // a_second, group, generators), a_second * int(BATCH.total_seconds())
    starts = []
    for number, low in enumerate(range(0, events, each)):
        starts.append(BEGIN + number * BATCH)
        numbers = clock.numbers(low, min(low + each, events))
        _write(folder / "bid", starts[-1], _with_turn(bids(of_bids(numbers), clock, extra=extra), low))
        _write(folder / "auction", starts[-1], _keyed(_with_end(auctions(of_auctions(numbers), clock)), "auction"))
        _write(folder / "person", starts[-1], _keyed(persons(of_persons(numbers), clock), "seller"))
    return starts


@contextmanager
def beside(folder: Path) -> Iterator[None]:
    """Be in the folder that has `data/nexmark`, which definitions read."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def _keyed(table: pa.Table, name: str) -> pa.Table:
    """Events with their id under the name that it has in other events, by which windows of several sources are keyed."""
    return table.append_column(name, table["id"])


def _with_turn(table: pa.Table, low: int) -> pa.Table:
    """Bids with `turn`: grows with time, and where the time is the same with arrival."""
    since_ms = table["dateTime"].cast(pa.int64()).to_numpy() // 1000 - BEGIN_MS
    return table.append_column("turn", pa.array((since_ms << 31) + low + np.arange(len(table))))


def _with_end(table: pa.Table) -> pa.Table:
    """Auctions with `closes`: a bid at the very millisecond in which an auction expires counts."""
    return table.append_column("closes", pc.add(table["expires"], _MS))


def _write(folder: Path, start: datetime, table: pa.Table) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, folder / f"{start:%Y-%m-%dT%H%M}.parquet")
