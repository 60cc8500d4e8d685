"""Copies of files of text without their bad rows, so that the rest is read as if the bad rows had never been written.

A bad row has too few or too many cells, a quote that does not close, a byte that is no UTF-8, or a cell that is not of the type that the
definition says; a bad line is no JSON object. All are told with their place and their text.
"""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import duckdb
import numpy as np

from pipelines.sources.cut_csv import cut_csv
from pipelines.sources.cut_json import cut_json
from pipelines.sources.cut_rows import MARK, content, lines
from pipelines.sources.scan import said_types, uncast

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pipelines.sources import Source
    from pipelines.sources.cut_rows import Cut

_REJECTS = "muntin_rejects"
Fault = tuple[str, str | None]  # a reason, and the column that it is about


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that cannot be read.

    Attributes:
        file: its path.
        position: its number in the file, from 0.
        line: where it begins, from 1.
        column: the column that cannot be read; None: the whole row.
        reason: why.
        text: the row as it is written.
    """

    file: str
    position: int
    line: int
    column: str | None
    reason: str
    text: str


@dataclass(frozen=True, slots=True)
class Mended:
    """Files of text, taken apart.

    Attributes:
        paths: of what is to be read instead of the files, in their order.
        files: path of a copy -> path of its file.
        bad: the rows that the copies lack.
        places: path of a copy -> of each of its rows the number in the file, from 0, and the line, from 1.
        changed: the paths of the copies that are not what their files are.
    """

    paths: list[str] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    bad: list[BadRow] = field(default_factory=list)
    places: dict[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    changed: list[str] = field(default_factory=list)

    @property
    def differ(self) -> bool:
        """Whether the files are to be read otherwise than they are."""
        return bool(self.changed)

    @property
    def unread(self) -> list[int]:
        """Of each file how many rows its copy lacks."""
        counts = Counter(row.file for row in self.bad)
        return [counts[self.files.get(path, path)] for path in self.paths]

    @property
    def has_no_row_left(self) -> bool:
        """Whether all rows of the files are bad, and there are any."""
        return bool(self.bad) and not any(len(position) for position, _ in self.places.values())

    def named(self, text: str) -> str:
        """A text with the names of files instead of those of their copies."""
        for copy, path in self.files.items():
            text = text.replace(copy, path)
        return text


@contextmanager
def taken_apart(session: duckdb.DuckDBPyConnection, source: Source, paths: Sequence[str]) -> Iterator[Mended]:
    """Files as `mended` gives them. The copies are there for as long as the context is."""
    if source.format not in ("csv", "json"):
        yield Mended([*paths])
        return
    with TemporaryDirectory(prefix="muntin-") as folder:
        yield mended(session, source, paths, folder)


def mended(session: duckdb.DuckDBPyConnection, source: Source, paths: Sequence[str], folder: str) -> Mended:
    """Copy files of CSV or JSON to a folder, without their bad rows. Other files stay where they are."""
    out = Mended()
    for number, path in enumerate(paths):
        copy = f"{folder}/{number}.{source.format}"
        cut = _cut(session, source, path)
        if cut is None:
            out.paths.append(path)
            continue
        faults = _written(session, source, cut, copy)
        out.bad.extend(BadRow(path, row, cut.line[row], column, why, cut.text(row)) for row, (why, column) in sorted(faults.items()))
        if faults or not _same(Path(copy).read_bytes(), cut.data):
            out.changed.append(copy)
        good = [row for row in range(len(cut)) if row not in faults]
        out.places[copy] = np.array(good, np.int64), np.array(cut.line, np.int64)[good]
        out.files[copy] = path
        out.paths.append(copy)
    return out


def lines_of(session: duckdb.DuckDBPyConnection, source: Source, path: str, rows: int) -> np.ndarray | None:
    """The line of each row of a file of text that has so many rows, from 1; None where it cannot be told."""
    if source.format not in ("csv", "json"):
        return None
    quick = lines(content(path), header=source.format == "csv", quote='"' if source.format == "csv" else "")
    if len(quick) == rows:
        return quick
    cut = _cut(session, source, path)
    return np.array(cut.line, np.int64) if cut and len(cut) == rows else None


def _cut(session: duckdb.DuckDBPyConnection, source: Source, path: str) -> Cut | None:
    """A file of text in rows; None for other files, and for one without a header that can be read."""
    data = content(path) if source.format in ("csv", "json") else b""
    if source.format == "json" and data:
        return cut_json(session, data)
    return cut_csv(data, source.separator, '"') if data else None


def _written(session: duckdb.DuckDBPyConnection, source: Source, cut: Cut, copy: str) -> Mapping[int, Fault]:
    """Write the rows of a file that can be read; give the others, with what is wrong."""
    faults: dict[int, Fault] = {row: (why, None) for row, why in cut.faults.items()}
    good = _write(cut, faults, copy)
    if source.format == "csv" and (found := _miscast(session, source, cut, good, copy)):
        faults |= found
        _write(cut, faults, copy)
    return faults


def _write(cut: Cut, faults: Mapping[int, Fault], copy: str) -> list[int]:
    good = [row for row in range(len(cut)) if row not in faults]
    Path(copy).write_bytes(cut.copy(good))
    return good


def _same(copy: bytes, data: bytes) -> bool:
    """Whether a file is its copy, but for the way in which all of its lines end, the end of its last line, and empty lines at its end."""
    if data.count(b"\r\n") == data.count(b"\n"):
        data = data.replace(b"\r\n", b"\n")
    return copy.rstrip(b"\n") == data.removeprefix(MARK).rstrip(b"\n")


def _miscast(session: duckdb.DuckDBPyConnection, source: Source, cut: Cut, rows: Sequence[int], copy: str) -> dict[int, Fault]:
    """The rows of a copy with a cell that is not of the type that the definition says."""
    types = said_types(source)
    if not types:
        return {}
    try:
        session.execute(uncast(source, copy, _REJECTS)).fetchall()
        found = session.execute(f"SELECT line_byte_position, column_name FROM {_REJECTS} WHERE error_type = 'CAST'").fetchall()
    except duckdb.Error:  # which the reading itself tells
        return {}
    finally:
        for table in (_REJECTS, f"{_REJECTS}_scans"):
            session.execute(f"DROP TABLE IF EXISTS {table}")
    sizes = np.array([cut.end[row] - cut.begin[row] + 1 for row in rows], np.int64)
    begins = len(cut.header) + np.cumsum(sizes) - sizes
    out: dict[int, Fault] = {}
    for at, column in sorted(found):
        row = rows[int(np.searchsorted(begins, at, side="right")) - 1]
        out.setdefault(row, (f"{column} cannot be read as {types.get(column, 'it is told')}", column))
    return out
