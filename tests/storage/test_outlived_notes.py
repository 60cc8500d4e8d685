"""Vacuum removes notes of what was open that no ledger names, and only these."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from pipelines import Pipeline, read, run, sources, windows
from pipelines import aggregates as agg
from pipelines.definition.durations import UNITS
from pipelines.jobs.upkeep.vacuum import vacuum

BEGIN, STEP = datetime(2024, 1, 1, tzinfo=UTC), timedelta(hours=1)


def write(folder: Path, number: int, values: list[int]) -> None:
    times = pa.array([BEGIN + number * STEP] * len(values), pa.timestamp("us", tz="UTC"))
    pq.write_table(pa.table({"t": times, "v": values}), folder / f"{BEGIN + number * STEP:%H}.parquet")


def test_notes_that_count_stay(tmp_path: Path, spark: object) -> None:
    source = sources.files(str(tmp_path / "{start:%H}.parquet"), event_time="t")
    pipeline = Pipeline(
        name="p", source=source, schedule="1h", start=BEGIN, windows={"w": windows.by_count(3)}, aggregates={"sum": agg.sum("v")}
    )  # fmt: skip
    for number, values in enumerate([[1, 2], [3, 4], [5]]):
        write(tmp_path, number, values)
        run(pipeline, root=tmp_path / "state", start=BEGIN + number * STEP, end=BEGIN + (number + 1) * STEP, spark=spark)
    write(tmp_path, 1, [3, 40])
    run(pipeline, root=tmp_path / "state", start=BEGIN + STEP, end=BEGIN + 2 * STEP, spark=spark)
    later = datetime.now(UTC) + timedelta(days=3)
    removed = {one.what: one.files for one in vacuum(tmp_path / "state", older_than_us=UNITS["d"], now=later)}
    assert removed["outlived notes"] == 2
    notes = sorted(path.name for path in (tmp_path / "state").rglob("carry/**/*.parquet"))
    assert len(notes) == 3
    write(tmp_path, 3, [6])
    run(pipeline, root=tmp_path / "state", start=BEGIN + 3 * STEP, end=BEGIN + 4 * STEP, spark=spark)
    assert [row["sum"] for row in read(pipeline, "w", root=tmp_path / "state").to_pylist()] == [6, 51]
