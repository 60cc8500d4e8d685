"""Delta tables with marks of deleted rows, renamed columns and other features, as Spark writes them; what is read is what Spark reads."""

import json
import string
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shutil import copytree
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from pyroaring import BitMap64

from muntin import Pipeline, read, run, sources, windows
from muntin import aggregates as agg
from muntin.errors import SourceError
from muntin.files.paths import AnyPath, path_of
from muntin.sources.logged.table_checkpoint import checkpoint_files
from tests.case_counts import at_length
from tests.conftest import JARS
from tests.tables.delta_of_spark import TABLES, recorded, write
from tests.tables.delta_tables import dated, without_log_before

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Values = dict[str, list[float | None]]
START = datetime(2024, 5, 1, tzinfo=UTC)
REFUSED = {"variant": "variantType"}
READ = [name for name in TABLES if name not in REFUSED]
STEPWISE = ["marked", "marked and fed", "mapped by name and fed"]


def at(hours: float) -> datetime:
    return START + timedelta(hours=hours)


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Values]:
    folder = tmp_path_factory.mktemp("tables")
    return folder, recorded(folder)


def made(folder: Path, name: str, here: Path) -> Path:
    """A copy of a table, whose commits came an hour apart."""
    copytree(folder / name, here / name)
    for version in range(len([*(here / name / "_delta_log").glob("*.json")])):
        if (here / name / "_delta_log" / f"{version:020d}.json").exists():
            dated(here / name, at(version + 0.1), version)
    return here / name


def values(table: AnyPath, root: Path, *, steps: int = 0, spark: "SparkSession | None" = None) -> list[float]:
    """The values that windows hold: of the table read at once, or of its changes, in so many batches."""
    changes = {"changes": True, "rows": sources.events(id="id", within="6d")} if steps else {}
    source = sources.table(str(table), event_time=sources.at("at", timezone="UTC") if table.name == "without a zone" else "at", **changes)  # type: ignore[arg-type]
    results = {"ids": agg.collect_sorted("id"), "values": agg.collect(TABLES[table.name].value)}
    schedule = {"schedule": "1h" if steps else "1d", "start": START}
    pipeline = Pipeline(name="p", source=source, windows={"day": windows.tumbling("1d")}, aggregates=results, **schedule)  # type: ignore[arg-type]
    for step in range(steps or 1):
        run(pipeline, root=root, start=at(step), end=at(step + 1 if steps else 24), spark=spark)
    [row] = read(pipeline, "day", root=root, provisional=True).to_pylist()
    assert len(row["ids"]) == len({*row["ids"]})
    return wanted(row["values"])


def without_checkpoint(table: Path) -> None:
    for file in (table / "_delta_log").glob("*checkpoint*"):
        file.unlink()


def mark(table: Path, *rows: int) -> None:
    """Mark rows of a table of one file and one commit as deleted, by a vector in the log."""
    vector = (1681511377).to_bytes(4, "little") + BitMap64(rows).serialize()
    vector += b"\0" * (-len(vector) % 4)
    [log] = (table / "_delta_log").glob("*.json")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    for line in lines:
        if "add" in line:
            line["add"]["deletionVector"] = {
                "storageType": "i",
                "pathOrInlineDv": z85(vector),
                "sizeInBytes": len(vector),
                "cardinality": len(rows),
            }
        if "protocol" in line:
            features = {"readerFeatures": ["deletionVectors"], "writerFeatures": ["deletionVectors"]}
            line["protocol"] = {"minReaderVersion": 3, "minWriterVersion": 7, **features}
    log.write_text("\n".join(map(json.dumps, lines)))


def z85(data: bytes) -> str:
    signs = string.digits + string.ascii_lowercase + string.ascii_uppercase + ".-:+=^!/*?&<>()[]{}@%$#"
    numbers = [int.from_bytes(data[at : at + 4], "big") for at in range(0, len(data), 4)]
    return "".join(signs[number // 85**power % 85] for number in numbers for power in range(4, -1, -1))


def wanted(values: list[float | None]) -> list[float]:
    return sorted(value for value in values if value is not None)


@pytest.mark.parametrize("name", READ)
def test_a_table_is_read_as_spark_reads_it(tables: tuple[Path, Values], tmp_path: Path, name: str) -> None:
    folder, right = tables
    assert values(made(folder, name, tmp_path), tmp_path / "state") == wanted(right[name])


@pytest.mark.parametrize("name", [name for name in TABLES if name.startswith("mapped") and "partitions" in name])
def test_partitions_under_other_names_are_those_of_the_log(tables: tuple[Path, Values], tmp_path: Path, name: str) -> None:
    source = sources.table(str(made(tables[0], name, tmp_path)), event_time="at")
    results = {"ids": agg.collect_sorted("id")}
    towns = Pipeline(
        name="p", source=source, windows={"day": windows.tumbling("1d")}, keys=["town"], aggregates=results, schedule="1d", start=START
    )
    run(towns, root=tmp_path / "state", start=START, end=at(24))
    ids = {row["town"]: row["ids"] for row in read(towns, "day", root=tmp_path / "state").to_pylist()}
    assert ids == {
        None: [101],
        "a/b=c#d%41 é": [100],
        "c1": [*(number for number in range(1, 30, 3) if number != 7), 102],
        "c2": [number for number in range(2, 30, 3) if number != 2],
    }


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_refused_with_the_name_of_the_feature(tables: tuple[Path, Values], tmp_path: Path, name: str) -> None:
    with pytest.raises(SourceError, match=rf"{REFUSED[name]}.*read it with sources.spark"):
        values(made(tables[0], name, tmp_path), tmp_path / "state")


@pytest.mark.parametrize("name", [name if name in STEPWISE else pytest.param(name, marks=at_length) for name in READ])
def test_rows_that_are_marked_later_are_taken_back(tables: tuple[Path, Values], tmp_path: Path, name: str) -> None:
    folder, right = tables
    table = made(folder, name, tmp_path)
    assert values(table, tmp_path / "state", steps=DeltaTable(table).version() + 1) == wanted(right[name])


@pytest.mark.parametrize("name", ["marked", "checkpoints of the second kind"])
def test_a_checkpoint_says_which_rows_are_deleted(tables: tuple[Path, Values], tmp_path: Path, name: str) -> None:
    table = made(tables[0], name, tmp_path)
    for version in range(5):
        (table / "_delta_log" / f"{version:020d}.json").unlink()
    assert values(table, tmp_path / "state") == wanted(tables[1][name])


def test_commits_behind_a_checkpoint_delete_rows(tables: tuple[Path, Values], tmp_path: Path) -> None:
    table = made(tables[0], "marked", tmp_path)
    without_checkpoint(table)
    without_log_before(table, 3)
    assert values(table, tmp_path / "state") == wanted(tables[1]["marked"])


def test_a_log_that_begins_late_has_a_checkpoint(tables: tuple[Path, Values], tmp_path: Path) -> None:
    table = made(tables[0], "marked", tmp_path)
    without_checkpoint(table)
    (table / "_delta_log" / f"{0:020d}.json").unlink()
    with pytest.raises(SourceError, match="no checkpoint says which files the table had at version 5; bring back the checkpoint"):
        checkpoint_files(str(table), 1, 5)


@pytest.mark.parametrize(
    ("size", "said"), [(None, "gone from .* since version"), (20, "which rows of .*parquet are deleted, and is damaged")]
)
def test_a_vector_that_is_gone_or_damaged_is_an_error(tables: tuple[Path, Values], tmp_path: Path, size: int | None, said: str) -> None:
    table = made(tables[0], "marked", tmp_path)
    for file in table.glob("deletion_vector_*.bin"):
        file.write_bytes(file.read_bytes()[:size]) if size else file.unlink()
    with pytest.raises(SourceError, match=said):
        values(table, tmp_path / "state")


def test_a_table_that_is_looked_up_has_no_deleted_rows(tables: tuple[Path, Values], tmp_path: Path) -> None:
    folder, right = tables
    table = made(folder, "marked", tmp_path)
    ids = pa.table({"at": [at(10.5)] * 31, "id": [*range(30), 100]})
    write_deltalake(tmp_path / "ids", ids)
    dated(tmp_path / "ids", at(0.1))
    lookup = sources.lookup(sources.table(str(table)), keys=["id"], since="at")
    pipeline = Pipeline(
        name="looking",
        source=sources.table(str(tmp_path / "ids"), event_time="at"),
        schedule="1d",
        start=START,
        lookups={"there": lookup},
        where="there IS NOT NULL",
        windows={"day": windows.tumbling("1d")},
        aggregates={"values": agg.collect("there.x")},
    )
    run(pipeline, root=tmp_path / "state", start=START, end=at(24))
    assert wanted(read(pipeline, "day", root=tmp_path / "state", provisional=True)["values"].to_pylist()[0]) == wanted(right["marked"])


def test_a_table_of_spans_has_no_deleted_rows(tmp_path: Path) -> None:
    spans = pa.table({"since": [at(0), at(1), at(2)], "until": [at(1), at(2), at(3)]})
    write_deltalake(tmp_path / "spans", spans)
    mark(tmp_path / "spans", 0, 2)
    write_deltalake(tmp_path / "rows", pa.table({"at": [at(hour) for hour in (0.5, 1.5, 2.5)]}))
    dated(tmp_path / "rows", at(0.1))
    given = windows.given(sources.table(str(tmp_path / "spans")), start="since", end="until")
    source = sources.table(str(tmp_path / "rows"), event_time="at")
    pipeline = Pipeline(name="spans", source=source, schedule="1d", start=START, windows={"span": given}, aggregates={"n": agg.count()})
    run(pipeline, root=tmp_path / "state", start=START, end=at(24))
    assert read(pipeline, "span", root=tmp_path / "state", provisional=True)["window_start"].to_pylist() == [at(1)]


@at_length
def test_in_an_object_store(bucket: str, tables: tuple[Path, Values], tmp_path: Path) -> None:
    table = made(tables[0], "marked", tmp_path)
    for file in filter(Path.is_file, table.rglob("*")):
        path_of(bucket, "marked", str(file.relative_to(table))).write_bytes(file.read_bytes())
    assert values(path_of(bucket, "marked"), tmp_path / "state", steps=6) == wanted(tables[1]["marked"])


@at_length
def test_workers_of_spark_leave_deleted_rows_out(tables: tuple[Path, Values], tmp_path: Path, spark: "SparkSession") -> None:
    folder, right = tables
    table = made(folder, "marked", tmp_path)
    assert values(table, tmp_path / "state", steps=DeltaTable(table).version() + 1, spark=spark) == wanted(right["marked"])


@at_length
def test_what_the_newest_delta_writes_is_read(tmp_path: Path) -> None:
    if not any("delta-spark" in jar.name for jar in JARS):
        pytest.skip("no jar of Delta: bash setup/jars.sh fetches it where Maven is")
    (tmp_path / "new").mkdir()
    right = write(tmp_path / "new")
    assert right == recorded(tmp_path / "old")
    for name in READ:
        table = made(tmp_path / "new", name, tmp_path)
        assert values(table, tmp_path / "state" / name, steps=DeltaTable(table).version() + 1) == wanted(right[name]), name
