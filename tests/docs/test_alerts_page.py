"""The texts of docs/alerts.md are those that channels get, and its code is a declaration."""

import re
from pathlib import Path
from textwrap import dedent
from typing import Any

from muntin.definition.schedule import Interval
from muntin.extensions.alerts import to
from muntin.extensions.alerts.declaration import Alerts
from muntin.extensions.alerts.facts import Batch, Run
from muntin.extensions.alerts.findings import findings
from muntin.extensions.alerts.message import message, silence, summary
from muntin.extensions.alerts.problems import recovered
from tests.alerts.made import check, hours, report

PAGE = Path(__file__).parents[2] / "docs/alerts.md"
ALERTS = to("alerts", mask=["email"], quarantined=0.01)
ROW = {"email": "ann@example.com", "window_start": "2024-01-01T00:00:00Z", "window_end": "2024-01-01T12:00:00Z", "total": -1}
FAILED = report(check(failing_rows=[ROW]))
LINK = "muntin run dags/shop.py --root state --start 2024-01-02 --end 2024-01-03"


def day(number: int) -> Interval:
    """A day of January 2024."""
    return hours(24 * (number - 1), 24 * number)


def failed(number: int, refused: int = 0) -> Run:
    batch = Batch(day(number), 100, refused)
    return Run("shop", day(number), (batch,), (FAILED,), published=None, stays_us=day(number).start_us, link=LINK)


def texts() -> list[str]:
    """What channels get."""
    bad = failed(2, refused=3)
    found = findings(ALERTS, bad)
    starts = [day(number).start_us for number in (2, 3)]
    mended = Run("shop", day(3), (Batch(day(3), 100, 0, 0),), (report(check(success=True)),), published={"day": starts})
    many = [one for number in (4, 5, 9) for one in findings(ALERTS, failed(number))]
    return [
        message(bad, found).text,
        message(mended, (), recovered(found, mended, ())).text,
        summary("shop", 31, 3, many, link="https://airflow.example.com/dags/shop/backfills").text,
        silence("shop", "scheduled__2024-01-03T00:00:00+00:00", day(2), "2h").text,
    ]


def test_the_texts_are_those_that_channels_get() -> None:
    shown = re.findall(r"```text\n(.*?)\n```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert shown == texts()


def test_the_code_declares_alerts() -> None:
    names: dict[str, Any] = {}
    for block in re.findall(r"^ *```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE):
        exec(compile(dedent(block), str(PAGE), "exec"), names)  # noqa: S102 - our own page
        assert isinstance(names["told"], Alerts)
    assert names["told"].channels == ("alerts", names["slack"])
