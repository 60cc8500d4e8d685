"""The example of ranges in docs/lookups.md is run, and gives the table of the page."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from muntin import over
from muntin.errors import DefinitionError
from tests.docs.test_snippets import PAGES, blocks

PAGE = "docs/lookups.md"
DAYS = {
    1: ["05:59,Köln,a,99", "06:00,Bonn,a,10", "07:30,Bonn,b,20"],
    2: ["12:00,Köln,a,7"],
    3: ["17:59,Bonn,a,30", "18:00,Köln,b,99"],
}


@pytest.fixture
def names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The names of the page's code after it ran, and what its last line gave."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("muntin.tasks.choice._active", lambda: None)  # a session of other tests
    Path("orders").mkdir()
    for day, rows in DAYS.items():
        lines = [f"2024-05-{day:02d}T{row.replace(',', ':00Z,', 1)}" for row in rows]
        Path(f"orders/2024-05-{day:02d}.csv").write_text("\n".join(["at,city,kind,price", *lines]) + "\n", encoding="utf-8")
    found: dict[str, Any] = {}
    for code in [each for each in blocks(PAGE) if "over(" in each]:
        *before, last = code.rstrip().splitlines()
        exec(compile("\n".join([*before, f"results = globals().get('results', []) + [{last}]"]), "page", "exec"), found)  # noqa: S102 - our own page
    return found


def test_the_page(names: dict[str, Any]) -> None:
    by_city, by_day, since_ever = names["results"]
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in PAGES[PAGE].read_text(encoding="utf-8").splitlines()
        if "05-03 18:00" in line
    ]
    assert rows == [
        [f"{each:%Y-%m-%d %H:%M}" if isinstance(each, datetime) else str(each) for each in row.values()] for row in by_city.to_pylist()
    ]
    assert by_day["orders"].to_pylist() == [3, 1, 2]
    assert since_ever["orders"].to_pylist() == [3, 4, 6]


def test_what_the_page_refuses(names: dict[str, Any]) -> None:
    with pytest.raises(DefinitionError) as told:
        over(names["orders"], datetime(2024, 5, 1, 6, 30, tzinfo=UTC), datetime(2024, 5, 2, tzinfo=UTC), root="state")
    [line] = [line for line in PAGES[PAGE].read_text(encoding="utf-8").splitlines() if line.startswith("    over: ")]
    assert str(told.value).startswith(line.strip())
