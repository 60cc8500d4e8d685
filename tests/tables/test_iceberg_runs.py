"""Runs over a table of Iceberg: beside the same rows in files, what comes late, types, deleted rows, and what plan and check tell."""

import os
import uuid
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import Pipeline, read, sinks, sources, windows
from muntin import aggregates as agg
from muntin.errors import SourceError
from muntin.jobs.check import examined
from muntin.jobs.inspect.plan import plan
from muntin.testing import run_here
from tests.source_options import grouped
from tests.tables.iceberg_tables import Lake

START = datetime(2024, 5, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)


def rows(hour: int, *values: float, **more: Any) -> pa.Table:
    times = [START + hour * HOUR + timedelta(minutes=number) for number, _ in enumerate(values)]
    columns = {"at": pa.array(times, pa.timestamp("us", "UTC")), "x": pa.array(values, pa.float64())}
    return pa.table({**columns, **{name: [value] * len(times) for name, value in more.items()}})


def hourly(**more: Any) -> Pipeline:
    source = sources.iceberg("lake", "shop.orders", **grouped(**{"event_time": "at", **more.pop("source", {})}))
    known = {"keys": [], "windows": {"hour": windows.tumbling("1h")}, "aggregates": {"n": agg.count(), "total": agg.sum("x")}}
    return Pipeline(name="hourly", source=source, schedule="1h", **{"start": START, **known, **more})


def run(pipeline: Pipeline, root: object, begin: int, end: int) -> Any:
    return run_here(pipeline, root=root, start=START + begin * HOUR, end=START + end * HOUR)


def totals(pipeline: Pipeline, root: object) -> list[float]:
    return read(pipeline, "hour", root=root).sort_by("window_start")["total"].to_pylist()


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lake:
    lake = Lake(tmp_path)
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__URI", lake.uri)
    return lake


@pytest.fixture
def three(lake: Lake) -> Lake:
    for hour, value in enumerate((1, 2, 4)):
        lake.append(rows(hour, value), START + hour * HOUR + HOUR / 2)
    return lake


def test_the_next_run_reads_what_came_late(tmp_path: Path, three: Lake) -> None:
    pipeline, root = hourly(), tmp_path / "state"
    run(pipeline, root, 0, 3)
    three.append(rows(2, 8), START + 2.9 * HOUR)  # the interval was at work
    three.compact(START + 2.95 * HOUR)
    planned = plan(pipeline, root=root, start=START, end=START + 3 * HOUR)
    assert [batch.reading for batch in planned.batches] == ["unchanged", "unchanged", "changed"]
    assert [batch.interval_start for batch in run(pipeline, root, 0, 1).batches] == [START, START + 2 * HOUR]
    assert totals(pipeline, root) == [1, 2, 12]
    assert [batch.interval_start for batch in run(pipeline, root, 0, 1).batches] == [START]


def test_what_expired_stays_as_it_was_read(tmp_path: Path, three: Lake) -> None:
    pipeline, root = hourly(), tmp_path / "state"
    run(pipeline, root, 0, 3)
    three.append(rows(3, 8), START + 3.5 * HOUR)
    numbers = [each.snapshot_id for each in three.table().history()]
    three.table().maintenance.expire_snapshots().by_ids(numbers[:2]).commit()
    run(pipeline, root, 3, 4)
    assert totals(pipeline, root) == [1, 2, 4, 8]
    with pytest.raises(SourceError, match=f"the log begins with snapshot {numbers[2]}"):
        run(pipeline, root, 0, 1)
    assert totals(pipeline, root) == [1, 2, 4, 8]


def test_a_definition_is_checked_by_the_first_files(tmp_path: Path, three: Lake) -> None:
    assert len(examined(hourly(), root=tmp_path / "state").files) == 1


def test_of_a_table_without_rows_there_is_nothing_to_check(tmp_path: Path, lake: Lake) -> None:
    lake.make(rows(0, 1).schema)
    assert examined(hourly(), root=tmp_path / "state").files == ()


def test_columns_that_come_later_and_types_that_widen(tmp_path: Path, lake: Lake) -> None:
    from pyiceberg.types import DoubleType, LongType

    first = rows(0, 1).append_column("y", pa.array([2**31 - 1], pa.int32()))
    lake.append(first, START)
    with lake.table().update_schema() as schema:
        schema.update_column("y", LongType())
        schema.add_column("more", DoubleType())
    lake.append(rows(1, 2).append_column("y", pa.array([2**40], pa.int64())).append_column("more", pa.array([0.5])), START + HOUR)
    pipeline = hourly(aggregates={"total": agg.sum("y"), "more": agg.sum("more")})
    run(pipeline, tmp_path / "state", 0, 2)
    assert totals(pipeline, tmp_path / "state") == [2**31 - 1, 2**40]
    assert read(pipeline, "hour", root=tmp_path / "state").sort_by("window_start")["more"].to_pylist() == [None, 0.5]


MONEY, AT = Decimal("1234567890123456789012345678.0123456789"), datetime(1583, 1, 1, 1, 2, 3, 4, UTC)
VALUES: Mapping[str, tuple[pa.DataType, object, object]] = {  # type, value, value in states
    "flag": (pa.bool_(), True, True),
    "int": (pa.int32(), -(2**31), -(2**31)),
    "long": (pa.int64(), 2**63 - 1, 2**63 - 1),
    "float": (pa.float32(), 0.5, 0.5),
    "double": (pa.float64(), -0.1, -0.1),
    "money": (
        pa.decimal128(38, 10),
        Decimal("1234567890123456789012345678.0123456789"),
        Decimal("1234567890123456789012345678.0123456789"),
    ),
    "day": (pa.date32(), date(1, 1, 1), date(1, 1, 1)),
    "clock": (pa.time64("us"), time(23, 59, 59, 999999), "23:59:59.999999"),
    "moment": (pa.timestamp("us", "UTC"), AT, AT),
    "local": (pa.timestamp("us"), datetime(2024, 5, 1, 2, 30), datetime(2024, 5, 1, 2, 30, tzinfo=UTC)),  # noqa: DTZ001
    "text": (pa.string(), "a\0b ü", "a\0b ü"),
    "bytes": (pa.binary(), b"\0\xff", b"\0\xff"),
    "fixed": (pa.binary(3), b"\0\xff1", b"\0\xff1"),
    "id": (pa.uuid(), uuid.UUID(int=2**127 + 1).bytes, str(uuid.UUID(int=2**127 + 1))),
}


@pytest.mark.parametrize("name", VALUES)
def test_values_of_each_type_are_carried_as_they_are(tmp_path: Path, lake: Lake, name: str) -> None:
    kind, value, wanted = VALUES[name]
    storage = pa.binary(16) if name == "id" else kind
    column = pa.array([value, None], storage)
    lake.append(rows(0, 1, 2).append_column(name, column if name != "id" else column.cast(kind)), START)
    pipeline = hourly(keys=[name])
    run(pipeline, tmp_path / "state", 0, 1)
    found = read(pipeline, "hour", root=tmp_path / "state").sort_by("total")
    assert found[name].to_pylist() == [wanted, None]


def test_a_dimension(tmp_path: Path, lake: Lake) -> None:
    events = pa.table({"at": [START], "currency": ["EUR"], "x": [2.0]})
    pq.write_table(events, tmp_path / "00.parquet")
    dimension = pa.table({"since": pa.array([START - HOUR], pa.timestamp("us", "UTC")), "currency": ["EUR"], "rate": [1.5]})
    lake.append(dimension, START)
    pipeline = Pipeline(
        name="rated",
        source=sources.files(f"{tmp_path}/{{start:%H}}.parquet", event_time="at"),
        schedule="1h",
        start=START,
        lookups={"rates": sources.lookup(sources.iceberg("lake", "shop.orders"), keys=["currency"], since="since")},
        windows={"hour": windows.tumbling("1h")},
        aggregates={"total": agg.sum("x * rates.rate")},
    )
    run(pipeline, tmp_path / "state", 0, 1)
    assert totals(pipeline, tmp_path / "state") == [3.0]


def test_rows_that_are_marked_as_deleted_are_refused(tmp_path: Path, three: Lake) -> None:
    three.mark_as_deleted(START + 2.8 * HOUR)
    pipeline, root = hourly(), tmp_path / "state"
    run(pipeline, root, 0, 2)
    with pytest.raises(SourceError, match=r"snapshot \d+ \(delete, 2024-05-01T02:48\) removed or changed rows"):
        run(pipeline, root, 2, 3)
    late = hourly(start=START + 3 * HOUR)
    with pytest.raises(SourceError, match=r"catalog lake: rows are marked as deleted \(by .+-deletes.parquet\).+write.delete.mode"):
        run(late, tmp_path / "late", 3, 4)


def test_windows_that_are_mirrored_are_a_table_for_another_pipeline(tmp_path: Path, lake: Lake) -> None:
    lake.append(rows(0, 1, 2), START)
    first = hourly(to=sinks.iceberg("lake", "shop.{window}"))
    run(first, tmp_path / "state", 0, 1)
    second = Pipeline(
        name="again",
        source=sources.iceberg("lake", "shop.hour", event_time="window_start"),
        schedule="36500d",  # snapshots of a mirror are of the present
        start=START,
        windows={"day": windows.tumbling("1d")},
        aggregates={"total": agg.sum("total")},
    )
    run_here(second, root=tmp_path / "state", start=START, end=START + 36500 * 24 * HOUR)
    assert read(second, "day", root=tmp_path / "state", provisional=True)["total"].to_pylist() == [3.0]


def test_in_an_object_store(bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not bucket.startswith("s3://"):
        pytest.skip("the catalog of this test reaches S3")
    lake = Lake(tmp_path, f"{bucket}/some where")
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__URI", lake.uri)
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__S3__ENDPOINT", os.environ["AWS_ENDPOINT_URL"])
    for hour in range(2):
        lake.append(rows(hour, hour), START + hour * HOUR)
    run(hourly(), f"{bucket}/state", 0, 2)
    assert totals(hourly(), f"{bucket}/state") == [0, 1]
