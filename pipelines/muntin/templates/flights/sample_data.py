"""Three days of departures, the same each time: `python sample_data.py` writes them to data/.

From 10:00 to 23:00 UTC a flight is scheduled each hour at each airport; it leaves some minutes later, and a
flight of midnight leaves the day after. A flight is in the file of the day on which it left. One flight never
left: its delay is null.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

FIRST = datetime(2024, 5, 1, tzinfo=UTC)
DAYS = 3
AIRPORTS = ("EWR", "JFK", "LGA")
SCHEMA = pa.schema(
    [
        ("scheduled", pa.timestamp("us", "UTC")),
        ("left", pa.timestamp("us", "UTC")),
        ("origin", pa.string()),
        ("delay", pa.int32()),
    ]
)


def departures() -> Iterator[dict[str, Any]]:
    """All flights, in the order of the schedule."""
    for at in range(DAYS * 14):
        scheduled = FIRST + timedelta(days=at // 14, hours=10 + at % 14)
        for number, origin in enumerate(AIRPORTS):
            delay = (at * 7 + number * 11) % 75 - 10
            left = scheduled + timedelta(minutes=delay)
            yield {
                "scheduled": scheduled,
                "left": left,
                "origin": origin,
                "delay": None if at == 20 and not number else delay,
            }


def write(folder: Path) -> None:
    """A Parquet file for each day."""
    folder.mkdir(parents=True, exist_ok=True)
    for day in (FIRST + timedelta(days=at) for at in range(DAYS)):
        rows = [flight for flight in departures() if day <= flight["left"] < day + timedelta(days=1)]
        pq.write_table(pa.Table.from_pylist(rows, SCHEMA), folder / f"{day:%Y-%m-%d}.parquet")


if __name__ == "__main__":
    write(Path(__file__).parent / "data")
