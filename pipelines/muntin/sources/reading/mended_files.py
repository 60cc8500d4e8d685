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
from muntin.sources.casts import is_rounded
from muntin.sources.dialect import JSON, UTF_8
from muntin.sources.path_templates import folders_of
from muntin.sources.reading.bad_files import file_problem
from muntin.sources.reading.cut_csv import cut_csv
from muntin.sources.reading.cut_rows import MARK, NO_BYTE_OF_TEXT, Cut, cut_json, lines
from muntin.sources.reading.mended import BadRow, Mended
from muntin.sources.reading.scan import in_every_file, uncast
from muntin.sources.sessions.plain_text import content, encoding_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from muntin.sources.source import Source, Used

_REJECTS = "muntin_rejects"
Fault = tuple[str, str | None]  # a reason, and the column that it is about


@contextmanager
def taken_apart(
    session: duckdb.DuckDBPyConnection, source: Source, paths: Sequence[str], used: Used
) -> Iterator[Mended]:
    """Files without what cannot be read of them. The copies are there for as long as the context is.

    `used`: whether the definition may use a column of a name.
    """
    with TemporaryDirectory(prefix="muntin-") as folder:
        out, how = Mended(source, paths), source.dialect
        if how.made_plain != UTF_8:
            out = Mended(
                replace(
                    source, dialect=replace(how, encoding=UTF_8, skip_lines=0, of=JSON if how.of else "")
                ),
                paths,
            )
        for number, path in enumerate(paths):
            if messages := source.content(path):  # the line of a message is its offset
                parquet = Path(folder, f"{number}.parquet")
                parquet.write_bytes(messages.file)
                bad = (
                    BadRow(path, each.reason, each.number, each.offset, each.column, each.text)
                    for each in messages.odd
                )
                out.add_copy(str(parquet), path, bad, (messages.number, messages.offset), same=True)
            elif problem := file_problem(session, source, path):
                if source.on_bad_file == "error":
                    raise SourceError(
                        f"{path} {problem}. Mend or remove it, or say"
                        ' on_bad_file="quarantine" in sources.files(...)'
                    )
                out.bad.append(BadRow(path, f"the file {problem}"))
            elif source.format in ("csv", "json"):
                copy = Path(folder, str(number), folders_of(source.hive, path), f"{number}.{source.format}")
                copy.parent.mkdir(parents=True)
                _add_copy(session, source, path, str(copy), out, used)
            else:
                out.paths.append(path)
        yield out


def _add_copy(
    session: duckdb.DuckDBPyConnection,
    source: Source,
    path: str,
    copy: str,
    out: Mended,
    used: Used,
) -> None:
    """Copy a file of CSV or JSON, without its bad rows."""
    cut = _cut(session, source, path, used)
    faults: dict[int, Fault] = {row: (why, None) for row, why in cut.faults.items()}
    good = _write(cut, faults, copy)
    if source.format == "csv" and (cast_faults := _miscast(session, out.source, cut, good, copy)):
        faults |= cast_faults
        good = _write(cut, faults, copy)
    bad = (
        BadRow(path, why, row, cut.line[row], column, cut.text(row))
        for row, (why, column) in sorted(faults.items())
    )
    places = np.array(good, np.int64), np.array(cut.line, np.int64)[good]
    # but for the way in which all lines end, the end of the last line, and empty lines at the end
    ends_alike = cut.data.count(b"\r\n") == cut.data.count(b"\n")
    data = cut.data.replace(b"\r\n", b"\n") if ends_alike else cut.data
    same = Path(copy).read_bytes().rstrip(b"\n") == data.removeprefix(MARK).rstrip(b"\n")
    out.add_copy(copy, path, bad, places, same=same)


def lines_of(session: duckdb.DuckDBPyConnection, source: Source, path: str, rows: int) -> np.ndarray | None:
    """The line of each row of a file of text that has so many rows, from 1; of messages the offset; None
    where it is not known.
    """
    if messages := source.content(path):
        return messages.offset
    if source.format not in ("csv", "json"):
        return None
    how, is_csv = source.dialect, source.format == "csv"
    data = content(path, how.made_plain)
    quote = how.quote if is_csv else ""
    quick = lines(data, header=is_csv and not how.header, quote=quote)
    if len(quick) == rows:
        return quick + how.skip_lines
    cut = _cut(session, source, path)
    return np.array(cut.line, np.int64) if len(cut) == rows else None


def _cut(
    session: duckdb.DuckDBPyConnection,
    source: Source,
    path: str,
    used: Used = lambda _: False,
) -> Cut:
    """A file of text in rows; of a file without a header that can be read none.

    `used`: the columns whose values matter.
    """

    def exact(name: str) -> bool:
        return used(name) and not is_rounded(source.types.get(name))

    def guessed(name: str) -> bool:
        return used(name) and name not in source.types

    data = content(path, source.dialect.made_plain)
    if source.format == "json":
        cut = cut_json(session, data, exact, guessed)
    elif (cut_of_csv := cut_csv(data, source.separator, source.dialect)) is not None:  # without rows, too
        cut = cut_of_csv
    else:
        cut = Cut(data)
    undecoded = [row for row, fault in cut.faults.items() if fault == NO_BYTE_OF_TEXT]
    if undecoded and (encoding := encoding_in(path, source.dialect.encoding)) != UTF_8:
        cut.faults.update(dict.fromkeys(undecoded, f"bytes that are no {encoding}"))
    return cut


def _write(cut: Cut, faults: Mapping[int, Fault], copy: str) -> list[int]:
    good = [row for row in range(len(cut)) if row not in faults]
    Path(copy).write_bytes(cut.copy(good))
    return good


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
