"""A definition that changes: what it needs of the states is there already, and nothing is read again."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from muntin import Pipeline, aggregates, read, run, sources, windows
from tests.storage.three_batches import HERE

START = datetime(2024, 1, 1, tzinfo=UTC)
STEP = timedelta(minutes=1)
BATCHES = 4


def pipeline(folder: Path) -> Pipeline:
    for batch in range(BATCHES):
        start = START + batch * STEP
        times = [start + timedelta(seconds=s) for s in (-40, 0, 5, 59)]
        pq.write_table(pa.table({"t": pa.array(times, pa.timestamp("us", tz="UTC")), "v": [1, 2, 3, 4]}), folder / f"{start:%H%M}.parquet")
    return Pipeline(
        name="changing",
        source=sources.files(f"{folder}/{{start:%H%M}}.parquet", event_time="t"),
        schedule=STEP,
        start=START,
        windows={"w": windows.sliding("40s", step="20s", grace="1m")},
        aggregates={"v": aggregates.sum("v")},
    )


def test_another_grace_and_a_new_window_derive_all_batches_from_the_states(tmp_path: Path) -> None:
    before = pipeline(tmp_path)
    run(before, root=tmp_path / "root", start=START, end=START + BATCHES * STEP, spark=HERE)
    changed = {"w": windows.sliding("40s", step="20s"), "quiet": windows.tumbling("1m", grace="10s")}
    after = replace(before, windows=changed, aggregates={"v": aggregates.sum("v"), "mean": aggregates.mean("v")})
    # all but the last batch lose their files: their states must do
    for batch in range(BATCHES - 1):
        (tmp_path / f"{START + batch * STEP:%H%M}.parquet").unlink()
    report = run(after, root=tmp_path / "root", start=START + (BATCHES - 1) * STEP, end=START + BATCHES * STEP, spark=HERE)
    assert {name: len(starts) for name, starts in report.published.items()} == {"w": BATCHES, "quiet": BATCHES}

    pipeline(tmp_path)  # brings the files back
    run(after, root=tmp_path / "clean", start=START, end=START + BATCHES * STEP, spark=HERE)
    for name in changed:
        ours, clean = read(after, name, root=tmp_path / "root"), read(after, name, root=tmp_path / "clean")
        assert len(ours) > 0
        assert ours.equals(clean)
