"""The order of rows: whatever sorts them, it is the stable order; and rows taken by our own loop are those that Arrow takes."""

import sys
from collections.abc import Iterator
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.states import order
from muntin.states.order import by_number, sorted_order, take_rows

BITS = (1, 3, 12, 14, 27, 31, 40, 62)


@pytest.fixture(autouse=True, scope="module")
def many() -> Iterator[None]:
    """A few rows are sorted and taken as many are."""
    import numba  # noqa: F401 - as in a worker

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(order, "MANY", 1)
        yield


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("rows", [1, 2, 40, 3_000])
def test_one_column_of_any_range(bits: int, rows: int) -> None:
    column = np.random.default_rng(bits).integers(-(2 ** (bits - 1)), 2 ** (bits - 1), rows)
    assert sorted_order(column).tolist() == np.argsort(column, kind="stable").tolist()


@pytest.mark.parametrize("bits", BITS)
def test_rows_that_are_all_different(bits: int) -> None:
    column = np.unique(np.random.default_rng(bits).integers(0, 2**bits, 3_000))
    column = np.random.default_rng(1).permutation(column)
    assert sorted_order(column, unique=True).tolist() == np.argsort(column, kind="stable").tolist()


@pytest.mark.parametrize("falls", [0, 1, order._FEW_RUNS - 1, order._FEW_RUNS])
def test_runs_that_are_sorted_already(falls: int) -> None:
    runs = np.split(np.random.default_rng(falls).integers(0, 2**20, 1_700)[: 100 * (falls + 1)], falls + 1)
    column = np.concatenate([np.sort(run) for run in runs])
    assert sorted_order(column).tolist() == np.argsort(column, kind="stable").tolist()


def test_wide_rows_that_are_sorted_already() -> None:
    wide = np.array([[0, 2**62, -(2**62)], [0, 2**62, 5], [0, 2**62, 5], [1, -(2**62), 0]]).T
    assert sorted_order(*wide).tolist() == [0, 1, 2, 3]
    assert sorted_order(*wide[:, [1, 0, 2, 3]]).tolist() == [1, 0, 2, 3]
    assert sorted_order(*wide[:, [3, 0, 1, 2]]).tolist() == [1, 2, 3, 0]


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-(2**30), 2**30) | st.integers(0, 2)), min_size=1, max_size=60))
def test_several_columns(rows: list[tuple[int, int]]) -> None:
    first, second = np.array(rows, np.int64).T
    assert sorted_order(first, second).tolist() == np.lexsort((second, first)).tolist()


@pytest.mark.parametrize("far", [1, 2**40, 2**61])
def test_rows_are_sorted_however_far_apart(far: int) -> None:
    dice = np.random.default_rng(1)
    columns = [dice.integers(-far, far, 500) for _ in range(3)]
    assert sorted_order(*columns).tolist() == np.lexsort(columns[::-1]).tolist()


def test_equal_rows_keep_their_order() -> None:
    assert sorted_order(np.array([1, 0, 1, 0]), np.zeros(4, np.int64)).tolist() == [1, 3, 0, 2]


COLUMNS = {
    "long": pa.array([5, 2**62, -1]),
    "short": pa.array([5, 1, -1], pa.int16()),
    "byte": pa.array([5, 1, -1], pa.int8()),
    "float": pa.array([0.5, float("nan"), -0.0]),
    "single": pa.array([0.5, 1.5, 2.5], pa.float32()),
    "moment": pa.array([1, 2, 3]).view(pa.timestamp("us", tz="UTC")),
    "day": pa.array([1, 2, 3], pa.int32()).view(pa.date32()),
    "flag": pa.array([True, False, True]),
    "text": pa.array(["a", "", "ü"]),
    "money": pa.array([Decimal(1), Decimal("2.5"), Decimal(3)], pa.decimal128(20, 2)),
    "some": pa.array([1, None, 3]),
    "list": pa.array([[1], [], [2, 3]]),
    "few": pa.array(["a", "b", "a"]).dictionary_encode(),
}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("chunks", [1, 2])
def test_rows_of_any_type_are_taken_as_arrow_takes_them(name: str, chunks: int) -> None:
    column = pa.chunked_array([COLUMNS[name].slice(1)] * chunks)
    table = pa.table({"it": column}, schema=pa.schema({"it": column.type}, {b"told": b"something"}))
    rows = np.array([1, 0, 1, *range(len(column))])
    found = take_rows(table, rows)
    assert found.schema.equals(table.schema, check_metadata=True)
    assert found["it"].num_chunks == 1
    found.validate(full=True)
    assert repr(found["it"].to_pylist()) == repr(table["it"].take(pa.array(rows)).to_pylist())
    assert len(take_rows(table, np.empty(0, np.int64))) == 0


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("numbers", [[1, 0, 1, 0], [2, 2, 2, 0], [0, 1, 2, 3], [3, 2**40, 1, 1]])
def test_rows_of_any_type_are_put_in_the_order_of_their_numbers(name: str, numbers: list[int]) -> None:
    table = pa.table({"it": pa.chunked_array([COLUMNS[name].slice(1)] * 2)})
    found = by_number(table, np.array(numbers))
    found.validate(full=True)
    assert repr(found["it"].to_pylist()) == repr(table["it"].take(pa.array(np.argsort(numbers, kind="stable"))).to_pylist())


@pytest.mark.parametrize(("rows", "many"), [(0, False), (1, True), (2**22 - 1, True), (2**22, True)])
def test_our_own_loops_are_there_where_numba_is(rows: int, many: bool) -> None:
    assert order.are_many(rows) is many


@pytest.mark.parametrize(("rows", "many"), [(2**22 - 1, False), (2**22, True)])
def test_numba_is_imported_for_very_many_rows_alone(monkeypatch: pytest.MonkeyPatch, rows: int, many: bool) -> None:
    monkeypatch.delitem(sys.modules, "numba")
    assert order.are_many(rows) is many
