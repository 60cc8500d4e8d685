"""Arrival: by file and row unless a column says otherwise; a hole that counts as an empty batch."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from muntin import Pipeline, aggregates, read, run, sources, windows
from tests.source_options import grouped
from tests.storage.three_batches import HERE

START = datetime(2024, 1, 1, tzinfo=UTC)
STEP = timedelta(minutes=1)


def pipeline(folder: Path, **more: object) -> Pipeline:
    source = sources.files(f"{folder}/{{start:%H%M}}*.parquet", **grouped(event_time="t", **more.pop("source", {})))  # type: ignore[arg-type]
    return Pipeline(
        name="arrival",
        source=source,
        schedule=STEP,
        start=START,
        windows={"w": windows.tumbling("1m")},
        aggregates={"first": aggregates.first("v"), "last": aggregates.last("v")},
        **more,  # type: ignore[arg-type]
    )


def write(path: Path, start: datetime, values: list[str], numbers: list[int]) -> None:
    times = pa.array([start] * len(values), pa.timestamp("us", tz="UTC"))
    pq.write_table(pa.table({"t": times, "v": values, "number": numbers}), path)


def test_a_column_orders_the_rows_of_a_batch_across_its_files(tmp_path: Path) -> None:
    write(tmp_path / "0000-a.parquet", START, ["a", "b"], [4, 2])
    write(tmp_path / "0000-b.parquet", START, ["c", "d"], [1, 3])
    by_file, by_column = pipeline(tmp_path), pipeline(tmp_path, source={"arrival_order": "number"})
    for given, (first, last) in ((by_file, ("a", "d")), (by_column, ("c", "a"))):
        run(given, root=tmp_path / "root", start=START, end=START + STEP, spark=HERE)
        assert read(given, "w", root=tmp_path / "root").select(["first", "last"]).to_pylist() == [{"first": first, "last": last}]
