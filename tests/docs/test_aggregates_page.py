"""The page of the aggregates: its tables are what the code gives, nothing is left out, and its code runs."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest

from docs.catalogue import PAGE, page
from muntin import Pipeline, sources, windows
from muntin import aggregates as agg
from muntin.testing import report_of, windows_of


def test_the_tables_are_what_the_code_gives() -> None:
    assert page() == PAGE.read_text(encoding="utf-8"), "write them anew by python -m docs.catalogue"


def test_names_of_here_are_there() -> None:
    table = PAGE.read_text(encoding="utf-8").split("## What it is called here")[1]
    ours = [row.rsplit("|", 2)[1] for row in table.splitlines() if row.startswith("|")]
    named = {name for cell in ours for name in re.findall(r"(?<![.\w])([a-z_]+)\(", cell)}
    assert len(named) > 20
    assert all(hasattr(agg, name) for name in named)


@pytest.fixture
def names() -> dict[str, Any]:
    """The names of the page's code after it ran."""
    found: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        exec(compile(block, str(PAGE), "exec"), found)  # noqa: S102 - our own page
    return found


def visit(at: str, visitor: str, kind: str, article: str | None = None, price: int | None = None) -> dict[str, Any]:
    return {"seen": datetime.fromisoformat(f"2024-05-{at}:00+00:00"), "visitor": visitor, "kind": kind, "article": article, "price": price}


def test_visitors(names: dict[str, Any]) -> None:
    """Mo comes on one day alone, which hides the window; May is closed by the batch of its last day."""
    first = [visit("01T09:00", "Eve", "visit"), visit("01T09:59", "Eve", "order", "pen", 5), visit("01T09:30", "Eve", "cart", "ink", 9)]
    second = [visit("02T09:00", "Eve", "visit", "pad", 9), visit("02T10:00", "Mo", "visit")]
    found = windows_of(names["visitors"], [first, second, *[[]] * 29]).to_pylist()
    assert [(row["visitor"], row["reached"], row["came_back"], row["active_days"]) for row in found] == [("Eve", 3, [True, True, False], 2)]
    assert found[0]["dearest"] == ["ink", "pad", "pen"]
    assert report_of(names["visitors"], [first, second, *[[]] * 29])[-1].windows_hidden == {"month": 1}


def test_local_days() -> None:
    rows = [{"seen": datetime(2024, 5, day, hour, 30, tzinfo=UTC)} for day, hour in ((1, 21), (1, 22), (2, 21))]
    days = Pipeline(
        name="days",
        source=sources.files("{start:%Y-%m-%d}.parquet", event_time="seen"),
        schedule="2d",
        start=datetime(2024, 5, 1, tzinfo=UTC),
        windows={"two": windows.tumbling("2d", align_to=datetime(2024, 5, 1, tzinfo=UTC))},
        aggregates={
            "utc": agg.active_periods("1d"),
            "berlin": agg.count_distinct("date_trunc('day', timezone('Europe/Berlin', seen))"),
        },
    )
    assert windows_of(days, [rows]).select(["utc", "berlin"]).to_pylist() == [{"utc": 2, "berlin": 2}]
