"""The contract of published windows: types, keys and texts of the tables as they are, before the first run and after it."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

from muntin import Limits, Retain, read, windows
from muntin import aggregates as agg
from muntin.errors import SourceError
from muntin.extensions.contracts.agreed import agreed
from muntin.extensions.contracts.breaks import breaks
from muntin.extensions.contracts.contract import _server, contract
from muntin.files.object_path import ObjectPath
from muntin.jobs.state.bound import Bound
from tests.catalogue.kinds import KINDS
from tests.end_to_end.hourly import Hourly, hour, times
from tests.page.test_every_kind import made
from tests.several.shop import Shop, click, order

OTHER: dict[str, Any] = {
    "description": 'prices of "cities"\x1b[2J',
    "keys": ["city", "day"],
    "windows": {
        "hour": windows.tumbling("1h"),
        "visit": windows.session("20m"),
        "pair": windows.arrival(windows.by_count(1)),
        "ever": windows.all_time(),
    },
    "aggregates": {
        "n": agg.count(),
        "total": agg.sum("price", unit="EUR", comment="of all sales"),
        "mean": agg.mean("price"),
        "dear": agg.max("amount"),
        "who": agg.first("name"),
        "names": agg.collect("name"),
        "kinds": agg.count_by("name"),
        "half": agg.median("price"),
        "about": agg.approx_count_distinct("name"),
        "candle": agg.candlestick("price", "price"),
        "best": agg.max("price", n=2),
        "share": "total / n",
        "label": "'n' || n::VARCHAR",
    },
}
ROWS = {
    "at": times(5, 10, 15),
    "city": ["a", "a", None],
    "day": [date(2024, 1, 1)] * 3,
    "price": [1, 2, None],
    "amount": [Decimal("1.50"), Decimal("2.25"), None],
    "name": ["x", "y", None],
}


@pytest.fixture(scope="module")
def before_and_after(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], dict[str, Any], Hourly]:
    """Contracts before and after the first run, and what was run."""
    shop = Hourly(tmp_path_factory.mktemp("shop"), other=OTHER, source={"missing": "empty"})
    shop.write("00.parquet", ROWS)
    first = contract(shop.pipeline, root=shop.root)
    assert not shop.root.exists()
    shop.run(0, 3)
    return first, contract(shop.pipeline, root=shop.root), shop


def columns(found: Mapping[str, Any], table: str) -> dict[str, Any]:
    [one] = [each for each in found["schema"] if each["name"] == table]
    return {each["name"]: each for each in one["properties"]}


def test_the_types_before_the_first_run_are_those_after_it(before_and_after: tuple[Any, Any, Hourly]) -> None:
    first, second, _ = before_and_after
    assert first == second
    assert breaks(agreed(first, "before"), agreed(second, "now"), {}) == []


@pytest.mark.parametrize("window", ["hour", "visit", "pair"])
def test_types_and_nulls_are_those_of_published_windows(before_and_after: tuple[Any, Any, Hourly], window: str) -> None:
    _, found, shop = before_and_after
    published = read(shop.pipeline, window, root=shop.root)
    assert len(published) > 1
    types = {name: kind for name, kind, *_ in duckdb.sql("DESCRIBE FROM published").fetchall()}
    assert {name: each["physicalType"] for name, each in columns(found, window).items()} == types
    required = {name for name, each in columns(found, window).items() if each["required"]}
    assert required >= {"window_start", "window_end", "batch", "n"}
    assert not {name for name in published.column_names if published[name].null_count} & required


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_kind_keeps_it(kind: Any, tmp_path: Path) -> None:
    hourly = made(tmp_path, kind.window)
    published = read(hourly.pipeline, "w", root=hourly.root, dense=False)
    found = contract(hourly.pipeline, root=hourly.root)
    if kind.name == "all_time":
        assert found["schema"] == []
        return
    parts = columns(found, "w")
    types = {name: kind for name, kind, *_ in duckdb.sql("DESCRIBE FROM published").fetchall()}
    assert {name: each["physicalType"] for name, each in parts.items()} == types
    assert not {name for name in published.column_names if published[name].null_count} & {name for name in parts if parts[name]["required"]}
    assert breaks(agreed(found, "before"), agreed(json.loads(json.dumps(found)), "now"), {}) == []
    keys = [name for name, each in parts.items() if each.get("primaryKey")]
    assert len(published.group_by(keys).aggregate([])) == len(published)


def test_logical_types_units_and_texts(before_and_after: tuple[Any, Any, Hourly]) -> None:
    _, found, _ = before_and_after
    hour = columns(found, "hour")
    assert {name: each["logicalType"] for name, each in hour.items()} == {
        "city": "string", "day": "date", "window_start": "timestamp", "window_end": "timestamp", "n": "integer", "total": "integer",
        "mean": "number", "dear": "number", "who": "string", "names": "array", "kinds": "object", "half": "number", "about": "integer",
        "candle": "object", "best": "array", "share": "number", "label": "string", "batch": "timestamp",
    }  # fmt: skip
    assert hour["total"]["customProperties"] == [{"property": "unit", "value": "EUR"}]
    assert hour["total"]["description"] == "sum(price) [EUR]: of all sales"
    assert found["description"] == {"purpose": OTHER["description"]}


def test_keys_are_the_columns_that_tell_windows_apart(before_and_after: tuple[Any, Any, Hourly]) -> None:
    _, found, _ = before_and_after
    keys = {}
    for table in found["schema"]:
        positions = {each["primaryKeyPosition"]: each["name"] for each in table["properties"] if each.get("primaryKey")}
        keys[table["name"]] = [positions[at] for at in sorted(positions)]
    bounds = ["city", "day", "window_start", "window_end"]
    assert keys == {"hour": bounds, "visit": bounds, "pair": ["city", "day", "window_index"]}  # `ever` is never published


def test_it_has_what_the_standard_asks_for(before_and_after: tuple[Any, Any, Hourly]) -> None:
    _, found, shop = before_and_after
    assert {"apiVersion": "v3.1.0", "kind": "DataContract", "id": "hourly", "status": "active"}.items() <= found.items()
    assert isinstance(found["version"], str)
    assert found["servers"] == [{"server": "windows", "type": "local", "path": f"{shop.root}/hourly/windows", "format": "delta"}]
    assert all(Path(found["servers"][0]["path"], table["name"], "_delta_log").is_dir() for table in found["schema"])


@pytest.mark.parametrize(("root", "kind"), [("s3://lake/state", "s3"), ("gs://lake/state", "custom")])
def test_tables_in_an_object_store_have_their_address(tmp_path: Path, root: str, kind: str) -> None:
    server = _server(Bound(Hourly(tmp_path).pipeline, ObjectPath(f"{root}/hourly/0123456789ab")))
    assert server == {"server": "windows", "type": kind, "location": f"{root}/hourly/windows", "format": "delta"}


def small(folder: Path, **other: Any) -> dict[str, Any]:
    shop = Hourly(folder, other=other)
    shop.write("00.parquet", {"at": times(5), "price": [1]})
    return contract(shop.pipeline, root=shop.root)


def test_what_readers_may_count_on_in_time(tmp_path: Path) -> None:
    service = small(tmp_path, limits=Limits(fresh_within="3h"), retain=Retain(windows="30d"))["slaProperties"]
    assert [(each["property"], each["value"], each["unit"]) for each in service] == [
        ("frequency", 3600, "s"), ("latency", 10_800, "s"), ("retention", 30 * 86_400, "s"),
    ]  # fmt: skip
    weekdays = Hourly(tmp_path, path="{start:%Y-%m-%d}.parquet", other={"schedule": "0 6 * * 1-5", "start": hour(6)})
    weekdays.write("2024-01-01.parquet", {"at": times(400)})
    weekdays.write("2024-01-02.parquet", {"at": times(1800)})
    [frequency] = contract(weekdays.pipeline, root=tmp_path)["slaProperties"]
    assert frequency == {"property": "frequency", "value": "0 6 * * 1-5", "scheduler": "cron", "schedule": "0 6 * * 1-5"}
    before, now = (agreed(contract(replace(weekdays.pipeline, timezone=zone), root=tmp_path), "here") for zone in ("UTC", "Europe/Berlin"))
    assert [each.now for each in breaks(before, now, {})] == ["0 6 * * 1-5 Europe/Berlin"]


def test_suites_stand_in_it(tmp_path: Path) -> None:
    kwargs = {"column": "n", "min_value": 1}
    suite = tmp_path / "hour.json"
    expected = [{"type": "expect_column_values_to_be_between", "kwargs": kwargs, "severity": "warning"}]
    suite.write_text(json.dumps({"name": "hour", "expectations": expected}))
    [table] = small(tmp_path, expectations={"hour": str(suite)})["schema"]
    assert "customProperties" not in table
    assert table["quality"] == [
        {
            "type": "custom", "engine": "great-expectations", "severity": "warning",
            "implementation": {"type": "expect_column_values_to_be_between", "kwargs": kwargs},
            "customProperties": [{"property": "suite", "value": "hour.json"}],
        }
    ]  # fmt: skip


def test_readers_are_told_that_a_person_may_let_windows_through(tmp_path: Path) -> None:
    suite = tmp_path / "hour.json"
    suite.write_text(json.dumps({"name": "hour", "expectations": [{"type": "expect_table_row_count_to_be_between", "kwargs": {}}]}))
    held, asked = (small(tmp_path, expectations={"hour": str(suite)}, limits=each) for each in (Limits(), Limits(ask_within="1d")))
    [said] = asked["schema"][0]["customProperties"]
    assert (said["property"], said["value"], "published if a person says so" in said["description"]) == ("on_failure", "ask", True)
    assert held["version"] != asked["version"]
    assert [each.now for each in breaks(agreed(held, "before"), agreed(asked, "now"), {})] == ["ask"]


def test_the_version_follows_what_is_agreed(tmp_path: Path) -> None:
    one, same, other = small(tmp_path), small(tmp_path, to=[]), small(tmp_path, aggregates={"n": agg.count(), "twice": "2 * n"})
    assert one["version"] == same["version"] != other["version"]


def test_names_of_columns_are_text(tmp_path: Path) -> None:
    name = "pr\"ice'; --"
    shop = Hourly(tmp_path, other={"keys": [name]})
    shop.write("00.parquet", {"at": times(5), name: [1]})
    assert columns(contract(shop.pipeline, root=shop.root), "hour")[name]["physicalType"] == "BIGINT"


def test_a_type_that_nothing_tells_is_left_out(tmp_path: Path) -> None:
    shop = Hourly(tmp_path, other={"windows": {"hour": windows.while_same("price", name="same")}})
    for at in range(3):
        shop.write(f"{at:02d}.parquet", {"at": times(60 * at), "price": [at]})
    assert "physicalType" not in columns(contract(shop.pipeline, root=shop.root), "hour")["same"]
    shop.run(0, 2)
    assert columns(contract(shop.pipeline, root=shop.root), "hour")["same"]["physicalType"] == "BIGINT"


def test_of_several_sources(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    shop.write("clicks", 0, [click(1, "a")])
    shop.write("orders", 0, [order(2, "a", 5)])
    first = contract(shop.pipeline, root=tmp_path / "state")
    assert columns(first, "hour")["spent"]["physicalType"] == "BIGINT"
    shop.run()
    assert contract(shop.pipeline, root=tmp_path / "state") == first


def test_without_rows_no_type_is_known(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="types of the columns of 'hourly' are not known"):
        contract(Hourly(tmp_path).pipeline, root=tmp_path / "state")
