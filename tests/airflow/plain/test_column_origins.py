"""Which columns of a source a result is made of: by the expressions of the definition, and as OpenLineage is told."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from muntin import Pipeline, sources, windows
from muntin import aggregates as agg
from muntin.aggregates.aggregate import Aggregate
from muntin.extensions.airflow.column_lineage import column_origins, inputs_of
from muntin.jobs.state.bound import bind

START = datetime(2024, 1, 1, tzinfo=UTC)


def pipeline(**more: Any) -> Pipeline:
    known = {
        "name": "flights",
        "source": sources.files("data/{start:%Y-%m-%d}.csv", event_time="scheduled"),
        "schedule": "@daily",
        "start": START,
        "keys": ["origin"],
        "windows": {"day": windows.tumbling("1d")},
        "aggregates": {"n": agg.count()},
    }
    return Pipeline(**(known | more))  # type: ignore[arg-type]


def origins(column: str, **more: Any) -> dict[str, set[tuple[str, str]]]:
    """Kind and way -> the columns, each with its source, that a column of `day` is made of."""
    found: dict[str, set[tuple[str, str]]] = {}
    for each in column_origins(bind(pipeline(**more), Path("none")), "day")[column]:
        found.setdefault(f"{each.kind} {each.how}", set()).add((each.source, each.column))
    return found


AROUND = {"INDIRECT GROUP_BY": {("", "origin")}, "INDIRECT WINDOW": {("", "scheduled")}}


def test_keys_and_times() -> None:
    assert origins("origin") == {"DIRECT IDENTITY": {("", "origin")}}
    assert origins("window_start") == origins("window_end") == {"DIRECT TRANSFORMATION": {("", "scheduled")}}


@pytest.mark.parametrize(
    ("aggregate", "columns"),
    [
        (agg.count(), set()),
        (agg.mean("arr - dep"), {"arr", "dep"}),
        (agg.max_by("city", "arr"), {"city", "arr"}),
        (agg.weighted_mean("x", "w"), {"x", "w"}),
        (agg.median("x"), {"x"}),
        (agg.collect('"order".price'), {"order"}),
        (agg.approx_top_k("city", 3), {"city"}),
        (agg.sum("list_sum(list_transform(prices, lambda each: each * rate))"), {"prices", "rate"}),
    ],
)
def test_aggregates_name_what_their_expressions_do(aggregate: Aggregate, columns: set[str]) -> None:
    found = origins("it", aggregates={"it": aggregate})
    assert found == AROUND | ({"DIRECT AGGREGATION": {("", name) for name in columns}} if columns else {})


def test_conditions_filter() -> None:
    found = origins("it", aggregates={"it": agg.sum("x", where="not cancelled")}, where="kind = 'real'")
    assert found == AROUND | {"DIRECT AGGREGATION": {("", "x")}, "INDIRECT FILTER": {("", "kind"), ("", "cancelled")}}


def test_derived_columns_are_made_of_what_they_name() -> None:
    aggregates, derive = {"x": agg.sum("a"), "y": agg.sum("b")}, {"share": "x / y", "double": "share * 2"}
    found = origins("double", aggregates={**aggregates, **derive})
    assert found == AROUND | {"DIRECT AGGREGATION": {("", "a"), ("", "b")}}


def test_columns_of_dimensions_are_of_these() -> None:
    rates = {"rates": sources.lookup(sources.files("rates/*.csv"), keys=["currency"], since="since")}
    found = origins("it", lookups=rates, aggregates={"it": agg.sum("x * rates.rate")})
    assert found == AROUND | {"DIRECT AGGREGATION": {("", "x"), ("rates", "rate")}}


def test_each_of_several_sources_has_its_own() -> None:
    two = {name: sources.files(f"{name}/{{start:%Y-%m-%d}}.csv", event_time=f"{name}_at") for name in ("clicks", "orders")}
    found = origins("it", source=two, aggregates={"it": agg.sum("x", source="orders"), "n": agg.count()}, where={"clicks": "real"})
    assert found == {
        "DIRECT AGGREGATION": {("orders", "x")},
        "INDIRECT GROUP_BY": {("orders", "origin")},
        "INDIRECT WINDOW": {("orders", "orders_at")},
    }


@pytest.mark.parametrize(
    ("source", "dataset"),
    [
        (sources.files("/data/{start:%Y-%m-%d}/*.csv", event_time="at"), ("file", "/data")),
        (sources.files("s3://bucket/a/{start:%Y-%m-%d}.csv", event_time="at"), ("s3://bucket", "a")),
        (sources.table("/lake/a b", event_time="at"), ("file", "/lake/a b")),
        (sources.iceberg("lake", "shop.orders", event_time="at"), ("iceberg://lake", "shop.orders")),
        (
            sources.kafka("broker:9092", "orders", value="json", columns={"at": "TIMESTAMPTZ"}, event_time="at"),
            ("kafka://broker:9092", "orders"),
        ),
        (sources.spark(print, event_time="at"), None),
    ],
)
def test_openlineage_is_told_datasets_by_its_own_rules(source: Any, dataset: tuple[str, str] | None) -> None:
    told = inputs_of(bind(pipeline(source=source), Path("none")), "day")
    assert told["origin"] == ([(dataset, "origin", [("DIRECT", "IDENTITY")])] if dataset else [])


def test_an_upstream_is_the_table_of_its_windows() -> None:
    above = pipeline(source=sources.windows(pipeline(), "day", event_time="window_start"), aggregates={"total": agg.sum("n")}, name="above")
    [(dataset, column, how)] = [each for each in inputs_of(bind(above, Path("/state")), "day")["total"] if each[1] == "n"]
    assert (dataset[0], dataset[1].startswith("/state/flights/"), column, how) == ("file", True, "n", [("DIRECT", "AGGREGATION")])
