"""Several sources on the command line and on the page."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from muntin.cli.main import main
from muntin.extensions.page.answers import TABS
from muntin.extensions.page.app import page_app
from muntin.extensions.page.installation import Installation
from tests.cli.conftest import without_spark
from tests.several.shop import Shop, click, order

DEFINITION = """
from datetime import UTC, datetime
from muntin import Limits, Pipeline, sources, windows
from muntin import aggregates as agg

shop = Pipeline(
    name="shop",
    source={
        "clicks": sources.files("clicks/{start:%H}.parquet", event_time="at"),
        "orders": sources.files("orders/{start:%H}.parquet", event_time=sources.at("placed", unit="ms")),
    },
    schedule="1h",
    start=datetime(2024, 1, 1, tzinfo=UTC),
    keys=["user"],
    windows={"hour": windows.tumbling("1h")},
    aggregates={"clicks": agg.count(source="clicks"), "spent": agg.sum("amount", source="orders")},
    watermark="events",
    limits=Limits(idle_after="2h"),
)
"""
RANGE = ("--start", "2024-01-01", "--end", "2024-01-01T02:00")


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Path]:
    """A project with two hours of data."""
    made = Shop(tmp_path)
    for hour in (0, 1):
        made.write("clicks", hour, [click(60 * hour + 1), click(60 * hour + 2)])
        made.write("orders", hour, [order(60 * hour + 3)])
    path = tmp_path / "dags/shop.py"
    path.parent.mkdir()
    path.write_text(DEFINITION)
    with without_spark():
        yield path


def test_on_the_command_line(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = ("--root", str(file.parents[1] / "state"))

    def told(command: str, *more: str, status: int = 0) -> str:
        assert main([command, str(file), *root, *more]) == status, capsys.readouterr()
        return capsys.readouterr().out

    assert told("check") == "shop: 1 window, 2 aggregates fit 2 files of clicks, orders\n"
    assert "new" in told("plan", *RANGE)
    out = told("run", *RANGE)
    assert (
        "2 batches: 6 rows read, 0 quarantined, 0 late\n  clicks: 4 rows read, 0 quarantined\n  orders: 2 rows read, 0 quarantined\n" in out
    )
    assert json.loads(told("run", *RANGE, "--json"))["batches"][0]["sources"]["orders"]["read"] == 1
    assert "2024-01-01 01:02" in told("status")
    assert "ann" in told("explain", "hour", "--at", "2024-01-01T00:30", "--key", "user=ann")
    (file.parents[1] / "orders/01.parquet").unlink()
    assert "source 'orders': [2024-01-01T01:00" in told("plan", *RANGE, status=3)
    file.write_text(DEFINITION.replace('"amount"', '"price"'))
    assert main(["check", str(file), *root]) == 2
    assert "source 'orders': aggregates['spent']" in capsys.readouterr().err


def test_on_the_page(file: Path) -> None:
    home = file.parents[1]
    assert main(["run", str(file), "--root", str(home / "state"), *RANGE]) == 0
    installation = Installation(lambda: {"shop": file}, str(home / "state"), home)
    app = page_app(installation, enter=lambda: None, may_see=lambda *_: True, clock=lambda: 1704070800_000000)
    with TestClient(app) as client:
        assert "shop" in client.get("/").text
        for tab, _ in TABS:
            answer = client.get(f"/pipeline/shop/{tab}")
            assert answer.status_code == 200, (tab, answer.text)
