"""The code of docs/several-sources.md runs and gives what the page shows."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from muntin.definition.several_sources import Watermarking
from muntin.testing import windows_of
from muntin.timeline.batches import Batches
from muntin.timeline.closing import watermarks

PAGE = Path(__file__).parents[2] / "docs/several-sources.md"
TEXT = PAGE.read_text(encoding="utf-8")
MINUTE_US = 60_000_000


def code() -> dict[str, Any]:
    names: dict[str, Any] = {}
    blocks = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    exec(compile("\n".join(blocks), str(PAGE), "exec"), names)  # noqa: S102 - our own page
    return names


def test_the_windows_of_the_two_streams() -> None:
    found = [f"| {row['user']} | {row['window_start']:%H:%M} | {row['visits']} | {row['carts']} |" for row in code()["table"].to_pylist()]
    assert "\n".join(found) in TEXT


def test_the_three_streams_run() -> None:
    """Ann pays in Vienna's summer at eleven, which is nine."""
    names = code()
    paid = {"paid": datetime(2024, 5, 1, 11, 8), "receipt": 7, "user": "ann", "amount": 80}  # noqa: DTZ001 - as the till writes it
    rows = {**names["rows"], "payments": [paid, paid]}
    later = {"visits": [{"at": "2024-05-01T10:40:00Z", "user": "ann", "page": "home"}], "carts": [], "payments": []}
    table = windows_of(names["shop"], {names["nine"]: rows, names["nine"] + timedelta(hours=1): later}, window="session")
    assert table.select(["user", "visits", "carts", "pages", "paid", "events", "buys"]).to_pylist() == [
        {"user": "ann", "visits": 2, "carts": 1, "pages": 2, "paid": 80, "events": 4, "buys": True},
        {"user": "bob", "visits": 1, "carts": 0, "pages": 1, "paid": None, "events": 1, "buys": False},
    ]


def test_the_table_of_watermarks() -> None:
    lines = re.findall(r"^(batches|visits|carts|watermark) +((?:\d\d:\d\d +){3}\d\d:\d\d)", TEXT, re.MULTILINE)
    ends, visits, carts, plain, idle = ([_us(shown) for shown in times.split()] for _, times in lines)
    batches = Batches.of((end - 60 * MINUTE_US, end, 1, max(pair), 0, 0, 1) for end, *pair in zip(ends, visits, carts, strict=True))
    batches = replace(batches, newest_by_source=np.array([visits, carts]).T)
    assert watermarks(batches, Watermarking("events", 2)).tolist() == plain
    assert watermarks(batches, Watermarking("events", 2, 120 * MINUTE_US)).tolist() == idle


def _us(shown: str) -> int:
    return int(datetime.strptime(f"2024-05-01 {shown}", "%Y-%m-%d %H:%M").replace(tzinfo=UTC).timestamp()) * 1_000_000
