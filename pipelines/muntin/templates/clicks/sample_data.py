"""Twelve hours of clicks, the same each time: `python sample_data.py` writes them to data/.

Each visitor comes every three hours, and looks at some pages, ten minutes apart. A visit may go on in the
next hour's file.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

FIRST = datetime(2024, 5, 1, tzinfo=UTC)
HOURS = 12
PAGES = ("home", "search", "offer", "basket", "thanks")


def visits() -> Iterator[tuple[str, list[tuple[datetime, str]]]]:
    """Visitor, and (instant, page) of the clicks of a visit."""
    for visitor in range(4):
        for number in range(HOURS // 3):
            begins = FIRST + timedelta(hours=3 * number, minutes=15 * visitor)
            yield (
                f"v{visitor}",
                [
                    (begins + timedelta(minutes=10 * at), PAGES[at])
                    for at in range(1 + (visitor + number) % len(PAGES))
                ],
            )


def write(folder: Path) -> None:
    """A file of JSON lines for each hour that has clicks."""
    folder.mkdir(parents=True, exist_ok=True)
    clicks = sorted((at, visitor, page) for visitor, visit in visits() for at, page in visit)
    for hour in (FIRST + timedelta(hours=at) for at in range(HOURS)):
        rows = [each for each in clicks if hour <= each[0] < hour + timedelta(hours=1)]
        lines = [
            json.dumps({"at": at.isoformat(), "visitor": visitor, "page": page}) for at, visitor, page in rows
        ]
        if lines:
            (folder / f"{hour:%Y-%m-%dT%H}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(Path(__file__).parent / "data")
