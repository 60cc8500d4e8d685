"""A column that older or some files lack: declared it is null there, undeclared it is an error."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from muntin import Pipeline, read, run, sources, windows
from muntin import aggregates as agg
from muntin.errors import MuntinError
from muntin.tasks import Local
from tests.case_counts import some
from tests.source_options import grouped

START, DAY = datetime(2024, 1, 1, tzinfo=UTC), timedelta(days=1)
COLUMNS = {"country": "VARCHAR", "tax": "DOUBLE"}


def flow(folder: Path, suffix: str, **options: object) -> Pipeline:
    path = str(folder / f"{{start:%Y-%m-%d}}*.{suffix}")
    return Pipeline(
        name="flow",
        source=sources.files(path, **grouped(event_time="at", types={"n": "BIGINT"}, **options)),
        schedule="@daily",
        start=START,
        keys=["country"],
        windows={"day": windows.tumbling("1d")},
        aggregates={"n": agg.sum("n"), "tax": agg.sum("tax"), "all": agg.count()},
    )


def write(path: Path, rows: list[dict[str, object]]) -> None:
    path.parent.mkdir(exist_ok=True)
    table = pa.Table.from_pylist(rows)
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    elif path.suffix == ".csv":
        pyarrow.csv.write_csv(table, path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def at(day: int, hour: int) -> str:
    return f"{START + day * DAY + timedelta(hours=hour):%Y-%m-%dT%H:%M:%SZ}"


def both(folder: Path, suffix: str, *, whole: bool) -> None:
    """Day 1: a file without the columns. Day 2: one without, one with. `whole`: all files have them."""
    none = {"country": None, "tax": None} if whole else {}
    write(folder / f"2024-01-01.{suffix}", [{"at": at(0, hour), "n": hour, **none} for hour in range(4)])
    write(folder / f"2024-01-02_a.{suffix}", [{"at": at(1, hour), "n": hour, **none} for hour in range(4)])
    write(folder / f"2024-01-02_b.{suffix}", [{"at": at(1, hour), "tax": hour / 8, "n": hour, "country": "at"} for hour in range(4)])


@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl"])
def test_declared_it_is_null_where_a_file_lacks_it(tmp_path: Path, suffix: str) -> None:
    tables = []
    for name, whole in (("some", False), ("all", True)):
        both(tmp_path / name, suffix, whole=whole)
        pipeline = flow(tmp_path / name, suffix, columns=COLUMNS)
        run(pipeline, root=tmp_path / f"root_{name}", start=START, end=START + 2 * DAY, spark=Local(2))
        tables.append(read(pipeline, "day", root=tmp_path / f"root_{name}"))
    assert tables[0].equals(tables[1])
    assert [(row["country"], row["n"], row["tax"], row["all"]) for row in tables[0].to_pylist()] == [
        ("at", 6, 0.75, 4),
        (None, 6, None, 4),
        (None, 6, None, 4),
    ]


@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl"])
def test_undeclared_it_is_refused(tmp_path: Path, suffix: str) -> None:
    both(tmp_path / "some", suffix, whole=False)
    for day in (0, 1):
        with pytest.raises(MuntinError, match=r"country|tax"):
            run(
                flow(tmp_path / "some", suffix),
                root=tmp_path / "root",
                start=START + day * DAY,
                end=START + (day + 1) * DAY,
                spark=Local(2),
            )


def test_a_type_that_is_none_is_refused(tmp_path: Path) -> None:
    both(tmp_path / "some", "csv", whole=False)
    pipeline = flow(tmp_path / "some", "csv", columns={**COLUMNS, "tax": "DOUBEL"})
    with pytest.raises(MuntinError, match="DOUBEL"):
        run(pipeline, root=tmp_path / "root", start=START, end=START + DAY, spark=Local(2))


def test_the_column_is_used_after_it_came(tmp_path: Path) -> None:
    both(tmp_path / "some", "parquet", whole=False)
    pipeline = replace(flow(tmp_path / "some", "parquet", columns=COLUMNS), keys=[], where="coalesce(country, 'none') != 'de'")
    run(pipeline, root=tmp_path / "root", start=START, end=START + 2 * DAY, spark=Local(2))
    assert read(pipeline, "day", root=tmp_path / "root")["all"].to_pylist() == [4, 8]


@pytest.mark.parametrize("suffix", some(["parquet", "csv", "jsonl"], one_in=3))
def test_many_batches_at_once_are_what_they_are_one_by_one(tmp_path: Path, suffix: str) -> None:
    for day in range(10):
        more = {"tax": day / 8, "country": "at"} if day % 3 else {}
        write(tmp_path / "data" / f"{START + day * DAY:%Y-%m-%d}.{suffix}", [{"at": at(day, hour), "n": hour, **more} for hour in range(3)])
    pipeline = flow(tmp_path / "data", suffix, columns=COLUMNS)
    run(pipeline, root=tmp_path / "bulk", start=START, end=START + 10 * DAY, spark=Local(2))
    for day in range(10):
        run(pipeline, root=tmp_path / "single", start=START + day * DAY, end=START + (day + 1) * DAY, spark=Local(2))
    bulk, single = (read(pipeline, "day", root=tmp_path / root) for root in ("bulk", "single"))
    assert bulk.equals(single)
    assert {(row["country"], row["tax"] is None) for row in bulk.to_pylist()} == {("at", False), (None, True)}
