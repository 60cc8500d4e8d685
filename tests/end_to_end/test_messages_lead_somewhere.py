"""An error names the cell, the column and the mend; and the mend works."""

from pathlib import Path
from typing import Any

import pytest

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
    text, how = f"at;x\n{AT};1.234\n{AT};2,5\n", {"delimiter": ";", "decimal": ","}
    assert "for 1 of its 2 cells are no numbers: '1.234' in" in (told := wrong(hour(tmp_path, text, **how)))
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
