"""Which files of a Delta table are a batch: by the times of its commits, on a log that the tests write."""

import json
from collections.abc import Sequence
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake

from muntin import sources
from muntin.definition.schedule import Interval
from muntin.errors import SourceError
from muntin.files.some_rows import file_of
from muntin.sources.logged.deletion_vectors import rows_sql
from muntin.sources.logged.numbered_fields import selected
from muntin.sources.logged.table_files import in_full, table_files
from muntin.sources.tables import OnChange, TableSource
from tests.source_options import grouped
from tests.tables.delta_tables import append, dated, without_log_before

HOUR_US = 3_600_000_000
START = datetime(2024, 5, 1, tzinfo=UTC)
START_US = int(START.timestamp()) * 1_000_000


def at(hours: float) -> datetime:
    return START + timedelta(hours=hours)


def rows(*values: float, city: str = "Graz") -> pa.Table:
    return pa.table({"at": pa.array([START] * len(values), pa.timestamp("us", "UTC")), "city": [city] * len(values), "x": list(values)})


def hours(count: int) -> list[Interval]:
    return [Interval(START_US + hour * HOUR_US, START_US + (hour + 1) * HOUR_US) for hour in range(count)]


def of(root: Path, on_change: OnChange = "error") -> TableSource:
    return in_full(sources.table(str(root), event_time="at", on_change=on_change))


def read(root: Path, count: int, on_change: OnChange = "error") -> list[list[float]]:
    """The values of `x` in the batches of the first hours."""
    found = table_files(of(root, on_change), hours(count), START_US)
    return [_values([file.path for file in files]) for files in found.values()]


def _values(paths: Sequence[str]) -> list[float]:
    return [value for path in paths for value in pq.read_table(path, columns=["x"], partitioning=None)["x"].to_pylist()]


def test_a_commit_belongs_to_the_interval_in_which_it_was_made(tmp_path: Path) -> None:
    # hours      -1    0         1        2         3
    # commits     |1   |2  |3    |4       |         |5
    # batches          1, 2, 3    4       none       5
    for value, hour in ((1, -1), (2, 0), (3, 0.5), (4, 1), (5, 3)):
        append(tmp_path, rows(value), at(hour))
    assert read(tmp_path, 4) == [[1, 2, 3], [4], [], [5]]


def test_a_batch_is_the_same_whichever_batches_are_asked_for_with_it(tmp_path: Path) -> None:
    for value, hour in enumerate((0.1, 1.1, 1.2, 2.9, 4)):
        append(tmp_path, rows(value), at(hour))
    together = table_files(of(tmp_path), hours(5), START_US)
    for interval in reversed(hours(5)):
        assert table_files(of(tmp_path), [interval], START_US)[interval] == together[interval]


def test_files_are_named_by_their_versions(tmp_path: Path) -> None:
    for value, hour in enumerate((0, 1, 1.5)):
        append(tmp_path, rows(value), at(hour))
    found = table_files(of(tmp_path), hours(2), START_US).values()
    assert [[file.checksum for file in files] for files in found] == [["version 0"], ["versions 1 to 2"] * 2]


def test_a_clock_that_went_wrong_moves_a_commit_and_loses_none(tmp_path: Path) -> None:
    # versions   0     1     2 (its writer's clock is an hour slow)   3
    # hours      0     2     1                                        3
    for value, hour in ((0, 0), (1, 2), (2, 1), (3, 3)):
        append(tmp_path, rows(value), at(hour))
    assert read(tmp_path, 4) == [[0], [2], [1], [3]]


def test_in_the_first_batch_too(tmp_path: Path) -> None:
    # versions   0     1     2 (slow)   3
    # hours      0     1     0.5        2
    for value, hour in ((0, 0), (1, 1), (2, 0.5), (3, 2)):
        append(tmp_path, rows(value), at(hour))
    assert read(tmp_path, 3) == [[0, 2], [1], [3]]


def test_a_compaction_adds_no_rows(tmp_path: Path) -> None:
    for value, hour in ((1, 0), (2, 1), (3, 1.1)):
        append(tmp_path, rows(value), at(hour))
    DeltaTable(tmp_path).optimize.compact()
    dated(tmp_path, at(2))
    append(tmp_path, rows(4), at(2.5))
    assert read(tmp_path, 3) == [[1], [2, 3], [4]]


def test_of_a_table_that_was_compacted_before_the_first_batch_holds_each_row_once(tmp_path: Path) -> None:
    for value, hour in ((1, -3), (2, -2)):
        append(tmp_path, rows(value), at(hour))
    DeltaTable(tmp_path).optimize.compact()
    dated(tmp_path, at(-1))
    append(tmp_path, rows(3), at(0))
    assert [sorted(batch) for batch in read(tmp_path, 2)] == [[1, 2, 3], []]


def test_what_was_deleted_before_the_first_batch_is_not_in_it(tmp_path: Path) -> None:
    append(tmp_path, rows(1, 2), at(-2))
    DeltaTable(tmp_path).delete("x = 1")
    dated(tmp_path, at(-1))
    assert read(tmp_path, 1) == [[2]]


@pytest.mark.parametrize("how", ["delete", "update", "overwrite", "restore"])
def test_rows_that_were_removed_or_changed_are_an_error(tmp_path: Path, how: str) -> None:
    append(tmp_path, rows(1, 2), at(0))
    append(tmp_path, rows(3), at(1))
    _change(tmp_path, how)
    version = dated(tmp_path, at(2))
    assert read(tmp_path, 2) == [[1, 2], [3]]
    with pytest.raises(SourceError, match=rf'{tmp_path}: version {version} \(.+, 2024-05-01T02:00\) removed .+ on_change="skip"'):
        read(tmp_path, 3)


def test_unless_such_versions_are_passed_over(tmp_path: Path) -> None:
    append(tmp_path, rows(1, 2), at(0))
    _change(tmp_path, "update")
    dated(tmp_path, at(1))
    append(tmp_path, rows(4), at(1.5))
    assert read(tmp_path, 2, "skip") == [[1, 2], [4]]


def _change(root: Path, how: str) -> None:
    table = DeltaTable(root)
    if how == "delete":
        table.delete("x = 1")
    elif how == "update":
        table.update(updates={"x": "x + 10"}, predicate="x = 1")
    elif how == "overwrite":
        write_deltalake(root, rows(9), mode="overwrite")
    else:
        table.restore(0)


def test_no_table(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=rf"{tmp_path}/nowhere: there is no Delta table .+; mend the path"):
        of(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ({"event_time": "when"}, "event_time: no column 'when'"),
        ({"arrival_time": "seen"}, "arrival_time: no column 'seen'"),
        ({"dedupe": "id"}, "dedupe: no column 'id'"),
        ({"types": {"y": "DOUBLE"}}, "types: no column 'y'"),
    ],
)
def test_no_column(tmp_path: Path, more: dict[str, str], what: str) -> None:
    append(tmp_path, rows(1), at(0))
    with pytest.raises(SourceError, match=f"{tmp_path}: {what} in the table; there are at, city, x; mend it"):
        in_full(sources.table(str(tmp_path), **grouped(**{"event_time": "at", **more})))  # type: ignore[arg-type]


def test_a_zone_for_instants(tmp_path: Path) -> None:
    append(tmp_path, rows(1), at(0))
    with pytest.raises(SourceError, match="timezone='Europe/Vienna' is for times without a zone"):
        in_full(sources.table(str(tmp_path), event_time=sources.at("at", timezone="Europe/Vienna")))


def test_a_log_that_was_cleaned(tmp_path: Path) -> None:
    for value, hour in enumerate((0, 1, 2, 3)):
        append(tmp_path, rows(value), at(hour))
    without_log_before(tmp_path, 2)
    with pytest.raises(SourceError, match=rf"{tmp_path}: the log begins with version 2 of 2024-05-01T02:00, so what was added in .+ is"):
        read(tmp_path, 2)
    later = hours(4)[2:]
    assert [_values([file.path for file in files]) for files in table_files(of(tmp_path), later, later[0].start_us).values()] == [
        [0, 1, 2],
        [3],
    ]
    assert [_values([file.path for file in files]) for files in table_files(of(tmp_path), later[1:], START_US).values()] == [[3]]
    with pytest.raises(SourceError, match="what was added in"):
        table_files(of(tmp_path), later[:1], START_US)


def test_a_lost_commit(tmp_path: Path) -> None:
    for value in range(3):
        append(tmp_path, rows(value), at(value))
    (tmp_path / "_delta_log" / f"{1:020d}.json").unlink()
    with pytest.raises(SourceError, match="the commit of version 1 is lost"):
        of(tmp_path)


def test_a_damaged_commit(tmp_path: Path) -> None:
    append(tmp_path, rows(1), at(0))
    path = tmp_path / "_delta_log" / f"{0:020d}.json"
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(SourceError, match=rf"{path}: the commit is damaged"):
        of(tmp_path)


def test_a_file_that_was_vacuumed(tmp_path: Path) -> None:
    append(tmp_path, rows(1), at(0))
    append(tmp_path, rows(2), at(0.5))
    append(tmp_path, rows(3), at(1))
    DeltaTable(tmp_path).optimize.compact()
    dated(tmp_path, at(2))
    DeltaTable(tmp_path).vacuum(0, enforce_retention_duration=False, dry_run=False)
    with pytest.raises(SourceError, match=rf"{tmp_path}/.+parquet: gone from {tmp_path} since versions? .+ added it for the batch"):
        read(tmp_path, 1)


def test_columns_with_other_names_in_the_files(tmp_path: Path) -> None:
    append(tmp_path, rows(1), at(0))
    path = tmp_path / "_delta_log" / f"{0:020d}.json"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        if "protocol" in line:
            line["protocol"] = {"minReaderVersion": 2, "minWriterVersion": 5}
        if "metaData" in line:
            line["metaData"]["configuration"] = {"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "3"}
            schema = json.loads(line["metaData"]["schemaString"])
            for number, each in enumerate(schema["fields"]):
                each["metadata"] = {"delta.columnMapping.id": number, "delta.columnMapping.physicalName": f"col-{number}"}
            line["metaData"]["schemaString"] = json.dumps(schema)
    path.write_text("\n".join(map(json.dumps, lines)))
    [file] = table_files(of(tmp_path), hours(1), START_US)[hours(1)[0]]
    with pytest.raises(SourceError, match="nobody can tell which columns of the table it has"):
        selected(of(tmp_path).numbered, file.path)


@pytest.mark.parametrize(("kind", "said"), [("i", ""), ("p", "rows are named by an address outside of the table")])
def test_rows_that_are_marked_as_deleted(tmp_path: Path, kind: str, said: str) -> None:
    append(tmp_path, rows(1), at(0))
    path = tmp_path / "_delta_log" / f"{0:020d}.json"
    vector = f'"deletionVector": {{"storageType": "{kind}", "pathOrInlineDv": "xxxxx", "sizeInBytes": 1, "cardinality": 1}}, '
    source = of(tmp_path)
    path.write_text(path.read_text().replace('{"add": {', '{"add": {' + vector))
    with pytest.raises(SourceError, match=said) if said else nullcontext():
        [file] = table_files(source, hours(1), START_US)[hours(1)[0]]
        assert file_of(file.path) != file.path
        with pytest.raises(SourceError, match=r"says which rows of .*parquet are deleted, and is damaged"):
            rows_sql([file.path])


@pytest.mark.parametrize("column", ["file_index", "File_Row_Number"])
def test_a_column_that_hides_the_numbers_of_rows(tmp_path: Path, column: str) -> None:
    append(tmp_path, rows(1).rename_columns(["at", "city", column]), at(0))
    path = tmp_path / "_delta_log" / f"{0:020d}.json"
    vector = '"deletionVector": {"storageType": "i", "pathOrInlineDv": "xxxxx", "sizeInBytes": 1, "cardinality": 1}, '
    source = of(tmp_path)
    path.write_text(path.read_text().replace('{"add": {', '{"add": {' + vector))
    with pytest.raises(SourceError, match=f"cannot be read beside a column '{column.lower()}'; rename it"):
        table_files(source, hours(1), START_US)


def test_partitions_whose_folders_say_what_they_are(tmp_path: Path) -> None:
    append(tmp_path, rows(1, city="a b/c"), at(0), by=["city"])
    [file] = table_files(of(tmp_path), hours(1), START_US)[hours(1)[0]]
    assert Path(file.path).is_file()
    assert unquote(file.path).startswith(f"{tmp_path}/city=a b/c/")
    assert of(tmp_path).hive == {"city": "VARCHAR"}


def test_and_others(tmp_path: Path) -> None:
    append(tmp_path, rows(1), at(0), by=["city"])
    path = tmp_path / "_delta_log" / f"{0:020d}.json"
    path.write_text(path.read_text().replace('"city": "Graz"', '"city": "Wien"'))
    with pytest.raises(SourceError, match="lies in no folder that says city=Wien"):
        read(tmp_path, 1)
