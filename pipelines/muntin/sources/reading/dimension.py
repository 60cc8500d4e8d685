"""A dimension as tasks know it: a file of its versions, and the names and types of what
events look up in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from muntin.errors import DefinitionError, SourceError
from muntin.files.readable import opened
from muntin.sources.casts import INTEGERS
from muntin.sources.reading.column_hints import no_column
from muntin.sources.reading.scan import literal, nulls, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muntin.sources.source import Columns, Source
    from muntin.states.frames import Ints

FOREVER = np.iinfo(np.int64).max
"""The end of a version that is valid still."""


@dataclass(frozen=True, slots=True)
class Dimension:
    """A dimension at one moment.

    Attributes:
        name: by which expressions know it.
        keys: (column of the events, SQL type in the dimension), in order.
        columns: (column, SQL type) of what is looked up.
        of: names of the sources whose rows look up; () for all.
        required: whether an event without a row is refused.
        flat: the looked-up columns that are keys of the pipeline, as "rates.region".
        digest: a name of all its versions.
        path: of the file of its versions; "": it is not written.
    """

    name: str
    keys: tuple[tuple[str, str], ...]
    columns: tuple[tuple[str, str], ...]
    of: tuple[str, ...] = ()
    required: bool = False
    flat: tuple[str, ...] = ()
    digest: str = ""
    path: str = ""

    @property
    def kind(self) -> str:
        """The SQL type of a row of it."""
        return f"STRUCT({', '.join(f'{quoted(name)} {kind}' for name, kind in self.columns)})"

    @property
    def flat_kinds(self) -> dict[str, str]:
        """The columns that are keys -> SQL type."""
        kinds = dict(self.columns)
        return {name: kinds[name.partition(".")[2]] for name in self.flat}

    @property
    def missed(self) -> tuple[str, str]:
        """SQL for whether a row found what it requires, and for why it is refused if not."""
        key = " || ', ' || ".join(f"coalesce({quoted(name)}::VARCHAR, 'null')" for name, _ in self.keys)
        return (
            f"{quoted(self.name)} IS NOT NULL",
            f"{literal(f'{self.name} has no row that is valid at the event time for ')} || {key}",
        )


def empty_columns(source: Source, columns: Columns) -> Iterator[str]:
    """SQL for the columns that look-ups fill, without a value and with their types."""
    for each in source.lookups:
        _check(each, source, columns)
        yield nulls({each.name: each.kind, **each.flat_kinds})


def with_keys(source: Source, columns: Columns) -> dict[str, str]:
    """Name -> SQL type of the columns of a source, and of looked-up columns that are keys."""
    return {**columns, **{name: kind for each in source.lookups for name, kind in each.flat_kinds.items()}}


def _check(dimension: Dimension, source: Source, columns: Columns) -> None:
    what = f"lookups[{dimension.name!r}]"
    if clashing_column := next((name for name in columns if name.lower() == dimension.name.lower()), None):
        raise DefinitionError(
            f"{what}: the source has a column {clashing_column!r}, too, so that nobody could tell the two;"
            " name the look-up otherwise"
        )
    for name, kind in dimension.keys:
        if name not in columns:
            raise SourceError(no_column(f"{what}: keys", name, columns, source))
        if columns[name] != kind and not (columns[name] in INTEGERS and kind in INTEGERS):
            raise DefinitionError(
                f"{what}: keys: {name!r} is {columns[name]} in the events and {kind} in the dimension, and"
                " nothing is cast silently; say "
                f'one type in either source, as types={{"{name}": "VARCHAR"}}'
            )


class Versions(NamedTuple):
    """The versions of a dimension, ascending by key and time.

    Attributes:
        keys: a row for each key: columns k0, k1, ... and `id`, from 0.
        key: a hash of each key.
        first: number of the first version of each key, and behind the last the number of versions.
        since, until: of each version, microseconds.
        answer: a hash of the values of each version.
        values: of each version.
    """

    keys: pa.Table
    key: Ints
    first: Ints
    since: Ints
    until: Ints
    answer: Ints
    values: pa.Array


def versions_of(table: pa.Table) -> Versions:
    """The versions in a table, as the file of a dimension has it."""
    since, until, answer, ids, hashes = (
        table[name].to_numpy() for name in ("since", "until", "answer", "id", "key")
    )
    first = np.append(np.flatnonzero(np.diff(ids, prepend=-1)), len(ids)).astype(np.int64)
    names = [name for name in table.column_names if name.startswith("k") and name[1:].isdigit()]
    keys = table.select([*names, "id"]).take(pa.array(first[:-1]))
    return Versions(keys, hashes[first[:-1]], first, since, until, answer, table["value"].combine_chunks())


@lru_cache(maxsize=4)
def versions_in(path: str) -> Versions:
    """The versions in a file, which never changes: a task reads it once."""
    return versions_of(opened(path).read())
