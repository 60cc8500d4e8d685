"""`muntin new --from`: a definition drafted from files fits them and runs, and what is ambiguous is said."""

import re
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake
from openpyxl import Workbook

from muntin import read
from muntin.cli.draft.numbers import Marks, marks_of, number_of
from muntin.cli.draft.paths import dated
from muntin.cli.draft.table import table_of
from muntin.cli.draft.times import times_of
from muntin.testing import pipeline_of, run_here
from tests.cli.conftest import Muntin

GERMAN = "Datum;Filiale;Artikel;Betrag\n" + "".join(
    f"{{day}}.05.2024 09:{minute:02};{shop};00{minute};{amount}\n"
    for minute, (shop, amount) in enumerate([("Köln", "1.109,50"), ("Bonn", "12,50")] * 3)
)


def days_of(project: Path, tmp_path: Path, start: str, end: str) -> list[dict[str, object]]:
    """The days that a drafted project's definition gives."""
    pipeline = pipeline_of(project / f"dags/{project.name}.py")
    start_at, end_at = (datetime.fromisoformat(each).replace(tzinfo=UTC) for each in (start, end))
    report = run_here(pipeline, root=tmp_path / "state", start=start_at, end=end_at)
    assert sum(batch.rows_quarantined for batch in report.batches) == 0
    return read(pipeline, "day", root=tmp_path / "state", provisional=True).to_pylist()


def test_a_german_export_of_a_file_a_day(muntin: Muntin, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    for day in ("13", "14", "15"):
        (tmp_path / f"data/2024-05-{day}.csv").write_bytes(GERMAN.format(day=day).encode("cp1252"))
    project, files = tmp_path / "shop", sorted(str(path) for path in (tmp_path / "data").iterdir())
    assert muntin("new", str(project), "--from", *files).status == 0  # as a shell writes a pattern out
    text = (project / "dags/shop.py").read_text()
    for line in (
        'event_time=sources.at("Datum", format="%d.%m.%Y %H:%M", timezone="UTC")',
        'encoding="windows-1252"',
        'thousands="."',
        '"Betrag": "DECIMAL(18, 2)"',
        'keys=["Filiale"]',
        'schedule="@daily"',
    ):
        assert line in text
    assert '"max_value": 2207' in (project / "expectations/day.json").read_text()
    assert muntin("check", str(project / "dags/shop.py")).status == 0
    days = days_of(project, tmp_path, "2024-05-13", "2024-05-16")
    assert {(day["Filiale"], float(str(day["sum_betrag"]))) for day in days} == {("Köln", 3328.5), ("Bonn", 37.5)}


@pytest.mark.parametrize("ending", ["parquet", "jsonl", "xlsx"])
def test_a_file_without_a_date_is_one_batch(muntin: Muntin, tmp_path: Path, ending: str) -> None:
    rows = [{"ts": f"2013-01-{at % 9 + 1:02}T10:00:00Z", "origin": "JFK" if at % 2 else "EWR", "sold": at} for at in range(20)]
    path = tmp_path / f"flights.{ending}"
    if ending == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif ending == "xlsx":
        book = Workbook()
        for row in [[*rows[0]], *([*row.values()] for row in rows)]:
            book.active.append(row)
        book.save(path)
    else:
        path.write_text("".join(f"{row}\n".replace("'", '"') for row in rows))
    project = tmp_path / "flights"
    assert muntin("new", str(project), "--from", str(path)).status == 0
    end = muntin("new", str(tmp_path / "other"), "--from", str(path)).out.partition("--end ")[2].split()[0]
    days = days_of(project, tmp_path, "1900-01-01", end)
    assert (sum(day["row_count"] for day in days), sum(day["sum_sold"] for day in days)) == (20, 190)  # type: ignore[misc]


class TestWhatIsAmbiguous:
    """It is text, or refused with the cell."""

    def test_day_and_month(self, muntin: Muntin, tmp_path: Path) -> None:
        (tmp_path / "a.csv").write_text("at,x\n03/04/2024,1\n05/06/2024,2\n")
        refused = muntin("new", str(tmp_path / "p"), "--from", str(tmp_path / "a.csv"))
        assert (refused.status, "03/04/2024 may begin with its day or its month" in refused.err) == (2, True)
        assert not (tmp_path / "p").exists()

    def test_a_value_above_twelve_decides(self) -> None:
        for cell, form in (("31/01/2024", "%d/%m/%Y"), ("01/31/2024", "%m/%d/%Y")):
            times = times_of("at", ["03/04/2024", cell])
            assert times is not None
            assert times.arguments == {"format": form}

    def test_a_comma_before_three_digits(self) -> None:
        number = number_of("x", ["1,234"], Marks(), is_split_by_comma=True)
        assert (number is not None and number.sql, number and number.why) == (
            "",
            "1,234 may be 1.234 or 1234: it stays text",
        )
        assert marks_of([["1,234"], ["1.234,5"]]).decimal == ","

    def test_leading_zeros_stay_text(self) -> None:
        number = number_of("zip", ["01234", "12345"], Marks(), is_split_by_comma=True)
        assert number is not None
        assert number.sql == "VARCHAR"


def test_the_last_date_of_a_path_is_of_the_batch() -> None:
    files = dated(["/2024-01-01/x_20240501.csv", "/2024-01-01/x_20240503.csv"])
    assert files is not None
    assert files.template("start") == "/2024-01-01/x_{start:%Y%m%d}.csv"
    assert [each.day for each in files.holes] == [2]


def test_a_word_too_many(muntin: Muntin, tmp_path: Path) -> None:
    assert "too many" in muntin("new", str(tmp_path / "a"), "b").err


def test_a_header_of_years_and_names_that_come_twice() -> None:
    for text, names in (
        ("city;2020;2021\nBonn;1;2\nKöln;3;4\n", ["city", "2020", "2021"]),
        ("Tag;Währung;Währung\n1.5.2024;EUR;USD\n", ["Tag", "Währung", "Währung_3"]),
        ("1.5.2024;3;x\n2.5.2024;4;y\n", ["column_1", "column_2", "column_3"]),
    ):
        assert [each.name for each in table_of(text, is_whole=True).columns] == names


def test_a_key_is_not_taken_where_its_texts_would_be_null(muntin: Muntin, tmp_path: Path) -> None:
    rows = "".join(f"2024-05-01 10:0{at},{'NA' if at % 2 else 'DE'},{'ab'[at % 2]},{at or 'NA'}\n" for at in range(9))
    (tmp_path / "a.csv").write_text(f"at,country,shop,amount\n{rows}")
    assert muntin("new", str(tmp_path / "p"), "--from", str(tmp_path / "a.csv")).status == 0
    text = (tmp_path / "p/dags/p.py").read_text()
    assert 'null=["", "NA"]' in text
    assert 'keys=["shop"]' in text


def test_months_are_windows_of_monthly_figures(muntin: Muntin, tmp_path: Path) -> None:
    rows = "".join(f"2024/{month:02}/01,{7 * month % 5}\n" for month in range(1, 13))
    (tmp_path / "a.csv").write_text(f"month,level\n{rows}")
    assert muntin("new", str(tmp_path / "p"), "--from", str(tmp_path / "a.csv")).status == 0
    text = (tmp_path / "p/dags/p.py").read_text()
    assert 'windows={"month": windows.tumbling("1mo"), "year": windows.tumbling("1y")}' in text
    assert "agg.mean" in text


class TestNeighbours:
    """Files of another kind in the same folder are not matched."""

    def test_the_words_of_names_decide(self, muntin: Muntin, tmp_path: Path) -> None:
        for name in ("sales_1.csv", "sales_2.csv", "shops.csv"):
            (tmp_path / name).write_text("at,x\n2024-05-01,1\n2024-05-02,2\n")
        files = [str(tmp_path / f"sales_{at}.csv") for at in (1, 2)]
        assert muntin("new", str(tmp_path / "p"), "--from", *files).status == 0
        assert f'"{tmp_path}/sales_*.csv"' in (tmp_path / "p/dags/p.py").read_text()
        refused = muntin("new", str(tmp_path / "q"), "--from", str(tmp_path / "sales_1.csv"), str(tmp_path / "shops.csv"))
        assert "sales_2.csv, too" in refused.err

    def test_several_files_a_day(self) -> None:
        files = dated(["/a/2024-05-01/north.csv", "/a/2024-05-01/south.csv", "/a/2024-05-02/north.csv"])
        assert files is not None
        assert files.template("start") == "/a/{start:%Y-%m-%d}/*.csv"


def test_a_delta_table(muntin: Muntin, tmp_path: Path) -> None:
    rows = [{"at": datetime(2024, 5, 1, hour, tzinfo=UTC), "shop": "ab"[hour % 2], "amount": hour / 2} for hour in range(12)]
    write_deltalake(tmp_path / "orders", pa.Table.from_pylist(rows))
    project = tmp_path / "p"
    made = muntin("new", str(project), "--from", str(tmp_path / "orders"))
    assert made.status == 0
    start, end = re.findall(r"--(?:start|end) (\S+)", made.out)[:2]
    days = days_of(project, tmp_path, start, end)
    assert {(day["shop"], day["sum_amount"]) for day in days} == {("a", 15.0), ("b", 18.0)}


def test_a_table_of_a_database(muntin: Muntin, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "shop.db")) as database:
        database.execute('CREATE TABLE orders ("Placed" TEXT, shop TEXT, amount REAL)')
        rows = [(f"2024-05-{1 + at % 3:02} 09:{at:02}:00", "ab"[at % 2], at) for at in range(12)]
        database.executemany("INSERT INTO orders VALUES (?, ?, ?)", rows)
        database.commit()
    project, address = tmp_path / "p", f"sqlite:///{tmp_path}/shop.db"
    assert "is no name of a table" in muntin("new", str(project), "--from", address).err
    assert muntin("new", str(project), "--from", f"{address}#orders").status == 0
    assert "2024-05-01 09:00:00 in row 1" in (project / "dags/p.py").read_text()
    checked = muntin("check", str(project / "dags/p.py"))
    assert (checked.status, "its source is asked by runs alone" in checked.out) == (0, True)
    days = days_of(project, tmp_path, "2024-05-01", "2024-05-04")
    assert (len(days), sum(day["row_count"] for day in days), sum(day["sum_amount"] for day in days)) == (6, 12, 66)  # type: ignore[misc]


@pytest.mark.parametrize(
    ("file", "lines"),
    [
        ("vega-seattle-weather", ['format="%Y/%m/%d"', 'agg.mean("precipitation")']),
        ("vega-us-employment", ['windows.tumbling("1mo")', 'agg.mean("nonfarm")']),
        ("bokeh-sea-surface-temperature", ['sources.at("time (UTC)"),', "mean_temperature_celsius"]),
        ("csvkit-ks-1033", ['format="%m/%d/%Y %H:%M:%S"', '"acquisition_cost": "DECIMAL(18, 2)"', "sum_quantity"]),
    ],
)
def test_the_begin_of_a_file_that_nobody_here_wrote(muntin: Muntin, tmp_path: Path, file: str, lines: list[str]) -> None:
    assert muntin("new", str(tmp_path / "p"), "--from", str(Path(__file__).parent / f"excerpts/{file}.csv")).status == 0
    text = (tmp_path / "p/dags/p.py").read_text()
    assert [line for line in lines if line not in text] == []


def test_a_month_in_words() -> None:
    times = times_of("date", ["Jan 1 2000", "Feb 1 2000"])
    assert times is not None
    assert times.arguments == {"format": "%b %d %Y"}


def test_instants_of_nanoseconds(muntin: Muntin, tmp_path: Path) -> None:
    at = pa.array([datetime(2024, 5, 1, tzinfo=UTC), datetime(2024, 5, 2, tzinfo=UTC)]).cast(pa.timestamp("ns"))
    pq.write_table(pa.table({"at": at, "level": [3, 1]}), tmp_path / "a.parquet")
    assert muntin("new", str(tmp_path / "p"), "--from", str(tmp_path / "a.parquet")).status == 0
    assert 'sources.at("at"' in (tmp_path / "p/dags/p.py").read_text()


def test_clocks_and_row_numbers_are_not_computed_with(muntin: Muntin, tmp_path: Path) -> None:
    rows = "".join(f"{at},2024-05-01 10:0{at},{500 + at},{900 - 7 * at}\n" for at in range(1, 9))
    (tmp_path / "a.csv").write_text(f"row,at,dep_time,air_time\n{rows}")
    assert muntin("new", str(tmp_path / "p"), "--from", str(tmp_path / "a.csv")).status == 0
    text = (tmp_path / "p/dags/p.py").read_text()
    assert re.findall(r'"((?:sum|mean)_\w+)"', text) == ["mean_air_time"]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.csv", "", "the file is empty"),
        ("a.csv", "at,x\n", "has a header and no rows"),
        ("a.csv", 'at,x\n"1,2\n', "has a header and no rows"),
        ("a.json", '[{"at": "2024-05-01T00:00:00Z"},\n {"at": ', "no row can be read"),
        ("a.jsonl", "[]", "no row can be read"),
    ],
)
def test_a_file_without_rows_says_so(muntin: Muntin, tmp_path: Path, name: str, text: str, words: str) -> None:
    (tmp_path / name).write_text(text)
    refused = muntin("new", str(tmp_path / "p"), "--from", str(tmp_path / name))
    assert (refused.status, words in refused.err) == (2, True), refused.err


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.csv", "at,x\n2024-05-01 00:00,1e400\n2024-05-01 00:01,1.5\n", 'agg.mean("x")'),
        ("a.json", '{\n "at": "2024-05-01T00:00:00Z",\n "x": 1\n}\n', 'agg.mean("x")'),
        ("a.csv", "at;\u2028\n2024-05-01 00:00;1\n2024-05-01 00:01;5\n", "agg.mean("),
    ],
    ids=["beyond a double", "over several lines", "an odd name"],
)
def test_a_draft_is_python_whatever_stands_in_the_file(muntin: Muntin, tmp_path: Path, name: str, text: str, words: str) -> None:
    (tmp_path / name).write_text(text)
    assert muntin("new", str(tmp_path / "p"), "--from", str(tmp_path / name)).status == 0
    draft = (tmp_path / "p/dags/p.py").read_text()
    assert words in draft
    compile(draft, "p.py", "exec")
