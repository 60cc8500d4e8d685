"""An error names the cell, the column and the mend; and the mend works."""

from pathlib import Path
from typing import Any

import pytest

from muntin import Limits
from muntin import aggregates as agg
from muntin.cli.place import load_pipeline
from muntin.errors import DefinitionError, SourceError
from tests.end_to_end.hourly import Hourly

AT = "2024-01-01 00:10:00"


def hour(folder: Path, text: str, of: str = "x", ending: str = "csv", **source: Any) -> Hourly:
    case = Hourly(folder, f"{{start:%H}}*.{ending}", source, {"aggregates": {"x": agg.sum(of)}})
    case.write(f"00.{ending}", {"at": []}).write_text(text)
    return case


def wrong(case: Hourly) -> str:
    with pytest.raises((DefinitionError, SourceError)) as told:
        case.run()
    return str(told.value)


def test_the_cell_that_is_no_number_in_its_file_is_named(tmp_path: Path) -> None:
    text, how = f"at;x\n{AT};1.23\n{AT};2,5\n", {"delimiter": ";", "decimal": ","}
    assert "for 1 of its 2 cells are no numbers: '1.23' in" in (told := wrong(hour(tmp_path, text, **how)))
    assert "00.csv, line 2" in told
    case = hour(tmp_path, text, **how, types={"x": "DOUBLE"})
    assert (case.run().batches[0].rows_quarantined, case.rows("x")) == (1, [(2.5,)])


@pytest.mark.parametrize("cell", ["1_2", "+-1", "0x1F.5"])
def test_so_is_what_a_cast_takes_for_a_number(cell: str, tmp_path: Path) -> None:
    assert f"are no numbers: {cell!r} in" in wrong(hour(tmp_path, f"at,x\n{AT},{cell}\n{AT},12.5\n"))


@pytest.mark.parametrize(("ending", "text"), [("csv", f"at,x\n{AT},007\n{AT},12\n"), ("jsonl", f'{{"at": "{AT}", "x": "19"}}\n')])
def test_a_column_of_texts_that_are_all_numbers(ending: str, text: str, tmp_path: Path) -> None:
    told = wrong(hour(tmp_path, text, ending=ending))
    assert 'x is text, though each of its cells is a number; say types={"x": "BIGINT"} in sources.files(...)' in told
    case = hour(tmp_path, text, ending=ending, types={"x": "BIGINT"})
    case.run()
    assert case.rows("x") == [(19,)]


@pytest.mark.parametrize("name", ["Verbrauch (kWh)", "Preis EUR", "a-b", "Menge %"])
def test_a_column_whose_name_is_no_word(name: str, tmp_path: Path) -> None:
    text = f"at,{name}\n{AT},3\n"
    with pytest.raises(DefinitionError) as told:
        hour(tmp_path, text, name).run()
    assert f"; write '\"{name}\"' for " in str(told.value)
    case = hour(tmp_path, text, f'"{name}"')
    case.run()
    assert case.rows("x") == [(3,)]


# a file as people have it, how it is read, what is said, and what the definition says then
PLAIN = f"at;x;n\n{AT};1;a\n{AT};2;b\n"
MISTAKES: dict[str, tuple[str, dict[str, Any], str, dict[str, Any]]] = {
    "another delimiter": (PLAIN, {"delimiter": ","}, "say format=sources.csv(delimiter=';')", {"delimiter": ";"}),
    "a decimal comma": (PLAIN.replace("1;a", "1,5;a"), {}, 'is a number with decimal=","; say it in', {"decimal": ","}),
    "thousands": (PLAIN.replace("1;a", "1.109,013;a"), {}, 'with decimal=",", thousands="."; say it', {"decimal": ",", "thousands": "."}),
    "thousands of a type": (
        PLAIN.replace(";1;", ";1.109,013;").replace(";2;", ";2.000;"), {"types": {"x": "DECIMAL(9,3)"}, "decimal": ","},
        'say format=sources.csv(decimal=",", thousands=".")', {"thousands": "."},
    ),
    "commas of English": (PLAIN.replace(";1;", ";1,234.5;"), {}, 'is a number with thousands=","; say it', {"thousands": ","}),
    "a line of Excel": ("sep=;\n" + PLAIN, {}, "say format=sources.csv(delimiter=';', skip_lines=1)", {"skip_lines": 1}),
    "a title": ("Sales of May\n" + PLAIN, {}, "say format=sources.csv(skip_lines=1) for one line", {"skip_lines": 1}),
    "no header": (PLAIN.split("\n", 1)[1], {}, "say format=sources.csv(header=[", {"header": ["at", "x", "n"]}),
    "a word for nothing": (PLAIN.replace(";1;", ";NA;"), {}, 'Say format=sources.csv(null=["", "NA"])', {"null": ["", "NA"]}),
    "another quote": (
        PLAIN.replace(";a", ";'a;c'").replace(";b", ";'b;d'"), {}, "quote=\"'\"", {"quote": "'"},
    ),
    "days first": (PLAIN.replace("2024-01-01", "01.01.2024"), {}, 'format="%d.%m.%Y %H:%M"', {"time_format": "%d.%m.%Y %H:%M:%S"}),
    "seconds": (PLAIN.replace(AT, "1704067800"), {}, 'say unit="s", "ms", "us" or "ns"', {"unit": "s"}),
    "seconds with a fraction": (PLAIN.replace(AT, "1704067800.5"), {}, 'event_time=sources.at("at", unit="s")', {"unit": "s"}),
    "milliseconds": (PLAIN.replace(AT, "1704067800000"), {"unit": "s"}, 'say sources.at(..., unit="ms")', {"unit": "ms"}),
    "another day": (
        PLAIN.replace("2024-01-01", "2024-01-09"), {}, 'say limits=Limits(max_ahead="30d")', {"limits": Limits(max_ahead="30d")},
    ),
    "another encoding": (
        PLAIN.replace(";a", ";ö").replace(";b", ";ü"), {}, 'say format=sources.csv(encoding="windows-1252")', {"encoding": "windows-1252"},
    ),
    "two bytes a letter": (PLAIN, {}, 'say format=sources.csv(encoding="utf-16")', {"encoding": "utf-16"}),
}  # fmt: skip


@pytest.mark.parametrize(("text", "how", "says", "mend"), MISTAKES.values(), ids=MISTAKES)
def test_who_follows_the_advice_gets_the_rows(
    text: str, how: dict[str, Any], says: str, mend: dict[str, Any], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    def project(**said: Any) -> Hourly:
        limits = said.pop("limits", Limits())
        case = Hourly(tmp_path, "{start:%H}*.csv", {"delimiter": ";", **how, **said}, {"aggregates": {"x": agg.sum("x")}, "limits": limits})
        encoding = {"encoding": "latin-1", "bytes": "utf-16-le"}.get(request.node.callspec.id.replace(" a letter", "").split()[-1], "utf-8")
        case.write("00.csv", {"at": []}).write_bytes(text.encode(encoding))
        return case

    assert says in wrong(project())
    assert [(batch.rows_accepted, batch.rows_quarantined) for batch in project(**mend).run().batches] == [(2, 0)]


@pytest.mark.parametrize("text", ["[{\n", "[1]\n", '{\n"at": 1\n'])
def test_json_over_several_lines_says_what_makes_lines_of_it(text: str, tmp_path: Path) -> None:
    case = hour(tmp_path, text, ending="jsonl", types={"x": "BIGINT", "at": "BIGINT"}, unit="s")
    said = wrong(Hourly(tmp_path, case.path, case.source, {**case.other, "limits": Limits()}))
    assert "jq -c '.[]' FILE makes lines of an array, jq -c . FILE of objects over several lines" in said


def test_a_text_that_no_number_is(tmp_path: Path) -> None:
    said = wrong(hour(tmp_path, f"at,x\n{AT},north\n{AT},south\n"))
    assert "No cell of x is a number, as 'north' in" in said
    assert "say types" not in said


def test_a_column_that_was_renamed_between_two_files(tmp_path: Path) -> None:
    case = hour(tmp_path, f"at,x\n{AT},3\n", types={"x": "DOUBLE"})
    case.write("01.csv", {"at": []}).write_text(f"at,y\n{AT.replace('00:', '01:', 1)},3\n")
    with pytest.raises(SourceError, match=r"01\.csv: types: no column 'x'; there are at, y"):
        case.run(0, 1)


def test_a_column_without_quotes(tmp_path: Path) -> None:
    file = tmp_path / "p.py"
    file.write_text("from muntin import aggregates as agg\nx = {'s': agg.sum(v)}\n")
    with pytest.raises(DefinitionError, match=r"line 2: NameError: name 'v' is not defined; if v is a column, .* in quotes: \"v\""):
        load_pipeline(file)
