"""Copies of files of text without their bad rows, so that the rest is read as if the bad rows had never been
written.

A bad row has too few or too many cells, a quote that does not close, a byte that is no UTF-8, or a cell that
is not of the type that the definition says; a bad line is no JSON object. All are reported with their place
and their text.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import duckdb
import numpy as np

from muntin.errors import SourceError
from muntin.sources.dialect import USUAL, UTF_8
from muntin.sources.exact_json.numbers import is_rounded
from muntin.sources.hive import folders_of
from muntin.sources.reading.bad_files import file_problem
from muntin.sources.reading.cut_csv import cut_csv
from muntin.sources.reading.cut_json import cut_json
from muntin.sources.reading.cut_rows import MARK, NO_BYTE_OF_TEXT, Cut, lines
from muntin.sources.reading.mended import BadRow, Mended
from muntin.sources.reading.scan import in_every_file, uncast
from muntin.sources.sessions.plain_text import content, encoding_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from muntin.sources.source import Content, Source

_REJECTS = "muntin_rejects"
Fault = tuple[str, str | None]  # a reason, and the column that it is about


@contextmanager
def taken_apart(
    session: duckdb.DuckDBPyConnection, source: Source, paths: Sequence[str], used: Callable[[str], bool]
) -> Iterator[Mended]:
    """Files without what cannot be read of them. The copies are there for as long as the context is.

    `used`: whether the definition may use a column of a name.
    """
    with TemporaryDirectory(prefix="muntin-") as folder:
        out = Mended(_in_utf_8(source), paths)
        for number, path in enumerate(paths):
            if messages := source.content(path):
                _add_messages(path, messages, str(Path(folder, f"{number}.parquet")), out)
            elif problem := file_problem(session, source, path):
                _refuse(source, path, problem)
                out.bad.append(BadRow(path, f"the file {problem}"))
            elif source.format in ("csv", "json"):
                copy = Path(folder, str(number), folders_of(source.hive, path), f"{number}.{source.format}")
                copy.parent.mkdir(parents=True)
                _add_copy(session, source, path, str(copy), out, used)
            else:
                out.paths.append(path)
        yield out


def _in_utf_8(source: Source) -> Source:
    if source.dialect.encoding == USUAL.encoding:
        return source
    return replace(source, dialect=replace(source.dialect, encoding=USUAL.encoding))


def _refuse(source: Source, path: str, problem: str) -> None:
    if source.on_bad_file == "error":
        raise SourceError(
            f'{path} {problem}. Mend or remove it, or say on_bad_file="quarantine" in sources.files(...)'
        )


def _add_copy(
    session: duckdb.DuckDBPyConnection,
    source: Source,
    path: str,
    copy: str,
    out: Mended,
    used: Callable[[str], bool],
) -> None:
    """Copy a file of CSV or JSON, without its bad rows."""
    cut = _cut(session, source, path, used)
    faults = _written(session, out.source, cut, copy)
    out.bad.extend(
        BadRow(path, why, row, cut.line[row], column, cut.text(row))
        for row, (why, column) in sorted(faults.items())
    )
    if faults or not _same(Path(copy).read_bytes(), cut.data):
        out.changed.append(copy)
    good = [row for row in range(len(cut)) if row not in faults]
    out.places[copy] = np.array(good, np.int64), np.array(cut.line, np.int64)[good]
    out.files[copy] = path
    out.paths.append(copy)


def _add_messages(path: str, content: Content, copy: str, out: Mended) -> None:
    """Copy messages, without messages that are no rows. The line of a message is its offset."""
    Path(copy).write_bytes(content.file)
    out.bad.extend(
        BadRow(path, each.reason, each.number, each.offset, each.column, each.text) for each in content.odd
    )
    if content.odd:
        out.changed.append(copy)
    out.places[copy] = content.number, content.offset
    out.files[copy] = path
    out.paths.append(copy)


def lines_of(session: duckdb.DuckDBPyConnection, source: Source, path: str, rows: int) -> np.ndarray | None:
    """The line of each row of a file of text that has so many rows, from 1; of messages the offset; None
    where it is not known.
    """
    if messages := source.content(path):
        return messages.offset
    if source.format not in ("csv", "json"):
        return None
    how = source.dialect
    is_csv = source.format == "csv"
    quick = lines(
        content(path, how.encoding), header=is_csv and not how.header, quote=how.quote if is_csv else ""
    )
    if len(quick) == rows:
        return quick
    cut = _cut(session, source, path)
    return np.array(cut.line, np.int64) if len(cut) == rows else None


def _cut(
    session: duckdb.DuckDBPyConnection,
    source: Source,
    path: str,
    used: Callable[[str], bool] = lambda _: False,
) -> Cut:
    """A file of text in rows; of a file without a header that can be read none.

    `used`: the columns whose values matter.
    """

    def exact(name: str) -> bool:
        return used(name) and not is_rounded(source.types.get(name))

    def guessed(name: str) -> bool:
        return used(name) and name not in source.types

    data = content(path, source.dialect.encoding)
    cut = (
        cut_json(session, data, exact, guessed)
        if source.format == "json"
        else cut_csv(data, source.separator, source.dialect)
    )
    cut = Cut(data) if cut is None else cut
    if (
        NO_BYTE_OF_TEXT in cut.faults.values()
        and (encoding := encoding_in(path, source.dialect.encoding)) != UTF_8
    ):
        fault_text = f"bytes that are no {encoding}"
        cut.faults.update({row: fault_text for row, fault in cut.faults.items() if fault == NO_BYTE_OF_TEXT})
    return cut


def _written(session: duckdb.DuckDBPyConnection, source: Source, cut: Cut, copy: str) -> Mapping[int, Fault]:
    """Write the rows of a file that can be read; return the other rows, with their faults."""
    faults: dict[int, Fault] = {row: (why, None) for row, why in cut.faults.items()}
    good = _write(cut, faults, copy)
    if source.format == "csv" and (cast_faults := _miscast(session, source, cut, good, copy)):
        faults |= cast_faults
        _write(cut, faults, copy)
    return faults


def _write(cut: Cut, faults: Mapping[int, Fault], copy: str) -> list[int]:
    good = [row for row in range(len(cut)) if row not in faults]
    Path(copy).write_bytes(cut.copy(good))
    return good


def _same(copy: bytes, data: bytes) -> bool:
    """Whether a file is its copy, but for the way in which all of its lines end, the end of its last line,
    and empty lines at its end.
    """
    if data.count(b"\r\n") == data.count(b"\n"):
        data = data.replace(b"\r\n", b"\n")
    return copy.rstrip(b"\n") == data.removeprefix(MARK).rstrip(b"\n")


def _miscast(
    session: duckdb.DuckDBPyConnection, source: Source, cut: Cut, rows: Sequence[int], copy: str
) -> dict[int, Fault]:
    """The rows of a copy with a cell that is not of the type that the definition says."""
    types = in_every_file(source)
    if not types:
        return {}
    try:
        session.execute(uncast(source, copy, _REJECTS)).fetchall()
        rejects = session.execute(
            f"SELECT line_byte_position, column_name FROM {_REJECTS} WHERE error_type = 'CAST'"
        ).fetchall()
    except duckdb.Error:  # which the reading itself tells
        return {}
    finally:
        for table in (_REJECTS, f"{_REJECTS}_scans"):
            session.execute(f"DROP TABLE IF EXISTS {table}")
    sizes = np.array([cut.end[row] - cut.begin[row] + 1 for row in rows], np.int64)
    begins = len(cut.header) + np.cumsum(sizes) - sizes
    out: dict[int, Fault] = {}
    for at, column in sorted(rejects):
        row = rows[int(np.searchsorted(begins, at, side="right")) - 1]
        out.setdefault(row, (f"{column} cannot be read as {types.get(column, 'it is told')}", column))
    return out
