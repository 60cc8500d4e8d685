"""SPL's progressive Sort, by the public API without Spark. What is held is drawn after each row; the row above `|` goes out.

Batches are days, rows of a batch come a second apart.
"""

import math
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import Pipeline, read, run, sources, windows
from muntin import aggregates as agg
from muntin.errors import DefinitionError
from muntin.tasks import Local
from muntin.testing import windows_of

START = datetime(2024, 1, 1, tzinfo=UTC)
DAY, SECOND = timedelta(days=1), timedelta(seconds=1)
ROWS = pa.schema([("t", pa.timestamp("us", tz="UTC")), ("k", pa.string()), ("v", pa.int64()), ("id", pa.int64())])
"""`id` tells in which order rows came."""


def sorting(window: Any, source: str = "nowhere/{start:%Y-%m-%d}.parquet") -> Pipeline:
    aggregates = {"v": agg.first("v"), "id": agg.sum("id"), "n": agg.count()}
    where = sources.files(source, event_time="t", missing="empty")
    return Pipeline(name="sort", source=where, schedule="@daily", start=START, keys=["k"], windows={"w": window}, aggregates=aggregates)


def rows(batch: int, values: list[Any], key: str = "a") -> list[dict[str, Any]]:
    return [{"t": START + batch * DAY + place * SECOND, "k": key, "v": value, "id": place} for place, value in enumerate(values)]


def out(window: Any, *batches: list[Any], **more: Any) -> list[Any]:
    """The values in the order in which they come out."""
    table = windows_of(sorting(window), [rows(number, values) for number, values in enumerate(batches)], **more)
    assert table["window_index"].to_pylist() == list(range(len(table)))
    assert table["n"].to_pylist() == [1] * len(table)
    return table["v"].to_pylist()


def by_v(n: int, **more: Any) -> Any:
    return windows.progressive_sort(n, by="v", **more)


# rows    5    1    4      2      3
# held    5    15   145    245    345
# out                      1      2      and with flush 3 4 5
def test_the_least_held_row_comes_out() -> None:
    assert out(by_v(3), [5, 1, 4, 2, 3]) == [1, 2]
    assert out(by_v(3, flush=True), [5, 1, 4, 2, 3]) == [1, 2, 3, 4, 5]


# rows    5    4    6      1      7
# held    5    45   456    156    567
# out                      4      1
def test_a_row_less_than_all_held_ones_comes_out_behind_a_greater_one() -> None:
    assert out(by_v(3), [5, 4, 6, 1, 7]) == [4, 1]


# rows    5    1    4      2      3
# held    5    51   541    421    321
# out                      5      4
def test_descending() -> None:
    assert out(by_v(3, descending=True), [5, 1, 4, 2, 3]) == [5, 4]
    assert out(by_v(3, descending=True, flush=True), [5, 1, 4, 2, 3]) == [5, 4, 3, 2, 1]


# n = 1: each row pushes out the one before it
def test_one_row_held() -> None:
    assert out(by_v(1), [3, 1, 2]) == [3, 1]


# never full: nothing comes out but by flush
def test_fewer_rows_than_are_held() -> None:
    assert out(by_v(9), [2, 1]) == []
    assert out(by_v(9), [2, 1], provisional=True) == [1, 2]
    assert out(by_v(9, flush=True), [2, 1]) == [1, 2]


# v      7 7 7 3 7
# id     0 1 2 3 4    held two: 0 1 | 1 2 | 2 3 | 2 4
# out        0 1 3    descending: 0 1 2
@pytest.mark.parametrize(("descending", "ids"), [(False, [0, 1, 3, 2, 4]), (True, [0, 1, 2, 4, 3])])
def test_of_equal_values_the_first_to_come_is_the_least(descending: bool, ids: list[int]) -> None:
    table = windows_of(sorting(by_v(2, descending=descending, flush=True)), [rows(0, [7, 7, 7, 3, 7])])
    assert table["id"].to_pylist() == ids


# rows    null  2     1      null'  3      held two
# held    null  2n    1n     nn'    3n'    the null that came first goes before the one that came later
# out                 2      1      n
@pytest.mark.parametrize("descending", [False, True])
def test_nulls_come_last_both_ways(descending: bool) -> None:
    assert out(by_v(2, descending=descending, flush=True), [None, 2, 1, None, 3]) == [2, 1, None, 3, None]
    ids = windows_of(sorting(by_v(9, descending=descending, flush=True)), [rows(0, [None, 2, None])])["id"].to_pylist()
    assert ids == [1, 0, 2]


# key a   5    1    4    -> 1 goes out when 4 comes, 4 when 9 comes
# key b      2    8    3 -> 2 goes out when 3 comes
def test_keys_are_apart() -> None:
    a, b = rows(0, [5, 1, 4, 9]), rows(0, [2, 8, 3], "b")
    mixed = [each for pair in zip(a, b, strict=False) for each in pair] + a[3:]
    table = windows_of(sorting(by_v(2)), [mixed]).to_pylist()
    assert [(row["k"], row["window_index"], row["v"]) for row in table] == [("a", 0, 1), ("a", 1, 4), ("b", 0, 2)]


# batch   5 4    | 6 1 | 7         what is held goes on; the batch that pushes a row out closes its window
# out              4     1
def test_batches_do_not_matter() -> None:
    table = windows_of(sorting(by_v(3)), [rows(0, [5, 4]), rows(1, [6, 1]), rows(2, [7])])
    assert [(row["v"], row["batch"]) for row in table.to_pylist()] == [(4, START + DAY), (1, START + 2 * DAY)]
    times = [(row["window_start"], row["window_end"]) for row in table.to_pylist()]
    assert times == [(START + SECOND, START + SECOND), (START + DAY + SECOND, START + DAY + SECOND)]


VALUES: dict[str, list[Any]] = {
    "floats": [-math.inf, -1.5, 0.0, 2.0, math.inf],
    "decimals": [Decimal("-3.10"), Decimal("0.05"), Decimal("2.00"), Decimal("17.99")],
    "texts": ["", "B", "a", "b", "ü"],
    "days": [date(1969, 1, 2), date(1970, 1, 1), date(2024, 2, 29)],
    "instants": [START - 100_000 * DAY, START, START + SECOND],
    "booleans": [False, True],
    "large": [2**62, 2**63 - 1],
}


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("descending", [False, True])
def test_all_values_that_have_an_order(kind: str, descending: bool) -> None:
    ascending = VALUES[kind]
    asked = by_v(9, descending=descending, flush=True)
    assert out(asked, ascending[1::2] + ascending[::2]) == (ascending[::-1] if descending else ascending)


# all zeros are one value, so the first to come is the least; a NaN is greater than any number, so descending it is the first
def test_zeros_and_nan() -> None:
    came = [0.0, math.nan, -0.0, math.inf]
    for descending, ids in ((False, [0, 2, 3, 1]), (True, [1, 3, 0, 2])):
        table = windows_of(sorting(by_v(9, descending=descending, flush=True)), [rows(0, came)])
        assert table["id"].to_pylist() == ids


def test_an_expression_sorts() -> None:
    assert out(windows.progressive_sort(2, by="abs(v - 4)", flush=True), [1, 4, 5, 9]) == [4, 5, 1, 9]


def written(folder: Path, batch: int, values: list[int]) -> None:
    table = pa.Table.from_pylist([row for key in "ab" for row in rows(batch, values, key)], ROWS)
    pq.write_table(table, folder / f"{START + batch * DAY:%Y-%m-%d}.parquet")


# batch   5 1 4 | 2 3 | 9 0 | 8         then the first batch becomes 7 7, and back
# runs of batch after batch, and a run behind each batch that is replaced, give what a clean run gives
def test_any_replaced_batch_gives_a_clean_run(tmp_path: Path) -> None:
    plain, spark = sorting(by_v(3), str(tmp_path / "{start:%Y-%m-%d}.parquet")), Local(1)
    pipeline = replace(plain, windows={**plain.windows, "flushed": by_v(3, flush=True)})
    given = [[5, 1, 4], [2, 3], [9, 0], [8]]

    def ran(root: str, first: int, last: int) -> list[pa.Table]:
        run(pipeline, root=tmp_path / root, start=START + first * DAY, end=START + (last + 1) * DAY, spark=spark, validate=False)
        return [read(pipeline, window, root=tmp_path / root) for window in pipeline.windows]

    for batch, values in enumerate(given):
        written(tmp_path, batch, values)
        found = ran("state", batch, batch)
    assert found == ran("clean", 0, 3)
    for batch, values in ((0, [7, 7]), (2, [1]), (3, [6, 6, 2]), (0, given[0])):
        written(tmp_path, batch, values)
        found = ran("state", batch, batch)
        assert found == ran(f"again {batch} {values}", 0, 3)
    assert [table["v"].to_pylist()[:3] for table in found] == [[1, 2, 3]] * 2


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: windows.progressive_sort(0, by="v"), "0 is not a number of rows"),
        (lambda: windows.progressive_sort(True, by="v"), "True is not a number of rows"),
        (lambda: windows.progressive_sort(1.5, by="v"), r"1\.5 is not a number of rows"),
        (lambda: windows.progressive_sort(3, by=" "), "not a SQL expression"),
        (lambda: windows.progressive_sort(3, by="random()"), "something else each time"),
        (lambda: windows.progressive_sort(3, by="a, b"), "not one expression"),
        (lambda: by_v(3).windows_for(START), "muntin explain"),
        (lambda: out(windows.progressive_sort(3, by="price"), [1]), r"windows\['w'\] does not fit the source"),
        (lambda: out(windows.progressive_sort(3, by="[v]"), [1]), r"windows\['w'\] needs values that have an order.*'\[v\]' is BIGINT\[\]"),
    ],
)
def test_refused(call: Any, words: str) -> None:
    with pytest.raises(DefinitionError, match=words):
        call()


@pytest.mark.parametrize("other", [by_v(4), by_v(3, descending=True), by_v(3, flush=True), windows.progressive_sort(3, by="id")])
def test_other_parameters_are_other_windows(other: Any) -> None:
    assert other.identity != by_v(3).identity
