"""CSV cut into rows: lines, cells and faults."""

import pytest

from muntin.sources.dialect import Dialect
from muntin.sources.reading import cut_rows
from muntin.sources.reading.cut_csv import cut_csv
from muntin.sources.reading.cut_rows import lines

OPEN, BEHIND, ALONE = (
    "a quote opens, and none closes it",
    "text stands behind a closing quote",
    "a carriage return stands alone outside of quotes",
)
# text -> (line, text of the row, fault) of each row behind the header a,b
CUT: dict[str, tuple[str, list[tuple[int, str, str]]]] = {
    "two rows": ("1,2\n3,4\n", [(2, "1,2", ""), (3, "3,4", "")]),
    "no line end": ("1,2\r\n3,4", [(2, "1,2", ""), (3, "3,4", "")]),
    "empty lines": ("\n1,2\n\r\n\n3,4\n\n", [(3, "1,2", ""), (6, "3,4", "")]),
    "cells of two lines": ('"1\n\n2",3\n4,"5\r\n6"\n7,8\n', [(2, '"1\n\n2",3', ""), (5, '4,"5\r\n6"', ""), (7, "7,8", "")]),
    "quotes": ('"a""b","c,d"\na"b,"e"\n', [(2, '"a""b","c,d"', ""), (3, 'a"b,"e"', "")]),
    "a comma too many": ("1,2,\n3,\n,4,,\n", [(2, "1,2", ""), (3, "3,", ""), (4, ",4,,", "4 cells instead of 2")]),
    "too few": ("1\n2,3\n", [(2, "1", "1 cell instead of 2"), (3, "2,3", "")]),
    "a stray quote": ('1,"2\n3,4\n', [(2, '1,"2', OPEN), (3, "3,4", "")]),
    "two stray quotes": ('1,"2\n3,"4\n5,6\n', [(2, '1,"2', BEHIND), (3, '3,"4', OPEN), (4, "5,6", "")]),
    "text behind a quote": ('"1"x,2\n3,4\n', [(2, '"1"x,2', BEHIND), (3, "3,4", "")]),
    "a carriage return": ("1,\r2\n3,4\n", [(2, "1,\r2", ALONE), (3, "3,4", "")]),
    "old line ends": ("1,2\r3,4", [(2, "1,2", ""), (3, "3,4", "")]),
    "nothing": ("", []),
}


@pytest.mark.parametrize("what", CUT)
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_rows(mark: str, what: str) -> None:
    text, rows = CUT[what]
    end = "\r" if what == "old line ends" else "\n"
    cut = cut_csv(f"{mark}a,b{end}{text}".encode(), ",")
    assert cut is not None
    assert [(cut.line[row], cut.text(row), cut.faults.get(row, "")) for row in range(len(cut))] == rows


@pytest.mark.parametrize(
    "what", [what for what, (_, rows) in CUT.items() if not any(fault for *_, fault in rows) and what != "old line ends"]
)
def test_the_lines_of_good_rows_are_told_faster(what: str) -> None:
    text, rows = CUT[what]
    if 'a"b' not in text:
        assert lines(f"a,b\n{text}".encode(), header=True, quote='"').tolist() == [line for line, *_ in rows]


def test_a_byte_that_is_no_utf_8() -> None:
    cut = cut_csv(b"a,b\n1,\xfc\n2,\xc3\xbc\n", ",")
    assert cut is not None
    assert (cut.faults, cut.text(0), cut.text(1)) == ({0: "byte 0xfc is no UTF-8"}, "1,\\xfc", "2,ü")


@pytest.mark.parametrize("data", [b"a,\xfc\n1,2\n", b'a,"b\n1,2\n', b'a,"b"c\n1,2\n'])
def test_without_a_header_there_are_no_rows(data: bytes) -> None:
    assert cut_csv(data, ",") is None


# an empty last cell and a row that begins with the same character
def test_nothing_is_quoted_where_the_definition_says_so() -> None:
    cut = cut_csv(b'a|b\n"1|\n"2|x\n', "|", Dialect(quote=""))
    assert cut is not None
    assert ([cut.text(row) for row in range(len(cut))], cut.faults) == (['"1|', '"2|x'], {})


def test_a_single_column_has_empty_rows() -> None:
    cut = cut_csv(b"a\n1\n\n2\n", ",")
    assert cut is not None
    assert [(cut.line[row], cut.text(row)) for row in range(3)] == [(2, "1"), (3, ""), (4, "2")]


def test_a_row_that_is_too_long_for_its_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    assert cut_rows.LONGEST == 2_000_000, "DuckDB's own limit"
    for module in ("cut_rows", "cut_csv"):  # to cut megabytes takes seconds
        monkeypatch.setattr(f"muntin.sources.reading.{module}.LONGEST", 20_000)
    cut = cut_csv(b"a,b\n1," + b"x" * 20_001 + b'\n2,"' + b"y\n" * 15_000 + b'"\n3,4\n', ",")
    assert cut is not None
    assert cut.faults[0] == "a row of more than 20,000 bytes"
    assert cut.faults[1] == OPEN
    assert cut.text(len(cut) - 1) == "3,4"
