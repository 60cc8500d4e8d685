"""Files of one batch have the columns that the definition uses, each of them; other columns come and go."""

from pathlib import Path
from typing import Any

import pytest

from muntin import aggregates as agg
from muntin import windows
from muntin.errors import MuntinError, SourceError
from tests.case_counts import paired
from tests.end_to_end.hourly import Hourly, times

ENDINGS = ("parquet", "csv", "jsonl")
FULL: dict[str, Any] = {"at": times(1, 2), "k": ["a", "b"], "x": [1, 2], "received": times(3, 4)}

# used column -> what uses it
USES: dict[str, dict[str, Any]] = {
    "a key": {"keys": ["k"]},
    "a filter": {"where": "k IS DISTINCT FROM 'c'"},
    "an aggregate": {"aggregates": {"n": agg.sum("x")}},
    "an aggregate's condition": {"aggregates": {"n": agg.count(where="x > 0")}},
    "an aggregate by group": {"aggregates": {"n": agg.by("k", agg.count())}},
    "a delta": {"windows": {"hour": windows.arrival(windows.by_delta("x", 1))}},
}
LACKS = {"k": ("a key", "a filter", "an aggregate by group"), "x": ("an aggregate", "an aggregate's condition", "a delta")}
CASES = [(column, use) for column, uses in LACKS.items() for use in uses]


def hourly(folder: Path, ending: str, **other: Any) -> Hourly:
    source = other.pop("source", {})
    return Hourly(folder, f"{{start:%H}}*.{ending}", source, other)


def without(*names: str) -> dict[str, Any]:
    return {name: values for name, values in FULL.items() if name not in names}


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(("column", "use"), CASES)
def test_a_file_without_a_column_that_is_used_is_named(column: str, use: str, ending: str, tmp_path: Path) -> None:
    case = hourly(tmp_path, ending, **USES[use])
    case.write(f"00-a.{ending}", FULL)
    case.write(f"00-b.{ending}", without(column))
    with pytest.raises(SourceError, match=rf"00-b\.{ending}: no column '{column}'"):
        case.run()


@pytest.mark.parametrize(("ending", "column"), paired(ENDINGS, ["at", "received"]))
def test_a_file_without_its_times_is_named(column: str, ending: str, tmp_path: Path) -> None:
    case = hourly(tmp_path, ending, source={"arrival_time": "received"})
    case.write(f"00-a.{ending}", FULL)
    case.write(f"00-b.{ending}", without(column))
    with pytest.raises(SourceError, match=rf"00-b\.{ending}: no column '{column}'"):
        case.run()


@pytest.mark.parametrize(("ending", "use"), paired(ENDINGS, USES))
def test_the_same_file_alone_is_an_error_too(use: str, ending: str, tmp_path: Path) -> None:
    case = hourly(tmp_path, ending, **USES[use])
    case.write(f"00-b.{ending}", without("k", "x"))
    with pytest.raises(MuntinError, match=r"['\"][kx]['\"]"):
        case.run()


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_order_of_the_files_makes_no_difference(ending: str, tmp_path: Path) -> None:
    case = hourly(tmp_path, ending, keys=["k"])
    case.write(f"00-a.{ending}", without("k"))
    case.write(f"00-b.{ending}", FULL)
    with pytest.raises(SourceError, match=rf"00-a\.{ending}: no column 'k'"):
        case.run()


@pytest.mark.parametrize("ending", ENDINGS)
def test_columns_that_are_not_used_come_and_go(ending: str, tmp_path: Path) -> None:
    case = hourly(tmp_path, ending, keys=["k"], source={"types": {"k": "VARCHAR"}})
    case.write(f"00-a.{ending}", FULL)
    case.write(f"00-b.{ending}", {**without("x", "received"), "extra": [1, 2]})
    case.run()
    assert case.rows("k", "n") == [("a", 2), ("b", 2)]


@pytest.mark.parametrize("ending", ENDINGS)
def test_numbers_of_several_types_become_one(ending: str, tmp_path: Path) -> None:
    case = hourly(tmp_path, ending, aggregates={"n": agg.sum("x")})
    case.write(f"00-a.{ending}", {"at": times(1), "x": [1]})
    case.write(f"00-b.{ending}", {"at": times(2), "x": [0.5]})
    case.run()
    assert case.rows("n") == [(1.5,)]


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_column_that_is_null_in_every_row_of_a_file_is_there(ending: str, tmp_path: Path) -> None:
    case = hourly(tmp_path, ending, aggregates={"n": agg.sum("x"), "all": agg.count()})
    case.write(f"00-a.{ending}", {"at": times(1), "x": [1]})
    case.write(f"00-b.{ending}", {"at": times(2), "x": [None]})
    case.run()
    assert case.rows("n", "all") == [(1, 2)]


@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
def test_a_struct_without_a_member_that_is_used(ending: str, tmp_path: Path) -> None:
    case = hourly(tmp_path, ending, aggregates={"n": agg.sum("s.x")})
    case.write(f"00-a.{ending}", {"at": times(1), "s": [{"x": 1, "y": 2}]})
    case.write(f"00-b.{ending}", {"at": times(2), "s": [{"y": 2}]})
    with pytest.raises(SourceError, match=rf"00-b\.{ending}: no column 's\.x'"):
        case.run()


@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
def test_a_struct_without_a_member_that_is_not_used(ending: str, tmp_path: Path) -> None:
    case = hourly(tmp_path, ending, aggregates={"n": agg.sum("s.x")})
    case.write(f"00-a.{ending}", {"at": times(1), "s": [{"x": 1, "y": 2}]})
    case.write(f"00-b.{ending}", {"at": times(2), "s": [{"x": 2}]})
    case.run()
    assert case.rows("n") == [(3,)]


def test_a_file_without_rows_lacks_nothing(tmp_path: Path) -> None:
    case = hourly(tmp_path, "jsonl", keys=["k"])
    case.write("00-a.jsonl", FULL)
    case.write("00-b.jsonl", {"at": []})
    case.run()
    assert case.rows("k", "n") == [("a", 1), ("b", 1)]


def test_an_absent_key_of_some_lines_is_null(tmp_path: Path) -> None:
    case = hourly(tmp_path, "jsonl", keys=["k"])
    case.write("00-a.jsonl", FULL)
    path = case.write("00-b.jsonl", FULL)
    path.write_text(path.read_text().replace(', "k": "b"', ""))
    case.run()
    assert case.rows("k", "n") == [("a", 2), ("b", 1), (None, 1)]


# rows      a1 a2 | b1 | (none) | d1
@pytest.mark.parametrize("ending", ENDINGS)
def test_windows_that_end_with_files(ending: str, tmp_path: Path) -> None:
    case = hourly(tmp_path, ending, windows={"hour": windows.arrival(windows.by_punctuation("file"))})
    case.write(f"00-a.{ending}", {"at": times(1, 2)})
    case.write(f"00-b.{ending}", {"at": times(3)})
    case.write(f"00-c.{ending}", {"at": times(3)[:0]})
    case.write(f"00-d.{ending}", {"at": times(4), "x": [1]})
    case.run()
    assert case.rows("n") == [(2,), (1,), (1,)]
