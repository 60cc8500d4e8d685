"""The face that other programs import: each name with its arguments builds what it says, one line after the other."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from importlib import metadata
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

import muntin
from muntin import Limits, Pipeline, Retain, airflow_dag, alerts, as_of, forget, over, plan, read, run, sinks, sources, windows
from muntin import aggregates as agg
from muntin.sources import at, changes, csv, events
from tests.case_counts import at_length

START = datetime(2024, 1, 1, tzinfo=UTC)
COMMANDS = [
    "new", "check", "plan", "run", "publish", "promote", "status", "show", "explain",
    "as-of", "over", "sql", "doctor", "maintain", "forget", "ui",
]  # fmt: skip
WINDOWS: Mapping[str, Callable[[], Any]] = {
    "last_6_hours": lambda: windows.sliding("6h", step="1h", grace="3h"),
    "local_day": lambda: windows.tumbling("1d", timezone="America/New_York"),
    "quiet": lambda: windows.session("2h"),
    "on": lambda: windows.while_("state = 'on'", at_least="3s"),
    "status": lambda: windows.while_same("status"),
    "visit": lambda: windows.between("kind = 'enter'", "kind = 'leave'", max_length="1d"),
    "shift": lambda: windows.given(sources.files("shifts.csv"), start="begins", end="ends", keys=["site"], columns=["team"]),
    "cart": lambda: windows.session("30m", gap_by="patience"),
    "meter": lambda: windows.tumbling("15m", closed="right"),
    "week": lambda: windows.trailing(days=7, timezone="Europe/Berlin"),
    "day": lambda: windows.tumbling("1d", grace="2h", allowed_lateness="30d"),
}
ARGUMENTS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "keys": lambda: {"keys": ["origin"]},
    "no keys": lambda: {"keys": []},
    "where": lambda: {"where": "dep_delay is not null"},
    "the watermark of intervals": lambda: {"watermark": "interval"},
    "the watermark of events": lambda: {"watermark": "events"},
    "aggregates of SQL": lambda: {
        "aggregates": {
            "flights": agg.count(), "late": agg.count_if("dep_delay > 15"), "delay": agg.mean("dep_delay"), "worst": agg.max("dep_delay"),
            "spent": agg.sum("price * quantity"),
        },
    },
    "suites": lambda: {"expectations": {"day": "expectations/flights_last_6_hours.json"}},
    "a duration": lambda: {"schedule": "15m", "source": sources.files("{start:%Y-%m-%dT%H%M}.parquet", event_time="at")},
    "a local clock": lambda: {"schedule": "0 6 * * *", "timezone": "Europe/Berlin"},
    "rollups": lambda: {"keys": ["city", "shop"], "rollups": {"by_city": ["city"], "all": []}},
    "a look-up": lambda: {
        "lookups": {"rates": sources.lookup(sources.files("rates/*.csv"), keys=["currency"], since="valid_from")},
        "aggregates": {"euro": agg.sum("amount * rates.rate")},
    },
    "the value before": lambda: {"aggregates": {"load": agg.time_weighted_mean("watts", carry="1d")}},
    "a mirror": lambda: {"to": [sinks.iceberg("lake", "shop.{window}")]},
    "alerts": lambda: {"alerts": alerts.to("alerts")},
    "limits": lambda: {"limits": Limits(max_quarantined=0.5, max_behind="30d", max_ahead="1d", fresh_within="3h")},
    "a source that is idle": lambda: {
        "source": {name: sources.files(f"{name}/{{start:%Y-%m-%d}}.parquet", event_time="at") for name in ("a", "b")},
        "watermark": "events", "limits": Limits(idle_after="2h"),
    },
    "retain": lambda: {"retain": Retain(states="400d", windows="5y", refused="90d")},
    "parquet": lambda: {"source": sources.files("x/{start:%Y-%m-%d}", event_time="at", format="parquet")},
    "jsonl": lambda: {"source": sources.files("x/{start:%Y-%m-%d}", event_time="at", format="jsonl")},
    "a function": lambda: {"source": sources.function(print, event_time="at", version="1")},
    "a database": lambda: {
        "source": sources.sql(
            "postgresql://db.internal/shop",
            "SELECT * FROM orders WHERE ordered >= {start} AND ordered < {end}",
            event_time="ordered",
            changed="updated_at",
        )
    },
    "a unit": lambda: {"source": sources.files("{start:%Y-%m-%d}.parquet", event_time=at("ts", unit="ms"))},
    "rows that are one object for all sources": lambda: {
        "source": sources.files("{start:%Y-%m-%d}.parquet", event_time="at", rows=events(id="id", operation="op", within="1d"))
    },
}  # fmt: skip


def pipeline(**other: Any) -> Pipeline:
    usual: dict[str, Any] = {"source": sources.files("data/{start:%Y-%m-%d}.parquet", event_time="scheduled"), "schedule": "@daily"}
    usual |= {"start": START, "windows": {"day": windows.tumbling("1d")}, "aggregates": {"n": agg.count()}, "name": "p"}
    return Pipeline(**usual | other)


@pytest.mark.parametrize("window", WINDOWS.values(), ids=WINDOWS)
def test_each_window_builds(window: Callable[[], Any]) -> None:
    assert [*pipeline(windows={"w": window()}, keys=["site"]).windows] == ["w"]


@pytest.mark.parametrize("arguments", ARGUMENTS.values(), ids=ARGUMENTS)
def test_each_argument_builds(arguments: Callable[[], dict[str, Any]]) -> None:
    assert pipeline(**arguments()).name == "p"


def test_orders_that_change_build_as_the_contract_has_them() -> None:
    orders = Pipeline(
        name="orders",
        source=sources.files(
            "orders/{start:%Y-%m-%d}/*.csv",
            event_time=at("ordered", timezone="Europe/Berlin", format="%d.%m.%Y %H:%M"),
            format=csv(delimiter=";", decimal=",", thousands=".", skip_lines=1),
            changes=changes(id="order_id", operation="op", deletes="cancelled", within="30d", newest_by="updated_at"),
        ),
        schedule="@daily",
        start=START,
        timezone="Europe/Berlin",
        windows={"day": windows.tumbling("1d", grace="2h", allowed_lateness="30d")},
        aggregates={"revenue": agg.sum("amount")},
        limits=Limits(max_quarantined=0.5, max_behind="90d", max_ahead="1d", fresh_within="3h"),
        retain=Retain(states="400d", windows="5y", refused="90d"),
    )
    assert orders.fresh_within_us == 3 * 3_600_000_000
    assert orders.origin.types == {"order_id": "VARCHAR"}, "text does not say that 007 is an id"


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (run, "pipeline root start end spark validate"),
        (plan, "pipeline root start end"),
        (read, "pipeline window root provisional"),
        (as_of, "pipeline window rows at root"),
        (over, "pipeline start end by root"),
        (airflow_dag, "pipeline spark"),
        (forget, "pipeline root"),
    ],
)
def test_each_function_takes_what_the_contract_calls_it_with(function: Callable[..., Any], arguments: str) -> None:
    assert {*arguments.split()} <= {*signature(function).parameters}


def test_the_version_is_known() -> None:
    assert muntin.__version__ == metadata.version("muntin")


def test_the_commands_are_sixteen() -> None:
    said = subprocess.run([sys.executable, "-m", "muntin", "--help"], capture_output=True, text=True, check=True).stdout
    assert [name for name in COMMANDS if f" {name} " not in said] == []


def test_extensions_are_entry_points_that_an_interface_describes() -> None:
    from muntin.extensions import interface

    assert interface.__doc__
    assert {"sources.kafka", "sinks.iceberg"} <= {each.name for each in metadata.entry_points(group="muntin.extensions")}


@at_length
def test_examples_and_templates_are_typed(tmp_path: Path) -> None:
    """Each template by itself, as the project that `muntin new` makes of it."""
    root = Path(__file__).parents[2]
    templates = [folder for folder in (root / "pipelines/muntin/templates").iterdir() if (folder / "dags").is_dir()]
    for folder, files in [(root, ["examples", "dags"]), *((each, ["dags", "sample_data.py"]) for each in templates)]:
        mypy = [sys.executable, "-m", "mypy", "--config-file", str(root / "pyproject.toml"), f"--cache-dir={tmp_path}", "--exclude=nothing"]
        said = subprocess.run(
            [*mypy, *files], cwd=folder, env=os.environ | {"MYPYPATH": str(root / "pipelines")}, capture_output=True, text=True, check=False
        )
        assert said.stdout.startswith("Success"), said.stdout
