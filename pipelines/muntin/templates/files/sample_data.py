"""Three days of sales, the same each time: `python sample_data.py` writes them to data/.

Each shop sells once an hour from 9 to 17. The last sale of the first day comes with the second day's file.
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path

FIRST = datetime(2024, 5, 1, tzinfo=UTC)
DAYS = 3
LATE = (FIRST + timedelta(hours=23, minutes=30), "north", 5.0)


def sales_of(day: datetime) -> list[tuple[datetime, str, float]]:
    """(instant, shop, amount) of the sales that came on a day."""
    late = [LATE] if day - FIRST == timedelta(days=1) else []
    hours = [(day + timedelta(hours=hour, minutes=12), hour) for hour in range(9, 18)]
    return late + [
        (at, shop, hour + price) for at, hour in hours for shop, price in (("north", 2.5), ("south", 0.75))
    ]


def write(folder: Path) -> None:
    """A CSV file for each day."""
    folder.mkdir(parents=True, exist_ok=True)
    for day in (FIRST + timedelta(days=at) for at in range(DAYS)):
        rows = (f"{at:%Y-%m-%d %H:%M:%S},{shop},{amount:.2f}" for at, shop, amount in sales_of(day))
        (folder / f"{day:%Y-%m-%d}.csv").write_text(
            "\n".join(["at,shop,amount", *rows]) + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    write(Path(__file__).parent / "data")
