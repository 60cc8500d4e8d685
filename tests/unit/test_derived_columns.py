"""Columns that a file does not hold follow from those it holds, to the last bit."""

import random
import struct
from collections.abc import Collection
from decimal import Decimal

import pyarrow as pa
import pytest

from muntin.aggregates.lifts import Narrowed
from muntin.definition.expressions import Plain
from muntin.sources.reading.row_times import is_event_time
from muntin.sources.reading.values_once import values_once
from muntin.sources.sessions.duckdb_session import any_session
from muntin.states.derived_columns import following, footer_for, footer_of, together, whole, whole_schema

LIFTS = {
    "rows": Plain("count(*)", "count", "1"),
    "sum_x": Plain("coalesce(sum(x), 0)", "sum", "x"),
    "count_x": Plain("count(x)", "count", "x"),
    "min_x": Plain("min(x)", "least", "x"),
    "max_x": Plain("max(x)", "greatest", "x"),
    "first_x": Plain("arg_min(x, place)", "first", "x"),
    "last_x": Plain("arg_max_null(x, place)", "value", "x"),
    "at_x": Plain("arg_max_null(x, {'by': place, 'at': -place}) FILTER (WHERE place % 2 = 0)", "at_greatest", "x", "nullif(place % 2, 1)"),
}
VALUES = {
    "DOUBLE": [0.1, -0.0, 0.0, float("nan"), float("-inf"), 1e300, None],
    "FLOAT": [0.5, -0.0, 0.0, float("nan"), float("inf"), None],
    "BIGINT": [2**62, -(2**63), 0, 7, None],
    "INTEGER": [2**31 - 1, -(2**31), 0, None],
    "TINYINT": [127, -128, 0, None],
    "DECIMAL(9,2)": [Decimal("-0.01"), Decimal("9999999.99"), None],
    "VARCHAR": ["a", "", None],
}
TOTALS = {"DOUBLE": "DOUBLE", "FLOAT": "DOUBLE", "DECIMAL(9,2)": "DECIMAL(38,2)", "VARCHAR": None}


def kinds_of(kind: str, lifts: Collection[str]) -> dict[str, str]:
    """Column -> its SQL type, where the row's value has a type."""
    fixed = {"rows": "BIGINT", "count_x": "BIGINT", "sum_x": TOTALS.get(kind, "BIGINT") or ""}
    return {name: fixed.get(name.removesuffix("_some"), kind) for name in lifts}


def rows_of(kind: str, seed: int) -> str:
    """A relation with a column x of a type, one row after another."""
    chance = random.Random(seed)
    texts = ["NULL" if one is None else f"'{one}'" for one in (chance.choice(VALUES[kind]) for _ in range(seed * 20))]
    return f"(SELECT x::{kind} AS x, place FROM (VALUES {', '.join(f'({text}, {at})' for at, text in enumerate(texts))}) AS t(x, place))"


def bits(table: pa.Table) -> list[list[object]]:
    """The values, floats as their bits: -0.0 is not 0.0, and NaN is NaN."""
    return [[struct.pack("d", one) if isinstance(one, float) else one for one in column.to_pylist()] for column in table.columns]


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("seed", range(1, 4))
def test_what_follows_is_what_an_aggregate_of_each_row_gives(kind: str, seed: int) -> None:
    lifts = {name: lift for name, lift in LIFTS.items() if name != "sum_x" or TOTALS.get(kind, "BIGINT")}
    lifts |= {f"{name}_some": Narrowed(lift, "place % 3 = 0") for name, lift in lifts.items() if name != "rows"}
    kinds = kinds_of(kind, lifts)
    rows, session = rows_of(kind, seed), any_session()
    grouped = {
        name: lift.lift.replace("(x", "(CASE WHEN place % 3 = 0 THEN x END") if isinstance(lift, Narrowed) else lift
        for name, lift in lifts.items()
    }
    each = ", ".join(f"({sql})::{kinds[name]} AS {name}" for name, sql in grouped.items())
    expected = session.sql(f"SELECT place, {each} FROM {rows} GROUP BY place ORDER BY place").to_arrow_table()
    found = values_once(lifts, kinds, kinds)
    assert found is not None
    held, follows = found
    query = f"SELECT place, {', '.join(f'{sql} AS {name}' for name, sql in held.items())} FROM {rows} ORDER BY place"
    table = session.sql(query).to_arrow_table().replace_schema_metadata(footer_for(follows))
    seen = whole(table)
    assert seen.schema == expected.schema
    assert bits(seen) == bits(expected)
    assert whole_schema(table.schema) == seen.schema
    assert following(table.schema) == {*lifts} - {*held}
    assert len(held) == (4 if kind in ("DOUBLE", "BIGINT", "INTEGER", "TINYINT") else 8 if kind == "FLOAT" else 6)


def test_values_of_other_types_are_held_apart() -> None:
    """A whole number as FLOAT is another value than as DOUBLE."""
    lifts = {name: LIFTS[name] for name in ("min_x", "sum_x")}
    kinds = {"min_x": "FLOAT", "sum_x": "DOUBLE"}
    found = {"min_x": "(x)::FLOAT", "sum_x": "(x)::DOUBLE"}, {"min_x": None, "sum_x": ("total", "sum_x")}
    assert values_once(lifts, kinds, kinds) == found


def test_a_value_that_may_hold_a_null_of_its_own_is_counted_by_itself() -> None:
    kinds = {"min_x": "VARCHAR", "count_x": "BIGINT"}
    found = values_once({name: LIFTS[name] for name in kinds}, kinds, kinds)
    assert found == ({"min_x": "(x)::VARCHAR", "count_x": "((x) IS NOT NULL)::BIGINT"}, {"min_x": None, "count_x": None})


def test_an_instant_that_is_the_event_time_is_the_frame_s() -> None:
    """Before 1970, too; the difference of a window by the event time is about it."""
    lifts = {"delta": Plain("any_value(us(t))", "value", "us(t)"), "rows": LIFTS["rows"]}
    kinds = {"delta": "BIGINT", "rows": "BIGINT"}
    once = values_once(lifts, kinds, kinds, lambda value: value == "us(t)")
    assert once == ({}, {"delta": ("instant", "frame"), "rows": ("one", "")})
    frames = pa.array([-(2**50), -1, 0, 2**50], pa.timestamp("us", tz="UTC"))
    seen = whole(pa.table({"k": ["a"] * 4, "frame": frames}).replace_schema_metadata(footer_for(once[1])))
    assert seen["delta"].type == pa.int64()
    assert seen["delta"].to_pylist() == [-(2**50), -1, 0, 2**50]
    assert values_once(lifts, kinds, {**kinds, "delta": "DOUBLE"}, lambda _: True) == (
        {"delta": "(us(t))::DOUBLE"},
        {"delta": None, "rows": ("one", "")},
    )


@pytest.mark.parametrize(
    ("name", "kind", "value"),
    [
        ("t", "TIMESTAMP", "epoch_us((t)::TIMESTAMPTZ)"),  # of which zone it is, the source says
        ("t", "DATE", "epoch_us((t)::TIMESTAMPTZ)"),
        ("t", "VARCHAR", "epoch_us((t)::TIMESTAMPTZ)"),
        ("t", "TIMESTAMP WITH TIME ZONE", "epoch_us((t + INTERVAL 1 DAY)::TIMESTAMPTZ)"),
        ("t", "TIMESTAMP WITH TIME ZONE", "epoch_us((u)::TIMESTAMPTZ)"),
    ],
)
def test_another_value_is_not_taken_for_the_event_time(name: str, kind: str, value: str) -> None:
    assert not is_event_time(name, {"t": kind, "u": "TIMESTAMP WITH TIME ZONE"}, value)
    assert is_event_time("a b", {"a b": "TIMESTAMP WITH TIME ZONE"}, 'epoch_us(("a b")::TIMESTAMPTZ)')


def test_a_lift_that_cannot_be_told_of_one_row_leaves_all_to_groups() -> None:
    kinds = {"n": "BIGINT", "items": "BIGINT[]"}
    assert values_once({"n": LIFTS["rows"], "items": "list(x)"}, kinds, kinds) is None


def test_files_that_say_the_same_stay_as_they_are_and_others_become_whole() -> None:
    plain = pa.table({"k": ["a"], "rows": [1], "sum_x": [3], "min_x": [3]})
    once = pa.table({"k": ["b"], "min_x": pa.array([None], pa.int64())})
    once = once.replace_schema_metadata(footer_for({"rows": ("one", ""), "sum_x": ("total", "min_x"), "min_x": None}) | {b"other": b"fact"})
    alike = together([once, once])
    assert (alike.column_names, footer_of(alike.schema)) == (["k", "min_x"], footer_of(once.schema))
    assert b"other" not in alike.schema.metadata
    mixed = together([plain, once, plain])
    assert mixed.to_pylist()[1] == {"k": "b", "rows": 1, "sum_x": 0, "min_x": None}
    assert (mixed.column_names, mixed.schema.metadata) == (plain.column_names, None)
