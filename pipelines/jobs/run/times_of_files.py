"""Whether times in files of text say themselves which number is the day.

DuckDB takes a column for times in whichever way of writing fits all values of a file: 01/02/2024 is one day in a file of January, and
another in a file that has a 13/02/2024, too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pipelines.errors import SourceError
from pipelines.sources.scan import first_texts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import duckdb

    from pipelines.sources import Source

_YEAR_FIRST = re.compile(r"\s*(-?\d{4,}[-/]|[-+]?infinity|epoch)", re.IGNORECASE)


def check_times(session: duckdb.DuckDBPyConnection, source: Source, columns: Mapping[str, str], paths: Sequence[str]) -> None:
    """Refuse files of CSV or JSON with times that DuckDB has read but that do not begin with the year.

    Args:
        session: of DuckDB.
        source: says how the files are written.
        columns: name -> SQL type, as DuckDB tells them.
        paths: of the files.

    Raises:
        SourceError: names the first such file, the column and a value.
    """
    times = [name for name, kind in columns.items() if kind.startswith(("TIMESTAMP", "DATE")) and name not in source.types]
    for path in paths if source.format != "parquet" and times else ():
        for name, text in zip(times, session.execute(first_texts(source, path, times)).fetchall()[0], strict=True):
            if text is not None and not _YEAR_FIRST.match(text):
                raise SourceError(_guess(source, path, name, text))


def _guess(source: Source, path: str, name: str, text: str) -> str:
    mend = f'types={{"{name}": "VARCHAR"}}, and take it apart in SQL'
    if name == source.event_time:
        mend = 'time_format="%d.%m.%Y %H:%M", as it is written'
    return f"{path}: column {name!r} holds {text!r}: which number is the day would be a guess; say in sources.files(...) {mend}"
