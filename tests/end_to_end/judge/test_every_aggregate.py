"""Every aggregate of the catalogue in every kind of window, by the public API: one state of a window's rows is the naive answer.

Which rows a window has is told by `collect`, which other tests judge.

`MUNTIN_JUDGE=100` takes a hundred histories instead of one.
"""

import os
import random
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import Pipeline, read, run, sources, windows
from muntin import aggregates as agg
from muntin.aggregates.aggregate import Aggregate, sealed
from muntin.laws.states import combined, queried
from muntin.sources.reading.lift_sql import lifts_sql
from muntin.states.columns import EVENT_TIME, ORDER, ORDINAL
from tests.case_counts import some
from tests.catalogue.aggregates import ROWS
from tests.catalogue.columns import COLUMNS
from tests.catalogue.kinds import KINDS
from tests.end_to_end.judge.verdict import bit
from tests.properties.equal_values import alike
from tests.storage.three_batches import HERE

BEGIN, STEP = datetime(2024, 1, 1, tzinfo=UTC), timedelta(minutes=10)
SCHEMA = pa.schema({"t": pa.timestamp("us", tz="UTC"), "k": pa.string(), "id": pa.int64(), **COLUMNS})
INSTANT = SCHEMA.field("t").type

WINDOWS: dict[str, Any] = {kind.name: kind.window for kind in KINDS} | {
    "month": windows.tumbling("1mo"),
    "last_rows": windows.arrival(windows.by_count(5), trigger=windows.by_count(2)),
    "grown": windows.arrival(windows.by_delta("n", 6)),
    "marked": windows.arrival(windows.by_punctuation("n = 7")),
}


def kept(state: list[Any], other: Any) -> list[Any]:
    return sorted([*state, *(other if isinstance(other, list) else [other])])


# what values that hurt ask for beyond the table's calls: decimals of 38 digits, doubles beside 1e15, infinity
MORE: list[Aggregate] = [
    agg.sum("x"), agg.sum("d"), agg.sum("x", where="n > 2"), agg.mean("y"), agg.max("d"), agg.any_value("d"), agg.count_distinct("d"),
    agg.min("x"), agg.weighted_mean("n", "n * n"), agg.geometric_mean("abs(n) + 1"), agg.candlestick("n", "n * n"),
    agg.variance("y"), agg.variance("n", where="b"), agg.kurtosis("y"), agg.covariance("n", "y"), agg.correlation("n", "y"),
    agg.linear_trend("epoch(t)", "n"), agg.time_weighted_mean("y", method="linear"), agg.approx_quantiles("y", [0.1, 0.5]), agg.mode("x"),
    agg.first("x"), agg.all_of("b"), agg.collect("x"), agg.collect_sorted("s", by="n", descending=True), agg.approx_count_distinct("x"),
    agg.by("s", agg.rate()), agg.by("s", agg.stddev("n")), agg.by("b", agg.approx_count_distinct("n")),
    agg.by("s", agg.count(where="b"), where="n > 0"),
    agg.own("least", "n", create=list, accumulate=kept, combine=kept, finish=lambda found: found[:2], returns=pa.list_(pa.int64())),
]  # fmt: skip
ASKED = [row.made() for row in ROWS] + MORE
AGGREGATES = {f"a{at}": each for at, each in enumerate(ASKED)}


def batch(seed: int, number: int) -> list[dict[str, Any]]:
    """Rows in order of arrival: event times out of order, some of the batch before; values that hurt."""
    dice = random.Random(100 * seed + number)
    return [
        {
            "t": BEGIN + number * STEP + timedelta(seconds=dice.choice([dice.randint(0, 599), dice.randint(-200, 599), 30])),
            "k": dice.choice("ab"),
            "id": 1000 * number + at,
            "n": dice.choice([None, 0, -4, 7, dice.randint(-9, 9)]),
            "x": dice.choice([None, float("nan"), float("inf"), -0.0, 0.0, 1.5, dice.random()]),
            "y": dice.choice([1e15, 1e15 + dice.randint(0, 9) / 8, None]),
            "s": dice.choice([None, "", "ü", "p", "q"]),
            "b": dice.choice([None, True, False]),
            "d": dice.choice([None, Decimal("9" * 34 + ".99"), Decimal("-1.25")]),
            "l": dice.choice([None, [], [1.5, None], [dice.random()] * 3]),
            "m": dice.choice([None, [dice.random()], [2.5, 0.5]]),
        }
        for at in range(dice.randint(12, 24))
    ]


BATCHES = range(4)


def write(folder: Path, number: int, rows: Sequence[Mapping[str, Any]]) -> None:
    folder.mkdir(exist_ok=True)
    pq.write_table(pa.Table.from_pylist(list(rows), SCHEMA), folder / f"{BEGIN + number * STEP:%H%M}.parquet")


def naive(
    aggregates: Mapping[str, Aggregate],
    rows: Sequence[Mapping[str, Any]],
    spans: Sequence[tuple[Any, Any]],
    members: Sequence[Sequence[int]],
    *,
    by_arrival: bool,
) -> Any:
    """Each aggregate of each window: of one state that all of its rows are lifted to at once."""
    found = []
    for window, ids in enumerate(members):
        for row in (row for row in rows if row["id"] in set(ids)):
            us = (row["t"] - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
            found.append({**row, EVENT_TIME: us, ORDER: 0 if by_arrival else us, ORDINAL: len(found), "window": window})
    table = pa.Table.from_pylist(found, pa.schema([*SCHEMA, *((name, pa.int64()) for name in (EVENT_TIME, ORDER, ORDINAL, "window"))]))
    fields = {field.stem: field for each in aggregates.values() for field in each.fields}
    lifts = {column: lift for field in fields.values() for column, lift in lifts_sql(field).items()}
    states = sealed(queried(table, lifts | {"w": '"window"'}, 'GROUP BY "window" ORDER BY "window"'), fields.values())
    assert states["w"].to_pylist() == list(range(len(members)))
    bounds = [pa.array(column, INSTANT) for column in zip(*spans, strict=True)]
    return {name: finish(each, combined(each, states), bounds) for name, each in aggregates.items()}


def finish(aggregate: Aggregate, states: pa.Table, bounds: list[pa.Array]) -> list[Any]:
    columns = [column.combine_chunks() for column in states.columns]
    return aggregate.finish(*columns, *(bounds if aggregate.uses_window else [])).to_pylist()


def bits(value: Any) -> Any:
    """Equal where floats are to the last bit, within lists and maps too."""
    if isinstance(value, dict):
        return {name: bits(each) for name, each in value.items()}
    return [bits(each) for each in value] if isinstance(value, list | tuple) else bit(value)


@pytest.mark.parametrize("third", some(range(3)))  # DuckDB plans one wide query much longer than three narrow ones
@pytest.mark.parametrize("seed", range(int(os.environ.get("MUNTIN_JUDGE", "1"))))
def test_every_aggregate_in_every_kind(seed: int, third: int, tmp_path: Path, spark: object) -> None:
    """In bulk, on Spark, against the naive answer; then batch by batch, one of them replaced afterwards, in this process, bit by bit."""
    folder = tmp_path / "data"
    for number in BATCHES:
        write(folder, number, batch(seed, number))
    source = sources.files(str(folder / "{start:%H%M}.parquet"), event_time="t")
    aggregates = dict(list(AGGREGATES.items())[third::3])
    asked = {"ids": agg.collect("id")} | aggregates
    flow = Pipeline(name="p", source=source, schedule="10m", start=BEGIN, keys=["k"], windows=WINDOWS, aggregates=asked)

    def go(root: str, first: int, last: int, session: object = HERE) -> None:
        run(flow, root=tmp_path / root, start=BEGIN + first * STEP, end=BEGIN + (last + 1) * STEP, spark=session)

    go("bulk", 0, 3, spark)
    write(folder, 1, batch(seed + 50, 1))
    for number in BATCHES:
        go("steps", number, number)
    write(folder, 1, batch(seed, 1))
    go("steps", 1, 1)
    for name, kind in WINDOWS.items():
        bulk, steps = (read(flow, name, root=tmp_path / root, provisional=True).to_pylist() for root in ("bulk", "steps"))
        assert bits(bulk) == bits(steps), name
        spans, members = [(row["window_start"], row["window_end"]) for row in bulk], [row["ids"] for row in bulk]
        assert len(bulk) > 1, name
        rows = [row for number in BATCHES for row in batch(seed, number)]
        wanted = naive(aggregates, rows, spans, members, by_arrival=kind.made_of.by_arrival)
        for column, aggregate in aggregates.items():
            assert alike([row[column] for row in bulk], wanted[column]), (name, str(aggregate))
