"""The README shows the flights pipeline as it is, and names every window and aggregate in the changelog."""

import re
from pathlib import Path

from pipelines import aggregates, windows

ROOT = Path(__file__).parents[2]


def test_the_flights_pipeline_stands_in_full() -> None:
    first = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)[0]
    assert first == (ROOT / "dags" / "flights.py").read_text(encoding="utf-8")


def test_the_changelog_names_what_there_is() -> None:
    told = set(re.findall(r"`(\w+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")))
    named = {name for module in (windows, aggregates) for name in module.__all__ if name.islower()}
    assert named - told == set()
