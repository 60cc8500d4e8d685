"""Which windows two tables do not share: against a comparison in plain Python, to the last bit."""

import math
import random
import struct
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

from muntin.jobs.published.change_lines import change_lines
from muntin.jobs.published.changes import compared

START = datetime(2024, 1, 1, tzinfo=UTC)
INSTANT = pa.timestamp("us", tz="UTC")
SCHEMA = pa.schema(
    {
        "k": pa.string(),
        "window_start": INSTANT,
        "window_end": INSTANT,
        "n": pa.int64(),
        "x": pa.float64(),
        "list": pa.list_(pa.float64()),
        "batch": INSTANT,
    }
)
IDENTITY = ("k", "window_start", "window_end")
Row = dict[str, Any]


def row(k: str | None, hour: int, n: int | None = 1, x: float | None = 0.0, *, batch: int = 0, many: list[float] | None = None) -> Row:
    start = START + timedelta(hours=hour)
    end = start + timedelta(hours=1)
    return {"k": k, "window_start": start, "window_end": end, "n": n, "x": x, "list": many, "batch": START + timedelta(days=batch)}


def table(rows: list[Row]) -> pa.Table:
    return pa.Table.from_pylist(rows, SCHEMA)


def said(before: list[Row], after: list[Row]) -> list[tuple[Any, int, str, Any, Any]]:
    """Key, hour, change, old values, new values."""
    found = compared(table(before), table(after), identity=IDENTITY).rows()
    return [(each["key"]["k"], each["window_start"].hour, each["change"], each["old"], each["new"]) for each in found]


@pytest.mark.parametrize("name", ["old", "new", "change", "key"])
def test_a_key_may_have_the_name_of_what_is_said_beside_it(name: str) -> None:
    before, after = (table([row("a", 0, n)]).rename_columns({"k": name}) for n in (1, 2))
    (found,) = compared(before, after, identity=(name, "window_start", "window_end")).rows()
    assert (found["key"], found["change"], found["old"], found["new"]) == ({name: "a"}, "changed", {"n": 1}, {"n": 2})


#          0h     1h     2h     3h
# before   1      1      1
# after    1      2             1
def test_same_changed_gone_and_new() -> None:
    before = [row("a", 0), row("a", 1), row("a", 2)]
    after = [row("a", 0), row("a", 1, 2), row("a", 3)]
    whole = {"n": 1, "x": 0.0, "list": None}
    assert said(before, after) == [
        ("a", 1, "changed", {"n": 1}, {"n": 2}),
        ("a", 2, "gone", whole, None),
        ("a", 3, "new", None, whole),
    ]


def test_null_is_a_key() -> None:
    assert said([row(None, 0, 1), row("a", 0, 1)], [row("a", 0, 1), row(None, 0, 5)]) == [(None, 0, "changed", {"n": 1}, {"n": 5})]


def test_the_batch_that_closed_it_does_not_count() -> None:
    assert said([row("a", 0, batch=0)], [row("a", 0, batch=3)]) == []


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        (0.1 + 0.2, 0.3, True),
        (0.0, -0.0, True),
        (math.nan, math.nan, False),
        (math.nan, 1.0, True),
        (None, math.nan, True),
        (None, None, False),
        (None, 0.0, True),
    ],
)
def test_values_count_to_the_last_bit(one: float | None, other: float | None, differ: bool) -> None:
    assert bool(said([row("a", 0, x=one)], [row("a", 0, x=other)])) is differ


@pytest.mark.parametrize(
    ("one", "other", "differ"), [([1.0], [1.0], False), ([1.0], [2.0], True), ([], None, True), ([1.0], [1.0, 1.0], True)]
)
def test_lists(one: list[float] | None, other: list[float] | None, differ: bool) -> None:
    assert bool(said([row("a", 0, many=one)], [row("a", 0, many=other)])) is differ


def test_a_column_that_one_table_lacks_does_not_count() -> None:
    assert len(compared(table([row("a", 0)]).drop_columns(["x"]), table([row("a", 0, x=5.0)]), identity=IDENTITY)) == 0


def test_nothing_on_either_side() -> None:
    assert said([], []) == []
    assert [each[2] for each in said([], [row("a", 0)])] == ["new"]
    assert [each[2] for each in said([row("a", 0)], [])] == ["gone"]


def bits(value: float | None) -> bytes | None:
    return None if value is None else struct.pack("d", value)


@pytest.mark.parametrize("seed", range(40))
def test_as_a_comparison_in_plain_python(seed: int) -> None:
    dice = random.Random(seed)

    def some() -> list[Row]:
        places = [(k, hour) for k in ("a", "b", None) for hour in range(6) if dice.random() < 0.7]
        dice.shuffle(places)
        return [row(k, hour, dice.choice([1, 2, None]), dice.choice([0.0, -0.0, math.nan, 1.5, None])) for k, hour in places]

    before, after = some(), some()
    old, new = ({(each["k"], each["window_start"].hour): (each["n"], bits(each["x"])) for each in rows} for rows in (before, after))
    wanted = {(place, "gone") for place in old.keys() - new.keys()} | {(place, "new") for place in new.keys() - old.keys()}
    wanted |= {(place, "changed") for place in old.keys() & new.keys() if old[place] != new[place]}
    assert {((k, hour), change) for k, hour, change, *_ in said(before, after)} == wanted


def test_lines_for_people() -> None:
    found = compared(table([row("a", hour) for hour in range(4)]), table([row("a", hour, 2) for hour in range(3)]), identity=IDENTITY)
    assert list(change_lines("day", [found], limit=2)) == [
        "day: 4 published windows changed (3 changed, 1 gone)",
        "  k=a [2024-01-01, 2024-01-01T01:00): n 1 -> 2",
        "  k=a [2024-01-01T01:00, 2024-01-01T02:00): n 1 -> 2",
        "  ... 2 more",
    ]
    assert list(change_lines("day", [])) == []
