"""The first sheet of a file of Excel as lines of JSON: the first row with a value names the columns, and each
row below it is a line of the same number.

    at                   id (a text)   n
    01.05.24 10:00       007           7         {"at": "2024-05-01 10:00:00.000", "id": "007", "n": 7}

Numbers of Excel are doubles, of which whole numbers are written without a point; times are numbers with a
format, exact to a millisecond. Errors, and formulas that nothing has computed, are texts: `#N/A`, `=A1+B1`.
"""

from __future__ import annotations

import io
import json
import re
import zlib
from datetime import date, datetime, time, timedelta
from functools import reduce
from html import unescape
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile, ZipFile

from muntin.definition.extras import need

if TYPE_CHECKING:
    from collections.abc import Iterator

_WHOLE = 2**53  # below it a double has every digit
_FIRST_SHEET = re.compile(rb'<(?:\w+:)?sheet\s[^>]*?:id="([^"]+)"')
_TARGET = re.compile(rb'\bTarget="(?:/xl/)?([^"]+)"')
_CELL = re.compile(
    rb"<(?:\w+:)?c\s([^>]*)>(?:<(?:\w+:)?f(?:\s[^>]*?)?(/?>[^<]*)(?:</(?:\w+:)?f>)?)?"
    rb"(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v>([^<]*)</(?:\w+:)?v>)?</(?:\w+:)?c>"
)
_PLACE = re.compile(rb'\br="([A-Z]+)([0-9]+)"')


def sheet_in_lines(data: bytes) -> Iterator[bytes]:
    """The rows of the first sheet.

    Raises:
        ValueError: it is no such file, or two columns have one name.
    """
    need("python_calamine")
    from python_calamine import CalamineError, CalamineWorkbook

    try:
        texts = _without_result(data)
        sheet = CalamineWorkbook.from_filelike(io.BytesIO(data)).get_sheet_by_index(0)
        rows = sheet.to_python(skip_empty_area=False)
    except (BadZipFile, CalamineError, IndexError, KeyError, zlib.error) as wrong:
        raise ValueError(f"no .xlsx of Excel: {wrong}") from wrong
    of_instants = {at for row in rows for at, cell in enumerate(row, 1) if isinstance(cell, datetime)}
    names: list[str] = []
    for number, row in enumerate(rows, 1):
        cells = [
            texts.get((number, at)) or _value(cell, midnight=at in of_instants)
            for at, cell in enumerate(row, 1)
        ]
        if all(cell is None for cell in cells):
            yield b"\n"
        elif names:
            values = {name: cell for name, cell in zip(names, cells, strict=True) if name}
            yield json.dumps(values).encode() + b"\n"
        else:
            yield b"\n"
            names = ["" if cell is None else str(cell) for cell in cells]
            if twice := next((name for at, name in enumerate(names) if name and name in names[:at]), None):
                raise ValueError(f"two columns are called {twice!r}; rename one")


def _value(cell: Any, *, midnight: bool) -> object:  # noqa: ANN401 - whatever calamine has
    """The value of a cell, as JSON has it. `midnight`: whether a day is an instant, as in its column."""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < _WHOLE:
        return int(cell)
    if isinstance(cell, timedelta):
        hours, rest = divmod(cell, timedelta(hours=1))
        return f"{hours:02d}{f'{timedelta(hours=10) + rest}'[2:]}"
    if type(cell) is date and midnight:
        cell = datetime.combine(cell, time())
    if isinstance(cell, datetime):
        return cell.isoformat(" ", "milliseconds")
    return None if cell == "" else cell.isoformat() if isinstance(cell, date | time) else cell


def _without_result(data: bytes) -> dict[tuple[int, int], str]:
    """The cells of the first sheet, (row, column), for which the reader gives no value though they are not
    empty.
    """
    with ZipFile(io.BytesIO(data)) as book:
        number = _FIRST_SHEET.findall(book.read("xl/workbook.xml"))[0]
        relations = book.read("xl/_rels/workbook.xml.rels").split(b"<")
        (relation,) = (each for each in relations if b'Id="%s"' % number in each)
        path = _TARGET.findall(relation)[0]
        sheet = book.read(f"xl/{path.decode()}")
    texts: dict[tuple[int, int], str] = {}
    for cell in _CELL.finditer(sheet) if b't="e"' in sheet or b"f>" in sheet else ():
        of, formula, value = cell.groups()
        is_error = b't="e"' in of
        if is_error or (formula and not value and b't="str"' not in of):
            letters, row = _PLACE.findall(of)[0]
            column = reduce(lambda number, letter: 26 * number + letter - ord("A") + 1, letters, 0)
            texts[int(row), column] = (
                (value or b"#N/A").decode() if is_error else f"={unescape(formula.decode().lstrip('/>'))}"
            )
    return texts
