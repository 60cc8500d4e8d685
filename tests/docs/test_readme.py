"""The README is short, and shows the flights pipeline as it is."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_flights_pipeline_stands_in_full() -> None:
    first = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)[0]
    assert first == (ROOT / "dags" / "flights.py").read_text(encoding="utf-8")


def test_it_is_read_in_two_minutes() -> None:
    assert (ROOT / "README.md").stat().st_size <= 6_800
