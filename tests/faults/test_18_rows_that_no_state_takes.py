"""Fault 18: a value that its state does not hold, a row for which the user's own function fails: that row goes to the quarantine."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from muntin import aggregates as agg
from muntin import windows
from muntin.aggregates.aggregate import Aggregate
from muntin.errors import SourceError
from muntin.jobs.accumulate import lone_rows
from muntin.jobs.inspect.late import quarantined
from tests.end_to_end.hourly import Hourly, times


def roots(total: float, value: float) -> float:
    if value < 0:
        raise ValueError(f"no root of {value}")
    return total + value**0.5


def root(**more: Any) -> Aggregate:
    return agg.own("roots", "x", create=float, accumulate=roots, combine=lambda a, b: a + b, finish=float, **more)


ROOT = {"aggregates": {"x": root(), "n": agg.count()}}


def told(case: Hourly) -> list[tuple[Any, ...]]:
    rows = quarantined(case.pipeline, root=case.root).to_pylist()
    return [(Path(row["file"]).name, row["position"], row["reason"]) for row in rows]


def counts(batch: Any) -> tuple[int, ...]:
    return batch.rows_read, batch.rows_accepted, batch.rows_left_out, batch.rows_quarantined


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl"])
def test_a_row_for_which_the_user_s_function_fails(ending: str, tmp_path: Path) -> None:
    case = Hourly(tmp_path, f"{{start:%H}}*.{ending}", other=ROOT)
    case.write(f"00a.{ending}", {"at": times(1, 2, 3), "x": [4.0, -1.0, 9.0]})
    case.write(f"00b.{ending}", {"at": times(4, 5), "x": [-1.0, -2.5]})
    (batch,) = case.run().batches
    assert counts(batch) == (5, 2, 0, 3)
    assert case.rows("x", "n") == [(5.0, 2)]
    words = "aggregates['x']: ValueError: no root of "
    assert sorted(told(case)) == [
        (f"00a.{ending}", 1, f"{words}-1.0"),
        (f"00b.{ending}", 0, f"{words}-1.0"),
        (f"00b.{ending}", 1, f"{words}-2.5"),
    ]


def test_of_a_part_of_the_rows(tmp_path: Path) -> None:
    """What the condition leaves out is not given to the function."""
    case = Hourly(tmp_path, other={"aggregates": {"x": root(where="x <> -1"), "n": agg.count()}, "where": "x <> -9"})
    case.write("00.parquet", {"at": times(1, 2, 3, 4), "x": [4.0, -1.0, -2.0, -9.0]})
    assert counts(case.run().batches[0]) == (4, 2, 1, 1)
    assert case.rows("x", "n") == [(2.0, 2)]


def test_beside_a_cell_that_cannot_be_read(tmp_path: Path) -> None:
    case = Hourly(tmp_path, "{start:%H}.csv", {"types": {"x": "DOUBLE"}}, ROOT)
    case.write("00.csv", {"at": []}).write_text(
        "at,x\n" + "".join(f"2024-01-01 00:0{at},{x}\n" for at, x in enumerate(("4", "four", "-1")))
    )
    assert counts(case.run().batches[0]) == (3, 1, 0, 2)
    assert [reason for _, _, reason in told(case)] == ["x cannot be read as DOUBLE", "aggregates['x']: ValueError: no root of -1.0"]


def test_in_windows_by_arrival(tmp_path: Path) -> None:
    case = Hourly(tmp_path, other={**ROOT, "windows": {"hour": windows.arrival(windows.by_count(2))}})
    case.write("00.parquet", {"at": times(1, 2, 3), "x": [4.0, -1.0, 9.0]})
    case.run()
    assert case.rows("x") == [(5.0,)]


def test_a_function_that_fails_for_every_row_is_wrong_itself(tmp_path: Path) -> None:
    case = Hourly(tmp_path, other=ROOT)
    case.write("00.parquet", {"at": times(1, 2), "x": [-1.0, -2.0]})
    with pytest.raises(ValueError, match="no root of"):
        case.run()
    assert not case.root.exists() or case.rows("x") == []


HUGE = Decimal(2**70)


@pytest.mark.parametrize(
    ("call", "column", "good", "bad"),
    [
        (agg.sum("x::HUGEINT"), pa.decimal128(38, 0), Decimal(3), HUGE),
        (agg.max("x::HUGEINT"), pa.decimal128(38, 0), Decimal(3), HUGE),
        (agg.sum("x"), pa.uint64(), 3, 2**64 - 1),
    ],
)
def test_a_value_that_its_state_does_not_hold(call: Aggregate, column: pa.DataType, good: Any, bad: Any, tmp_path: Path) -> None:
    case = Hourly(tmp_path, other={"aggregates": {"x": call, "n": agg.count()}})
    case.write("00.parquet", {"at": times(1, 2, 3), "x": pa.array([good, bad, good], column)})
    (batch,) = case.run().batches
    assert counts(batch) == (3, 2, 0, 1)
    assert told(case) == [("00.parquet", 1, "aggregates['x']: the value does not fit BIGINT")]


def test_a_sum_that_no_single_value_is_to_blame_for_stays_an_error(tmp_path: Path) -> None:
    case = Hourly(tmp_path, other={"aggregates": {"x": agg.sum("x")}})
    case.write("00.parquet", {"at": times(1, 2), "x": [2**63 - 1, 1]})
    with pytest.raises(SourceError, match="a sum does not fit its type"):
        case.run()


# rows are tried two at once: a function that fails for both is not wrong for that
def test_rows_are_tried_a_few_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lone_rows, "_AT_ONCE", 2)
    case = Hourly(tmp_path, other=ROOT)
    case.write("00.parquet", {"at": times(1, 2, 3, 4, 5), "x": [-1.0, -1.0, 4.0, -2.0, 9.0]})
    assert counts(case.run().batches[0]) == (5, 2, 0, 3)
    assert case.rows("x") == [(5.0,)]
    assert [row for _, row, _ in told(case)] == [0, 1, 3]


# one of two hours that are read together
def test_the_hour_beside_is_as_it_is_without_it(tmp_path: Path) -> None:
    case = Hourly(tmp_path, other=ROOT)
    case.write("00.parquet", {"at": times(1), "x": [4.0]})
    case.write("01.parquet", {"at": times(61, 62), "x": [-4.0, 9.0]})
    assert [counts(batch) for batch in case.run(0, 1).batches] == [(1, 1, 0, 0), (2, 1, 0, 1)]
    assert case.rows("x") == [(2.0,), (3.0,)]
