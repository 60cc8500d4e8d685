"""The rows of tiles: combinations of states, and which of them can stand for the states."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from muntin import Pipeline, sources, windows
from muntin import aggregates as agg
from muntin.jobs.state.bound import Bound
from muntin.jobs.tiles.new_tiles import Made, rows_of_tiles, schema_of_tiles
from muntin.states.columns import INSTANT
from muntin.states.keys import buckets

BOUND = Bound(
    Pipeline(
        name="p",
        source=sources.files("{start:%Y%m%dT%H%M}.csv", event_time="t"),
        schedule="1m",
        start=datetime(2024, 1, 1, tzinfo=UTC),
        keys=["k"],
        windows={"w": windows.sliding("2m", step="1m")},
        aggregates={"total": agg.sum("n"), "most": agg.max("x")},
    ),
    Path("nowhere"),
)
State = tuple[str, int, int, float | None]


def made(states: Sequence[State]) -> Made:
    """Tiles 0 and 1, four microseconds long, of states (key, frame, n, x)."""
    key, frame, n, x = (list(column) for column in zip(*states, strict=True))
    columns = {
        "k": pa.array(key),
        "batch": pa.array([0] * len(key)).cast(INSTANT),
        "frame": pa.array(frame).cast(INSTANT),
        "rows": pa.array([1] * len(key)),
        "count_n": pa.array([1] * len(key)),
        "sum_n": pa.array(n),
        "max_x": pa.array(x, pa.float64()),
        "bucket": pa.array(buckets([pa.array(key)], len(key))),
    }
    table = pa.table(columns)
    return rows_of_tiles(BOUND, table, schema_of_tiles(table.schema), np.array([0, 1]), 4)


# frames   0    1    3  | 4    7  | 8
# a        1    2       | 3       | 99    no tile is asked for at 8
# b                  5  |      7  |
def test_a_row_for_each_key_and_tile() -> None:
    found = made([("a", 0, 1, 1.0), ("a", 1, 2, 5.0), ("b", 3, 5, None), ("a", 4, 3, 2.0), ("b", 7, 7, -1.0), ("a", 8, 99, 9.0)])
    rows = found.rows.set_column(found.rows.column_names.index("frame"), "frame", found.rows["frame"].cast(pa.int64())).drop_columns(
        ["bucket"]
    )
    assert [tuple(row.values()) for row in rows.to_pylist()] == [
        ("a", 0, 2, 2, 3, 5.0),
        ("a", 4, 1, 1, 3, 2.0),
        ("b", 0, 1, 1, 5, None),
        ("b", 4, 1, 1, 7, -1.0),
    ]
    assert found.usable.tolist() == [True, True]
    assert found.rows["bucket"].combine_chunks().equals(pa.array(buckets([found.rows["k"].combine_chunks()], 4)))


@pytest.mark.parametrize("odd", [-0.0, float("nan")])
def test_a_tile_with_an_odd_float_is_not_usable(odd: float) -> None:
    found = made([("a", 0, 1, odd), ("b", 1, 2, 5.0), ("a", 4, 3, 0.0)])
    assert found.usable.tolist() == [False, True]
    assert found.rows["sum_n"].to_pylist() == [3]


def test_tiles_whose_sums_do_not_fit_are_not_usable() -> None:
    """A window may hold more states, with which the sum fits again."""
    found = made([("a", 0, 2**62, 1.0), ("a", 1, 2**62, 1.0), ("a", 4, -(2**62), 1.0)])
    assert found.usable.tolist() == [False, False]
    assert not len(found.rows)
