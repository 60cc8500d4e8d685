"""Means of decimals and large integers are the doubles nearest to the exact quotients, wherever states become results."""

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import Pipeline, Retain, over, read, run, sources, windows
from muntin import aggregates as agg

START, HOUR = datetime(2024, 1, 1, tzinfo=UTC), timedelta(hours=1)
END = START + 6 * HOUR
Rows = list[dict[str, Any]]
MEANS: dict[str, Callable[[Rows], Any]] = {
    "decimal": lambda rows: nearest(rows, "d"),
    "integer": lambda rows: nearest(rows, "i"),
    "small": lambda rows: nearest(rows, "p"),
    "once": lambda rows: float(sum({Fraction(row["d"]) for row in rows}) / len({row["d"] for row in rows})),
}


def nearest(rows: Rows, name: str) -> float:
    return float(sum(Fraction(row[name]) for row in rows) / len(rows))


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> tuple[Pipeline, Path, Rows]:
    """Six hours of two keys, whose sums take more digits than a double has."""
    folder, dice, rows = tmp_path_factory.mktemp("means"), random.Random(7), Rows()
    for hour in range(6):
        new = [
            {
                "t": START + hour * HOUR + timedelta(seconds=dice.randrange(3600)), "k": dice.choice("ab"), "j": dice.choice("xy"),
                "d": Decimal(dice.randrange(-(10**24), 10**24)).scaleb(-6), "i": dice.randrange(-(2**56), 2**56),
                "p": Decimal(dice.randrange(10**6)).scaleb(-2),
            }
            for _ in range(40)
        ]  # fmt: skip
        types = {"t": pa.timestamp("us", tz="UTC"), "k": pa.string(), "j": pa.string()}
        types |= {"d": pa.decimal128(30, 6), "i": pa.int64(), "p": pa.decimal128(9, 2)}
        pq.write_table(pa.Table.from_pylist(new, pa.schema(types)), folder / f"{hour}.parquet")
        rows += new
    flow = Pipeline(
        name="shop",
        source=sources.files(str(folder / "{start:%-H}.parquet"), event_time="t"),
        schedule="1h",
        start=START,
        keys=["k", "j"],
        windows={"two": windows.tumbling("2h"), "three": windows.sliding("3h", step="1h")},
        rollups={"by_k": ["k"], "all": []},
        retain=Retain(states_in_windows=True),
        aggregates={"decimal": agg.mean("d"), "integer": agg.mean("i"), "small": agg.mean("p"), "once": agg.mean("d", distinct=True)},
    )
    run(flow, root=folder / "root", start=START, end=END)
    return flow, folder / "root", rows


def check(found: pa.Table, rows: Rows, keys: tuple[str, ...]) -> None:
    assert len(found)
    for each in found.to_pylist():
        own = [r for r in rows if each["window_start"] <= r["t"] < each["window_end"] and all(r[key] == each[key] for key in keys)]
        assert {name: each[name] for name in MEANS} == {name: mean(own) for name, mean in MEANS.items()}


@pytest.mark.parametrize(("window", "keys"), [("two", ("k", "j")), ("three", ("k", "j")), ("two.by_k", ("k",)), ("three.all", ())])
def test_windows_and_rollups(shop: tuple[Pipeline, Path, Rows], window: str, keys: tuple[str, ...]) -> None:
    flow, root, rows = shop
    check(read(flow, window, root=root), rows, keys)


def test_ranges(shop: tuple[Pipeline, Path, Rows]) -> None:
    flow, root, rows = shop
    check(over(flow, START + HOUR, START + 5 * HOUR, by=["k"], root=root), rows, ("k",))


def test_windows_over_windows(shop: tuple[Pipeline, Path, Rows]) -> None:
    """A window lies where it ends: that which ends at six is in the next window."""
    flow, root, rows = shop
    longer = Pipeline(
        name="longer",
        source=sources.windows(flow, "two"),
        schedule="1h",
        start=START,
        keys=["k"],
        windows={"all": windows.tumbling("6h")},
        aggregates={name: agg.merge(name) for name in MEANS},
    )
    run(longer, root=root, start=START, end=END)
    check(read(longer, "all", root=root), [row for row in rows if row["t"] < START + 4 * HOUR], ("k",))
