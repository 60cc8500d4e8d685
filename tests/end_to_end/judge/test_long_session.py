"""A session open over many batches goes on from notes; bulk, stepwise and replaced are one, and notes are really read."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from muntin import Pipeline, read, run, sources, windows
from muntin import aggregates as agg
from muntin.jobs.published.pending import pending_window
from muntin.jobs.state.bound import bind
from tests.storage.three_batches import HERE

BEGIN, STEP, BATCHES = datetime(2024, 1, 1, tzinfo=UTC), timedelta(minutes=10), 6


def write(folder: Path, number: int, every: int = 30) -> None:
    """`a` never rests, `b` comes once a batch; values whose sum depends on their order."""
    times = [BEGIN + number * STEP + timedelta(seconds=second) for second in range(0, 600, every)]
    rows = [(time, "a", 0.1 * n) for n, time in enumerate(times)] + [(times[3], "b", 1.0)]
    when, keys, values = zip(*rows, strict=True)
    table = pa.table({"t": pa.array(when, pa.timestamp("us", tz="UTC")), "k": keys, "v": values})
    folder.mkdir(exist_ok=True)
    pq.write_table(table, folder / f"{BEGIN + number * STEP:%H%M}.parquet")


def test_bulk_stepwise_and_replaced(tmp_path: Path) -> None:
    data, end = tmp_path / "data", BEGIN + BATCHES * STEP
    pipeline = Pipeline(
        name="p", source=sources.files(str(data / "{start:%H%M}.parquet"), event_time="t"), schedule="10m", start=BEGIN, keys=["k"],
        windows={"visit": windows.session("1m"), "hour": windows.tumbling("1h")},
        aggregates={"n": agg.count(), "sum": agg.sum("v"), "spread": agg.stddev("v"), "last": agg.last("v"), "list": agg.collect("v")},
    )  # fmt: skip
    for number in range(BATCHES):
        write(data, number)
    steps, whole = tmp_path / "steps", tmp_path / "whole"
    for at in range(BATCHES):
        run(pipeline, root=steps, start=BEGIN + at * STEP, end=BEGIN + (at + 1) * STEP, spark=HERE)
    write(data, 4, every=20)
    run(pipeline, root=steps, start=BEGIN + 4 * STEP, end=BEGIN + 5 * STEP, spark=HERE)
    run(pipeline, root=whole, start=BEGIN, end=end, spark=HERE)
    for window in pipeline.windows:
        ours, theirs = (read(pipeline, window, root=root, provisional=True) for root in (steps, whole))
        assert ours.equals(theirs)
    assert len(read(pipeline, "visit", root=steps)) == BATCHES
    store = bind(pipeline, steps).store
    ledger = pending_window(bind(pipeline, steps), "visit").published.ledger
    assert ledger is not None
    assert ledger.entries.note_of(len(ledger.entries) - 1)
    notes = [pq.read_table(Path(store.root, "carry", path)) for path in ledger.entries.note_of(len(ledger.entries) - 1) or ()]
    assert sum(len(note) for note in notes) < sum(note["rows"].to_numpy().sum() for note in notes) / 10
