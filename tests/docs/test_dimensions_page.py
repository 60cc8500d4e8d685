"""The worked examples of docs/dimensions.md are right: their definitions are run over the files of the page, and give its tables."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from muntin import Pipeline, plan, read
from muntin.definition.pipeline import at_home
from muntin.jobs.inputs.dimensions.lookup_log import TEXTS
from muntin.testing import run_here

TEXT = (Path(__file__).parents[2] / "docs/dimensions.md").read_text(encoding="utf-8")
FILES = re.search(r"^    rates/2024.csv.*?(?=^$)", TEXT, re.DOTALL | re.MULTILINE)
TABLES = re.findall(r"^\| window_start .*\n.*\n((?:\| 20.*\n)+)", TEXT, re.MULTILINE)
COLUMNS = ("window_start", "orders", "unknown", "euros")


@pytest.fixture
def names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The names that the blocks of the page define, in a folder with the files of the page."""
    monkeypatch.chdir(tmp_path)
    assert FILES
    columns = zip(*([line[4:44], line[44:77], line[77:]] for line in FILES[0].splitlines()), strict=True)
    for name, *lines in columns:
        (tmp_path / name.strip()).parent.mkdir(exist_ok=True)
        (tmp_path / name.strip()).write_text("\n".join(filter(None, map(str.strip, lines))) + "\n")
    found: dict[str, Any] = {}
    for block in re.findall(r"^```python\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE):
        exec(compile(block, "page", "exec"), found)  # noqa: S102 - our own page
    return found


def day(number: int) -> datetime:
    return datetime(2024, 5, number, tzinfo=UTC)


def rows(pipeline: Pipeline, *columns: str) -> list[list[str]]:
    return [[spelled(row[name]) for name in columns] for row in read(pipeline, "day", root="state").to_pylist()]


def spelled(value: object) -> str:
    """A cell as the page has it."""
    return f"{value:%Y-%m-%d}" if isinstance(value, datetime) else f"{value:g}" if isinstance(value, float) else str(value)


def test_orders_in_euros(names: dict[str, Any], tmp_path: Path) -> None:
    orders = at_home(names["orders"], tmp_path)
    first, second = ([line.strip("| \n").split(" | ") for line in table.splitlines()] for table in TABLES)
    run_here(orders, root="state", start=day(1), end=day(3))
    assert rows(orders, *COLUMNS) == first
    (tmp_path / "rates/pounds.csv").write_text("currency,valid_from,rate\nGBP,2024-01-01,1.2\n")
    why = {each.interval_start: each.why for each in plan(orders, root="state", start=day(2), end=day(3)).batches}
    assert why == {day(1): "rows of rates that its events looked up have changed", day(2): None}
    assert "*rows of rates that its events looked up have changed*" in TEXT
    run_here(orders, root="state", start=day(2), end=day(3))
    assert rows(orders, *COLUMNS) == second


def test_clicks_by_campaign(names: dict[str, Any], tmp_path: Path) -> None:
    clicks = at_home(names["clicks"], tmp_path)
    (tmp_path / "clicks").mkdir()
    text = "".join(f"2024-05-01 {at},{ad}\n" for at, ad in [("10:00:00", "a"), ("12:00:00", "a"), ("13:00:00", "b"), ("23:00:00", "a")])
    (tmp_path / "clicks/2024-05-01.csv").write_text("at,ad\n" + text)
    begins = "a,2024-05-01,2024-05-01 12:00:00,spring\na,2024-05-01 12:00:00,2024-05-01 20:00:00,summer\nb,2024-05-01,,test\n"
    (tmp_path / "campaigns.csv").write_text("ad,begins,ends,name\n" + begins)
    (batch,) = run_here(clicks, root="state", start=day(1), end=day(2)).batches
    assert (batch.rows_accepted, batch.rows_quarantined) == (2, 1)
    assert rows(clicks, "campaigns.name", "clicks") == [["spring", "1"], ["summer", "1"]]


def test_the_page_of_tables_names_what_the_table_of_look_ups_says_of_itself() -> None:
    page = (Path(__file__).parents[2] / "docs/operating/tables.md").read_text(encoding="utf-8")
    section = page.partition("## looked_up\n")[2]
    assert re.findall(r"^\| `(\w+)` \| (.*) \|$", section, re.MULTILINE) == [*TEXTS.comments.items()]
