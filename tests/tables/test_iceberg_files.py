"""Which files of a table of Iceberg are a batch: by the times at which its snapshots became current."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import sources
from muntin.definition.schedule import Interval
from muntin.errors import DefinitionError, SourceError, StorageError
from muntin.sources.logged.table_files import files_now, in_full, log_of, table_files
from tests.source_options import grouped
from tests.tables.iceberg_tables import Lake

HOUR_US = 3_600_000_000
START = datetime(2024, 5, 1, tzinfo=UTC)
START_US = int(START.timestamp()) * 1_000_000


def at(hours: float) -> datetime:
    return START + timedelta(hours=hours)


def rows(*values: float, city: str = "Graz") -> pa.Table:
    columns = {"at": (START, pa.timestamp("us", "UTC")), "city": (city, pa.string())}
    same = {name: pa.array([value] * len(values), kind) for name, (value, kind) in columns.items()}
    return pa.table({**same, "x": pa.array(values, pa.float64())})


def hours(count: int) -> list[Interval]:
    return [Interval(START_US + hour * HOUR_US, START_US + (hour + 1) * HOUR_US) for hour in range(count)]


def source(**more: Any) -> Any:
    return sources.iceberg("lake", "shop.orders", **grouped(**{"event_time": "at", **more}))


def read(count: int, **more: Any) -> list[list[float]]:
    """The values of `x` in the batches of the first hours."""
    found = table_files(in_full(source(**more)), hours(count), START_US)
    return [_values(files) for files in found.values()]


def _values(files: Any) -> list[float]:
    return [value for file in files for value in pq.read_table(file.path, columns=["x"], partitioning=None)["x"].to_pylist()]


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lake:
    lake = Lake(tmp_path)
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__URI", lake.uri)
    return lake


def test_a_snapshot_belongs_to_the_interval_in_which_it_became_current(lake: Lake) -> None:
    # hours      -1    0         1        2         3
    # snapshots   |1   |2  |3    |4       |         |5
    # batches          1, 2, 3    4       none       5
    for value, hour in ((1, -1), (2, 0), (3, 0.5), (4, 1), (5, 3)):
        lake.append(rows(value), at(hour))
    assert read(4) == [[1, 2, 3], [4], [], [5]]
    together = table_files(in_full(source()), hours(4), START_US)
    assert all(table_files(in_full(source()), [hour], START_US)[hour] == together[hour] for hour in reversed(hours(4)))


def test_files_are_named_by_their_snapshots(lake: Lake) -> None:
    one, two, three = (lake.append(rows(value), at(hour)) for value, hour in enumerate((0, 1, 1.5)))
    found = table_files(in_full(source()), hours(2), START_US).values()
    assert [[file.checksum for file in files] for files in found] == [[f"snapshot {one}"], [f"snapshots {two} to {three}"] * 2]


def test_several_snapshots_of_one_transaction_are_each_read(lake: Lake) -> None:
    # writers in Java log the last of them alone
    lake.append(rows(1), at(0))
    with lake.table().transaction() as change:
        change.append(rows(2))
        change.append(rows(3))
    lake.dated(at(1.5))
    without_entry(lake, -2)
    assert read(2) == [[1], [2, 3]]


def without_entry(lake: Lake, place: int | None) -> None:
    """Remove an entry of the snapshot log; None: all."""
    import json

    path = Path(lake.table().metadata_location.removeprefix("file://"))
    told = json.loads(path.read_text())
    if place is None:
        told["snapshot-log"].clear()
    else:
        del told["snapshot-log"][place]
    path.write_text(json.dumps(told))


def test_a_table_without_a_log_of_snapshots_has_their_ancestry(lake: Lake) -> None:
    for value, hour in ((1, 0), (2, 1), (3, 2)):
        lake.append(rows(value), at(hour))
    without_entry(lake, None)
    assert read(3) == [[1], [2], [3]]


def test_a_table_without_rows(lake: Lake) -> None:
    lake.make(rows().schema)
    assert read(2) == [[], []]
    assert files_now(in_full(source())) == []


def test_a_compaction_adds_no_rows(lake: Lake) -> None:
    for value, hour in ((1, 0), (2, 1), (3, 1.1)):
        lake.append(rows(value), at(hour))
    lake.compact(at(2))
    lake.append(rows(4), at(2.5))
    assert read(3) == [[1], [2, 3], [4]]
    assert sorted(_values(files_now(in_full(source())))) == [1, 2, 3, 4]


def test_what_was_deleted_before_the_first_batch_is_not_in_it(lake: Lake) -> None:
    lake.append(rows(1, 2), at(-2))
    lake.table().delete("x = 1")
    lake.dated(at(-1))
    assert read(1) == [[2]]


def changed(lake: Lake, how: str, first: int) -> None:
    table = lake.table()
    if how == "delete":
        table.delete("x = 1")
    elif how == "overwrite":
        lake.replace_files([each.file for each in table.scan().plan_files()], rows(9))
    elif how == "rollback":
        table.manage_snapshots().rollback_to_snapshot(first).commit()
    else:
        table.manage_snapshots().rollback_to_snapshot(first).commit()
        lake.table().append(rows(9))
        without_entry(lake, -2)  # the snapshot log of a table that was put back and went on says so by its parents alone


@pytest.mark.parametrize("how", ["delete", "overwrite", "rollback", "another branch"])
def test_rows_that_were_removed_or_changed_are_an_error_or_passed_over(lake: Lake, how: str) -> None:
    first = lake.append(rows(1, 2), at(0))
    lake.append(rows(3), at(1))
    changed(lake, how, first)
    version = lake.dated(at(2))
    lake.append(rows(4), at(2.5))
    assert read(2) == [[1, 2], [3]]
    with pytest.raises(
        SourceError, match=rf'catalog lake: snapshot {version} \(.+, 2024-05-01T02:00\) removed .+ on_change="skip" in sources.ice'
    ):
        read(3)
    assert read(3, on_change="skip") == [[1, 2], [3], [4]]


def test_and_rows_of_a_rollback_that_is_taken_back_do_not_count_twice(lake: Lake) -> None:
    first = lake.append(rows(1), at(0))
    second = lake.append(rows(2), at(1))
    for hour, snapshot in ((2, first), (3, second)):
        lake.table().manage_snapshots().set_current_snapshot(snapshot).commit()
        lake.dated(at(hour))
    lake.append(rows(3), at(3.5))
    assert read(4, on_change="skip") == [[1], [2], [], [3]]


def test_snapshots_that_expired(lake: Lake) -> None:
    numbers = [lake.append(rows(value), at(hour)) for value, hour in enumerate((0, 1, 2, 3))]
    lake.table().maintenance.expire_snapshots().by_ids(numbers[:2]).commit()
    with pytest.raises(SourceError, match=rf"the log begins with snapshot {numbers[2]} of 2024-05-01T02:00, so what was added in .+ is"):
        read(2)
    later = hours(4)[2:]
    found = table_files(in_full(source()), later, later[0].start_us)
    assert [_values(files) for files in found.values()] == [[0, 1, 2], [3]]
    with pytest.raises(SourceError, match="what was added in"):
        table_files(in_full(source()), later[:1], START_US)


def test_or_one_between_others(lake: Lake) -> None:
    numbers = [lake.append(rows(value), at(hour)) for value, hour in enumerate((0, 1, 2, 3))]
    lake.table().maintenance.expire_snapshots().by_ids(numbers[1:2]).commit()
    with pytest.raises(SourceError, match=f"the log begins with snapshot {numbers[2]}"):
        read(1)


def test_a_file_that_is_gone(lake: Lake) -> None:
    lake.append(rows(1), at(0))
    [file] = table_files(in_full(source()), hours(1), START_US)[hours(1)[0]]
    Path(file.path).unlink()
    with pytest.raises(SourceError, match=rf"{file.path}: gone from table .+ since snapshot .+ added it .+expire_snapshots"):
        read(1)


def test_a_manifest_that_is_gone(lake: Lake) -> None:
    number = lake.append(rows(1), at(0))
    [manifest] = lake.table().current_snapshot().manifests(lake.table().io)
    Path(manifest.manifest_path.removeprefix("file://")).unlink()
    with pytest.raises(SourceError, match=rf"catalog lake .+: what snapshot {number} says of its files cannot be read .+; bring it"):
        read(1)


def test_a_table_of_the_first_format_is_never_known_to_be_whole(lake: Lake) -> None:
    lake.make(rows().schema, **{"format-version": "1"})
    assert read(1) == [[]]
    for hour in (0.5, 1.5):
        lake.append(rows(hour), at(hour))
    assert read(2) == [[0.5], [1.5]]
    early = Interval(START_US - HOUR_US, START_US)
    with pytest.raises(SourceError, match="the log begins with snapshot"):
        table_files(in_full(source()), [early], early.start_us)


def test_what_came_since_is_known_by_the_last_snapshot(lake: Lake) -> None:
    lake.make(rows().schema)
    assert log_of(source()).mark == 0
    marks = [lake.append(rows(value), at(value)) for value in range(3)]
    log = log_of(source())
    assert [list(log.since(mark)) for mark in (0, *marks, 99)] == [[0, 1, 2], [1, 2], [2], [], [0, 1, 2]]


def test_no_catalog_and_no_table(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    lake.append(rows(1), at(0))
    with pytest.raises(SourceError, match=r"table shop.none of catalog lake: there is no such table; mend its name in sources.iceberg"):
        in_full(sources.iceberg("lake", "shop.none", event_time="at"))
    with pytest.raises(SourceError, match=r"no AIRFLOW_CONN_SEA; name the catalog in pyiceberg's configuration"):
        in_full(sources.iceberg("sea", "shop.orders", event_time="at"))
    monkeypatch.setenv("AIRFLOW_CONN_SEA", '{"conn_type": "iceberg", "extra": {"type": "sql", "uri": "sqlite:////no/where/lake.db"}}')
    with pytest.raises(StorageError, match=r"catalog sea: .+; see that the catalog's file, and the folder where it lies, are there"):
        in_full(sources.iceberg("sea", "shop.orders", event_time="at"))
    monkeypatch.setenv("AIRFLOW_CONN_SEA", f'{{"conn_type": "iceberg", "extra": {{"type": "sql", "uri": "{lake.uri}"}}}}')
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__URI", "sqlite:////no/where/lake.db")
    with pytest.raises(SourceError, match="no such table"):
        in_full(sources.iceberg("sea", "shop.orders", event_time="at"))  # a catalog of SQLite knows tables by the catalog's name


@pytest.mark.parametrize(
    ("catalog", "table", "said"),
    [
        ("a b", "shop.orders", "not the name of a catalog"),
        ("lake", "orders", "not a namespace"),
        ("lake", "shop.{window}", "not a namespace"),
    ],
)
def test_names_that_cannot_be(catalog: str, table: str, said: str) -> None:
    with pytest.raises(DefinitionError, match=f"sources.iceberg: .+{said}"):
        sources.iceberg(catalog, table, event_time="at")


def test_no_column(lake: Lake) -> None:
    lake.append(rows(1), at(0))
    with pytest.raises(SourceError, match=r"event_time: no column 'when' in the table; there are at, city, x; mend it in sources.iceberg"):
        in_full(source(event_time="when"))


def test_a_zone_for_instants(lake: Lake) -> None:
    lake.append(rows(1), at(0))
    with pytest.raises(SourceError, match="timezone='Europe/Vienna' is for times without a zone"):
        in_full(source(timezone="Europe/Vienna"))


def test_columns_that_came_later_may_be_lacking_but_for_partitions(lake: Lake) -> None:
    from pyiceberg.transforms import IdentityTransform

    lake.append(rows(1), at(0))
    with lake.table().update_schema() as schema:
        schema.add_column("more", _long())
    assert in_full(source()).columns == {"at": "TIMESTAMP WITH TIME ZONE", "city": "VARCHAR", "x": "DOUBLE", "more": "BIGINT"}
    with lake.table().update_spec() as spec:
        spec.add_field("city", IdentityTransform())
    assert "city" not in in_full(source()).columns
    assert read(1) == [[1]]


def _long() -> Any:
    from pyiceberg.types import LongType

    return LongType()


def test_names_of_older_fields_are_no_names_of_the_table(lake: Lake) -> None:
    lake.append(rows(1), at(0))
    with lake.table().update_schema(allow_incompatible_changes=True) as schema:
        schema.rename_column("city", "town")
    assert [each.name for each in in_full(source()).numbered] == ["at", "town", "x"]


def test_changes_need_snapshots_as_long_as_rows_may_change(lake: Lake) -> None:
    lake.append(rows(1), at(0))
    with pytest.raises(
        SourceError, match=r"rows may change for 1w .+ keeps snapshots for 5d .+'history.expire.max-snapshot-age-ms' = '777600000'"
    ):
        in_full(source(changes=True, id="x", changes_within="7d"))
    in_full(source(changes=True, id="x", changes_within="5d"))
