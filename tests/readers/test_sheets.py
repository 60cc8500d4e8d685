"""Files of Excel: cells arrive as they are in the sheet, and rows that cannot be read keep their numbers."""

import sys
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook
from openpyxl.utils.datetime import CALENDAR_MAC_1904

from muntin import aggregates as agg
from muntin import sources
from muntin.errors import MissingPackageError, SourceError
from muntin.jobs.inspect.late import quarantined
from muntin.sources.sheets import sheet_in_lines
from tests.end_to_end.hourly import Hourly
from tests.readers.test_json_of_several_lines import hour

AT = datetime(2024, 1, 1, 0, 10)  # noqa: DTZ001 - Excel has no zones
HEADER = ("at", "seen", "id", "n", "x", "day", "clock", "long", "yes", "note")
ROW = (AT, AT, "007", 7, 0.1, date(2024, 2, 29), time(9, 30), timedelta(hours=26, seconds=1.5), True, " Ä\n")
OTHER = (AT, AT + timedelta(days=30, milliseconds=1), "8", 2**53 - 1, 2, date(1899, 12, 31), time(0, 0, 1), timedelta(0), False, None)


def sheet(path: Path, *rows: Any, after_1904: bool = False) -> Path:
    """A workbook whose second sheet is another."""
    book = Workbook()
    if after_1904:
        book.epoch = CALENDAR_MAC_1904
    for row in rows:
        book.active.append(row)
    for cell in (cell for row in book.active for cell in row if str(cell.value).startswith("#")):
        cell.data_type = "e"
    book.create_sheet("Other").append(["at", "n"])
    path.parent.mkdir(parents=True, exist_ok=True)
    book.save(path)
    return path


def case(folder: Path, *rows: Any, ending: str = "xlsx", results: dict[str, str] | None = None, **source: Any) -> Hourly:
    """A pipeline over one workbook, which collects values."""
    sheet(folder / "data" / f"00.{ending}", *rows)
    sums = {name: agg.collect(of) for name, of in (results or {}).items()} | {"n_rows": agg.count()}
    return Hourly(folder, f"*.{ending}", {"all_files": True, **source}, {"aggregates": sums})


@pytest.mark.parametrize("after_1904", [False, True])
def test_cells_arrive_as_they_are(after_1904: bool, tmp_path: Path) -> None:
    book = case(tmp_path, results={name: name for name in HEADER[1:]})
    sheet(tmp_path / "data" / "00.xlsx", (), ("",), HEADER, ROW, (), ROW, after_1904=after_1904)
    assert book.run().batches[0].rows_accepted == 2
    ((*got, count),) = book.rows(*HEADER[1:], "n_rows")
    values = [AT.replace(tzinfo=UTC), "007", 7, 0.1, date(2024, 2, 29), "09:30:00", "26:00:01.500000", True, " Ä\n"]
    assert (got, count) == ([[value] * 2 for value in values], 2)


def test_numbers_are_doubles_and_times_have_milliseconds(tmp_path: Path) -> None:
    book = case(tmp_path, HEADER, ROW, OTHER, (AT, date(2024, 3, 1)), results={"seen": "seen", "n": "n", "x": "x", "note": "note"})
    book.run()
    assert book.rows("seen", "n", "x", "note") == [
        ([each.replace(tzinfo=UTC) for each in (AT, OTHER[1], AT.replace(month=3, minute=0))], [7, 2**53 - 1], [0.1, 2.0], [" Ä\n"]),
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["DECIMAL(18,2)", "BIGINT", "DOUBLE", "VARCHAR"])
def test_a_declared_type_reads_what_it_can_exactly(kind: str, tmp_path: Path) -> None:
    book = case(tmp_path, ("at", "x"), (AT, 12.0), (AT, "12"), results={"x": "x"}, types={"x": kind})
    assert book.run().batches[0].rows_accepted == 2
    ((values,),) = book.rows("x")
    assert [*map(str, values)] == {"DECIMAL(18,2)": ["12.00"] * 2, "DOUBLE": ["12.0"] * 2}.get(kind, ["12"] * 2)


def test_rows_that_cannot_be_read_keep_their_numbers(tmp_path: Path) -> None:
    """An error, a formula that no program has computed, and a text are no numbers; an empty cell is null."""
    rows = (("",), ("at", "x"), (AT, 1), (AT, "#N/A"), (), (AT, "=1+1"), (AT, "one"), (AT, None), ("today", 2))
    book = case(tmp_path, *rows, results={"x": "x"}, types={"x": "DOUBLE"})
    (batch,) = book.run().batches
    assert (batch.rows_read, batch.rows_quarantined) == (6, 4)
    assert book.rows("x") == [([1.0],)]
    table = quarantined(book.pipeline, root=book.root).to_pylist()
    bad = ((4, f"{AT}.000", '"#N/A"'), (6, f"{AT}.000", '"=1+1"'), (7, f"{AT}.000", '"one"'), (9, "today", 2.0))
    assert sorted((row["line"], row["row"]) for row in table) == [(line, f'{{"at":"{at}","x":{x}}}') for line, at, x in bad]


def test_errors_and_formulas_without_a_result_are_texts(tmp_path: Path) -> None:
    cells = [f"#{name}" for name in ("DIV/0!", "N/A", "REF!")] + ["=A1", "=SUM(A1:A2)"]
    for wide in (0, 30):  # beyond column Z
        path = sheet(tmp_path / "a.xlsx", [*map(str, range(wide + 5))], [*[1] * wide, *cells])
        last = [*sheet_in_lines(path.read_bytes())][-1].decode()
        assert [each in last for each in map('": "{}"'.format, cells)] == [True] * 5


def test_what_is_no_sheet(tmp_path: Path) -> None:
    whole = sheet(tmp_path / "whole.xlsx", ("at", "x"), (AT, 1)).read_bytes()
    rows = whole.index(b"xl/worksheets/sheet1.xml") + 50
    for content in (b"at,x\n", whole[: len(whole) // 2], whole[:rows] + bytes(9) + whole[rows + 9 :]):
        with pytest.raises(SourceError, match=r"00\.xlsx is cut off or damaged"):
            hour(tmp_path, content, "xlsx").run()
    book = hour(tmp_path, b"at,x\n", "xlsx", on_bad_file="quarantine")
    assert book.run().batches[0].rows_quarantined == 1
    (row,) = quarantined(book.pipeline, root=book.root).to_pylist()
    assert "a file of Excel (.xlsx) was expected" in row["reason"]


def test_names_of_columns(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="two columns are called 'at'; rename one"):
        case(tmp_path, ("at", "x", "at"), (AT, 1, AT)).run()
    with pytest.raises(SourceError, match=r"event_time.*no column 'at'; there are Report of May"):
        case(tmp_path, ("Report of May",), ("at", "x"), (AT, 1)).run()
    unnamed = case(tmp_path, ("at", None, 2024), (AT, 1, 5), results={"y": '"2024"'})
    unnamed.run()
    assert unnamed.rows("y") == [([5],)]


def test_the_format_may_be_said_and_a_sheet_without_rows_is_empty(tmp_path: Path) -> None:
    book = case(tmp_path, ("at", "x"), ending="bin", format="xlsx")
    assert book.run().batches[0].rows_read == 0
    assert sources.files("a/{start:%Y}.XLSX", event_time="at") == sources.files("a/{start:%Y}.XLSX", event_time="at", format="xlsx")


def test_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Blocked:
        def find_spec(self, name: str, *_: object) -> None:
            if name == "python_calamine":
                raise ModuleNotFoundError(name)

    monkeypatch.delitem(sys.modules, "python_calamine", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Blocked(), *sys.meta_path])
    with pytest.raises(MissingPackageError, match=r"pip install 'muntin\[excel\]'"):
        case(tmp_path, ("at",), (AT,)).run()
