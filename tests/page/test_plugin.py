"""The plugin costs Airflow's processes next to nothing, and no package that lacks stops them."""

import logging
import subprocess
import sys

import pytest

from muntin.definition.instants import instant_us
from muntin.extensions.airflow import page
from muntin.extensions.airflow.page_facts import tells_of
from tests.end_to_end.hourly import hour

HEAVY = ("fastapi", "starlette", "jinja2", "matplotlib", "pyarrow", "numpy", "duckdb", "numba", "airflow", "pyspark")


def test_registering_imports_nothing_heavy() -> None:
    script = f"""
import sys
from muntin.extensions.airflow.page import plugin_parts
apps, views = plugin_parts()
print(len(apps), len(views), *[name for name in {HEAVY} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "2"]


HOURS = {"hour": ["2024-01-01T00:00:00+00:00", "2024-01-01T01:00:00+00:00"]}


@pytest.mark.parametrize(
    ("value", "window", "at", "tells"),
    [
        ({"published": HOURS}, "hour", 1, True),
        ({"published": HOURS}, "hour", 2, False),
        ({"published": HOURS}, "day", 1, False),
        ({"published": {}}, "hour", 1, False),
        ({"published": "2024-01-01T01:00:00+00:00"}, "hour", 1, False),
        ({}, "hour", 1, False),
        (None, "hour", 1, False),
        ("text", "hour", 1, False),
    ],
)
def test_a_task_tells_what_it_published(value: object, window: str, at: int, tells: bool) -> None:
    assert tells_of(value, window, instant_us(hour(at), "")) == tells


def test_a_package_that_lacks_is_a_line_in_the_log(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(page, "find_spec", lambda package: None if package == "jinja2" else object())
    with caplog.at_level(logging.WARNING, logger="muntin"):
        assert page.plugin_parts() == ([], [])
    assert [record.getMessage() for record in caplog.records] == ["no page of windows: jinja2 not installed; pip install 'muntin[page]'"]
