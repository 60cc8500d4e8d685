"""What a library would round, shift or rename is refused, and its row is counted and kept: nothing is taken for something else."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import aggregates as agg
from muntin import read, windows
from muntin.errors import DefinitionError, SourceError
from tests.case_counts import paired
from tests.end_to_end.hourly import Hourly, hour

AT = "2024-01-01T00:10:00Z"


def of_rows(folder: Path, form: str, rows: list[dict[str, Any]], source: dict[str, Any] | None = None, **other: Any) -> Hourly:
    """An hour with rows as they are, in a file of a format."""
    case = Hourly(folder, f"{{start:%H}}.{form}", source=source or {}, other=other)
    path = folder / f"data/00.{form}"
    path.parent.mkdir(exist_ok=True)
    if form == "csv":
        path.write_text("\n".join([",".join(rows[0]), *(",".join(str(value) for value in row.values()) for row in rows)]) + "\n")
    elif form == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        pq.write_table(pa.Table.from_pylist(rows), path)
    return case


def counted(case: Hourly) -> tuple[int, int]:
    """Rows that were accepted and that were refused."""
    (batch,) = case.run().batches
    assert batch.rows_read == batch.rows_accepted + batch.rows_quarantined
    return batch.rows_accepted, batch.rows_quarantined


@pytest.mark.parametrize(("form", "time"), paired(["csv", "jsonl", "parquet"], ["01-02-24 00:10:00", "24-05-01", "epoch", "infinity"]))
def test_a_time_that_does_not_begin_with_the_year_is_none(form: str, time: str, tmp_path: Path) -> None:
    """DuckDB takes 01-02-24 for a day of the year 1. One text that is no time makes the column one of texts."""
    case = of_rows(tmp_path, form, [{"at": AT}, {"at": time}, {"at": "soon"}])
    assert counted(case) == (1, 2)
    assert case.rows("window_start") == [(hour(0),)]


# seconds   a text with a fraction    the hour ends
#           1704070799.75             1704070800      rounded, the event would be in the next hour
@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_a_text_of_seconds_with_a_fraction_is_not_rounded(form: str, tmp_path: Path) -> None:
    case = of_rows(tmp_path, form, [{"at": "1704067800"}, {"at": "1704070799.75"}, {"at": "soon"}], {"unit": "s"})
    assert counted(case) == (2, 1)
    assert case.rows("window_start") == [(hour(0),)]


@pytest.mark.parametrize(("ns", "us"), [(-1, -1), (-1000, -1), (-1001, -2), (999, 0), (1000, 1)])
def test_nanoseconds_are_cut_off_downwards_before_1970_too(ns: int, us: int) -> None:
    import duckdb

    from muntin import sources
    from muntin.sources.reading.row_times import instant

    source = sources.files("x.parquet", event_time=sources.at("at", unit="ns"), all_files=True)
    sql = instant(source, "at", "event_time", {"at": "BIGINT"})
    assert duckdb.execute(f"SELECT {sql} FROM (SELECT {ns}::BIGINT AS at)").fetchall() == [(us,)]


@pytest.mark.parametrize(("form", "kind"), paired(["csv", "jsonl", "parquet"], ["BIGINT", "int", "UINTEGER"]))
def test_a_fraction_is_no_whole_number(form: str, kind: str, tmp_path: Path) -> None:
    rows = [{"at": AT, "x": value} for value in ("1.7", "12", "3.0", "many", "2.5")]
    case = of_rows(tmp_path, form, rows, {"types": {"x": kind}}, aggregates={"total": agg.sum("x")})
    assert counted(case) == (2, 3)
    assert case.rows("total") == [(15,)]


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_a_fraction_that_is_a_number_is_none(form: str, tmp_path: Path) -> None:
    rows = [{"at": AT, "x": value} for value in (1.7, 12.0, None)]
    case = of_rows(tmp_path, form, rows, {"types": {"x": "BIGINT"}}, aggregates={"total": agg.sum("x"), "n": agg.count()})
    assert counted(case) == (2, 1)
    assert case.rows("total", "n") == [(12, 2)]


def test_whole_numbers_of_csv_keep_every_digit(tmp_path: Path) -> None:
    rows = [{"at": AT, "x": value} for value in (2**53 + 1, -(2**63), "")]
    case = of_rows(tmp_path, "csv", rows, {"types": {"x": "BIGINT"}}, aggregates={"most": agg.max("x"), "least": agg.min("x")})
    assert counted(case) == (3, 0)
    assert case.rows("most", "least") == [(2**53 + 1, -(2**63))]


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_a_day_of_no_year_is_no_date(form: str, tmp_path: Path) -> None:
    rows = [{"at": AT, "day": "2024-02-01"}, {"at": AT, "day": "01-02-24"}]
    case = of_rows(tmp_path, form, rows, {"types": {"day": "DATE"}}, aggregates={"days": agg.count_distinct("day")})
    assert counted(case) == (1, 1)


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_a_day_with_slashes_stays_a_date_beside_a_row_that_is_bad(form: str, tmp_path: Path) -> None:
    rows = [{"at": AT, "day": "2024/02/01"}, {"at": AT, "day": "2024 02 02"}, {"at": AT, "day": "soon"}]
    case = of_rows(tmp_path, form, rows, {"types": {"day": "DATE"}}, aggregates={"days": agg.count_distinct("day")})
    assert counted(case) == (2, 1)


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_a_text_of_seconds_without_a_part_of_one_is_a_time(form: str, tmp_path: Path) -> None:
    """As pandas writes whole numbers where one is missing."""
    case = of_rows(tmp_path, form, [{"at": "1704067800.0"}, {"at": "soon"}], {"unit": "s"})
    assert counted(case) == (1, 1)


def test_a_fraction_is_no_whole_number_in_a_column_that_files_may_lack(tmp_path: Path) -> None:
    rows = [{"at": AT, "tax": value} for value in ("1.7", "2", "many")]
    case = of_rows(tmp_path, "csv", rows, {"columns": {"tax": "BIGINT"}}, aggregates={"total": agg.sum("tax")})
    assert counted(case) == (1, 2)
    assert case.rows("total") == [(2,)]


def test_texts_that_look_like_numbers_are_no_numbers(tmp_path: Path) -> None:
    case = Hourly(tmp_path, "{start:%H}*.csv", source={"types": {"id": "VARCHAR"}}, other={"aggregates": {"most": agg.max("id")}})
    (tmp_path / "data").mkdir()
    for name, text in (("00a", "12e5"), ("00b", "98765432109876543")):
        (tmp_path / f"data/{name}.csv").write_text(f"at,id\n{AT},{text}\n")
    case.run()
    assert case.rows("most") == [("98765432109876543",)]


@pytest.mark.parametrize("second", ["x", "X"])
def test_a_header_has_no_name_twice(second: str, tmp_path: Path) -> None:
    case = Hourly(tmp_path, "{start:%H}.csv", other={"aggregates": {"total": agg.sum("x")}})
    (tmp_path / "data").mkdir()
    (tmp_path / "data/00.csv").write_text(f"at,x,{second}\n{AT},1,2\n")
    with pytest.raises(SourceError, match=r"00\.csv: the first line has the column 'x' twice"):
        case.run()


def test_a_name_with_a_number_behind_it_is_another(tmp_path: Path) -> None:
    case = of_rows(tmp_path, "csv", [{"at": AT, "x": 1, "x_1": 2}], aggregates={"total": agg.sum("x_1")})
    case.run()
    assert case.rows("total") == [(2,)]


@pytest.mark.parametrize("make", [windows.tumbling, lambda _size, **more: windows.trailing(1, **more)])
def test_no_name_is_no_zone(make: Any) -> None:
    """As of a variable of the environment that is not set."""
    with pytest.raises(DefinitionError):
        make("1d", timezone="")


def test_nothing_lies_between_an_end_and_a_later_start(tmp_path: Path) -> None:
    case = of_rows(tmp_path, "csv", [{"at": AT}])
    case.run()
    with pytest.raises(DefinitionError, match="is later than the end"):
        read(case.pipeline, "hour", root=case.root, start=hour(2), end=hour(1))
