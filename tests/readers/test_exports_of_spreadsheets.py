"""Lines above the header, and marks between thousands, as spreadsheets write them."""

import gzip
from pathlib import Path
from typing import Any

import pytest

from muntin import aggregates as agg
from muntin import sources
from muntin.errors import DefinitionError, SourceError
from muntin.jobs.inspect.late import quarantined
from tests.case_counts import paired
from tests.end_to_end.hourly import Hourly

AT = "2024-01-01 00:10"
SUMS = {"aggregates": {"x": agg.collect("x")}}
GERMAN = {"delimiter": ";", "decimal": ",", "thousands": "."}
ABOVE = {
    "sep": "sep=;\n",
    "two": "Umsatz;Mai\n\n",
    "a quote that never closes": 'Bericht "Mai\n"unvollendet\n',
    "a value over two lines": '"Umsatz\nMai";2024\n',
    "none": "",
}
"""What stands above the header; each line end counts."""


def case(folder: Path, text: str, ending: str = "csv", **source: Any) -> Hourly:
    exported = Hourly(folder, f"*.{ending}", {"all_files": True, **GERMAN, **source}, SUMS)
    data = text.replace("\n", "\r\n").encode(source.get("encoding", "utf-8"))
    exported.write("00.csv", {"at": []}).with_name(f"00.{ending}").write_bytes(gzip.compress(data) if ending.endswith("gz") else data)
    return exported


def rows(*cells: str) -> str:
    return "at;x\n" + "".join(f"{AT};{cell}\n" for cell in cells)


def places(exported: Hourly) -> list[tuple[int, int, str]]:
    table = quarantined(exported.pipeline, root=exported.root).to_pylist()
    return sorted((row["line"], row["position"], row["row"]) for row in table)


@pytest.mark.parametrize(("encoding", "ending"), [("utf-8", "csv"), ("utf-8-sig", "csv"), ("utf-16", "csv"), ("windows-1252", "csv.gz")])
def test_lines_above_the_header_are_skipped_in_any_encoding(encoding: str, ending: str, tmp_path: Path) -> None:
    exported = case(tmp_path, "sep=;\n" + rows("1,5", "2"), ending, encoding=encoding, skip_lines=1)
    assert [batch.rows_accepted for batch in exported.run().batches] == [2]
    assert exported.rows("x") == [([1.5, 2.0],)]


@pytest.mark.parametrize("above", ABOVE.values(), ids=ABOVE)
@pytest.mark.parametrize("faulty", ["a cell", "a row"])
def test_bad_rows_keep_their_lines(above: str, faulty: str, tmp_path: Path) -> None:
    """A cell of another type is told by position; a row of three cells, by the file's own text."""
    bad = "1.10,5" if faulty == "a cell" else "4;5"
    exported = case(tmp_path, above + rows("1,5", bad, "2"), skip_lines=above.count("\n"), types={"x": "DOUBLE"})
    (batch,) = exported.run().batches
    assert (batch.rows_read, batch.rows_accepted, batch.rows_quarantined) == (3, 2, 1)
    ((line, position, row),) = places(exported)
    assert (line, position) == (above.count("\n") + 3, 1)
    assert bad in row
    assert exported.rows("x") == [([1.5, 2.0],)]


def test_an_error_names_the_line_of_the_file(tmp_path: Path) -> None:
    exported = case(tmp_path, "sep=;\n" + rows("1,5", "zwei", "2"), skip_lines=1)
    with pytest.raises(DefinitionError, match=r"'zwei' in .*00\.csv, line 4"):
        Hourly(tmp_path, exported.path, exported.source, {"aggregates": {"x": agg.sum("x")}}).run()


@pytest.mark.parametrize(("text", "header"), paired(["sep=;\n", "sep=;"], [(), ("at", "x")]))
def test_a_file_that_ends_above_its_header_is_an_error(text: str, header: tuple[str, ...], tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="has no header that can be read"):
        case(tmp_path, text, skip_lines=1, header=header).run()


def test_the_line_of_a_spreadsheet_says_how_it_is_read(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"say format=sources\.csv\(delimiter=';', skip_lines=1\)"):
        case(tmp_path, "sep=;\n" + rows("1"), delimiter=",").run()


@pytest.mark.parametrize("kind", [None, "DOUBLE", "DECIMAL(12,3)"])
def test_a_mark_of_thousands_where_none_may_be_is_no_number(kind: str | None, tmp_path: Path) -> None:
    good = ["1.109,013", "2,5", "1.234.567", "18.000", "7", "-1.000"]
    bad = ["1.10,5", *(["0.123", "1.1090", ".109", "1.000,5.6", "1..000"] if kind else [])]
    exported = case(tmp_path, rows(*good, *bad), **({"types": {"x": kind}} if kind else {}))
    exported.run()
    assert [[float(value) for value in values] for (values,) in exported.rows("x")] == [[1109.013, 2.5, 1234567, 18000, 7, -1000]]
    assert [cell for _, _, row in places(exported) for cell in bad if f'"{cell}"' in row] == bad


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["1.109,013", "2,5"], 'is a number with decimal=",", thousands="."; say'),
        (["1,5"], 'is a number with decimal=","; say'),
        (["1,234"], 'is a number with decimal="," or thousands=","; say'),
        (["1,234.5"], 'is a number with thousands=","; say'),
    ],
)
def test_the_message_says_how_numbers_are_written(cells: list[str], said: str, tmp_path: Path) -> None:
    plain = case(tmp_path, rows(*cells), decimal=".", thousands="")
    with pytest.raises(DefinitionError, match="Each cell of x") as refused:
        Hourly(plain.folder, plain.path, plain.source, {"aggregates": {"x": agg.sum("x")}}).run()
    assert said in str(refused.value)
    assert "say types=" not in str(refused.value)


@pytest.mark.parametrize("wrong", [{"thousands": ","}, {"thousands": "_"}, {"skip_lines": -1}, {"skip_lines": "1"}, {"skip_lines": True}])
def test_what_cannot_be_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(DefinitionError, match="is not possible"):
        sources.csv(decimal=",", **wrong)
