"""A type that contradicts that of earlier batches, as text after a number: the file and the column, and a
batch that waits.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import duckdb

from muntin.errors import MuntinError, SourceError
from muntin.jobs.schema_check.columns_of_files import binds
from muntin.sources.reading.column_types import column_types
from muntin.sources.reading.sql_types import common_type, stored_type

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from muntin.jobs.state.bound import Bound
    from muntin.sources.reading.mended import Mended
    from muntin.sources.source import Columns


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A column that the definition uses and whose type has no common type with earlier batches.

    Attributes:
        path: of the file.
        column: its name.
        here, before: its SQL types in the file and in earlier batches.
    """

    path: str
    column: str
    here: str
    before: str

    def __str__(self) -> str:
        return f"{self.column} is {self.here} here and {self.before} in earlier batches"


def contradictions(
    session: duckdb.DuckDBPyConnection, bound: Bound, earlier_types: Columns, paths: Sequence[str]
) -> list[Contradiction]:
    """The first contradiction of each of some files that has any.

    `earlier_types`: name -> SQL type of the source's columns in earlier batches.
    """
    return [
        contradiction
        for path in paths
        if earlier_types and (contradiction := next(_of_file(session, bound, earlier_types, path), None))
    ]


def _of_file(
    session: duckdb.DuckDBPyConnection, bound: Bound, earlier_types: Columns, path: str
) -> Iterator[Contradiction]:
    with suppress(duckdb.Error, SourceError, OSError):  # a bad file: reading says so
        own = column_types(session, bound.source, [path], bound.may_use).columns
        for name, kind in own.items():
            before = earlier_types.get(name)
            if (
                before
                and common_type(stored_type(before), stored_type(kind)) is None
                and not binds(
                    session, bound, {each: of for each, of in earlier_types.items() if each != name}
                )
            ):
                yield Contradiction(path, name, kind, before)


def reported(wrong: MuntinError, conflicts: Sequence[Contradiction]) -> MuntinError:
    """An error that names the file and the column which contradict, if any do."""
    if not conflicts:
        return wrong
    first = conflicts[0]
    return SourceError(
        f"{first.path}: {first}. Mend the file, or say the column's type in sources.files(...,"
        f" types={{{first.column!r}: ...}}), "
        f'or on_schema="quarantine", with which the batch waits in the quarantine. {wrong}'
    )


def waiting(bound: Bound, paths: Sequence[str], conflicts: Sequence[Contradiction]) -> Mended:
    """Files as they count while their batch waits: each is a row of the quarantine."""
    from muntin.sources.reading.mended import BadRow, Mended

    reasons = {each.path: each for each in conflicts}
    files = Mended(bound.source, paths)
    for path in paths:
        other = (
            f"its batch waits for {conflicts[0].path}: {conflicts[0].column} is of another type than in"
            " earlier batches"
        )
        own = reasons.get(path)
        files.bad.append(BadRow(path, str(own), column=own.column) if own else BadRow(path, other))
    return files
