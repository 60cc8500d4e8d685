"""A table whose rows say where windows lie, as a definition names it."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from muntin.definition.checks import is_reserved, listed
from muntin.definition.relative_paths import is_object_store, readable
from muntin.errors import DefinitionError

_READABLE = {f"sources.{name}(...)" for name in ("files", "table", "iceberg", "sql", "function")}
_MEND = (
    'give the path of files that do not change with the batches, as "data/shifts.csv", '
    'or sources.table("data/shifts", ...)'
)
_OF_BATCHES = ("dedupe", "arrival_order", "arrival_time", "ready")


class ReadAt(Protocol):
    """A column with times, and how they are read; `sources.at` makes it."""

    @property
    def column(self) -> str: ...
    @property
    def reading(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class GivenTable:
    """A table of spans.

    Attributes:
        source: the path of its files, or a source.
        start, end: the columns with the first instant of a span, and the first instant behind it.
        keys: the columns with the key of a span, which are keys of the pipeline; () where each span is of
            every key.
        columns: the columns that come along as columns of the windows.
    """

    source: Any
    start: str
    end: str
    keys: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()

    @property
    def named(self) -> str:
        """The table, for people."""
        return str(getattr(self.source, "path", getattr(self.source, "named", self.source)))

    def below(self, home: str | Path) -> GivenTable:
        """The same table with its relative path below a folder."""
        if not isinstance(self.source, str):
            return replace(self, source=self.source.below(home))
        if is_object_store(self.source) or Path(self.source).is_absolute():
            return self
        return replace(self, source=f"{glob.escape(str(Path(home).absolute()))}/{self.source}")


def given_table(
    source: Any,  # noqa: ANN401 - whatever the user gave
    start: Any,  # noqa: ANN401 - as above
    end: object,
    keys: Sequence[str],
    columns: Sequence[str],
) -> GivenTable:
    """A table of spans from the arguments of `windows.given`."""
    if hasattr(start, "reading"):
        if isinstance(source, str | Path):
            raise DefinitionError(
                f"given: sources.at(...) says how a source is read; give sources.files({str(source)!r})"
            )
        source, start = replace(_source(source), **start.reading), start.column
    names = GivenTable(
        _source(source),
        _name("start", start),
        _name("end", end),
        listed("keys", keys),
        listed("columns", columns),
    )
    if names.start == names.end:
        raise DefinitionError(
            f"given: start and end are both {start!r}; name the column where spans end, too"
        )
    for name in names.columns:
        if is_reserved(name) or name.lower() in (key.lower() for key in names.keys):
            raise DefinitionError(
                f"given: columns: {name!r} is a key, or a column that windows may have; leave it out, or "
                "rename it"
            )
    lower = [name.lower() for name in (*names.keys, *names.columns)]
    if twice := next((name for at, name in enumerate(lower) if name in lower[:at]), None):
        raise DefinitionError(f"given: {twice!r} stands twice among keys and columns; name each column once")
    return names


def _name(what: str, column: object) -> str:
    if not isinstance(column, str) or not column:
        raise DefinitionError(f'given: {what}: {column!r} is no name of a column; write {what}="{what}s_at"')
    return column


def _source(source: Any) -> Any:  # noqa: ANN401 - whatever the user gave
    """A source whose rows do not depend on the batch."""
    if isinstance(source, Path):
        source = str(source)
    if isinstance(source, str):
        readable(source, "given")
        if not source or "{" in source or source.startswith("~"):
            raise DefinitionError(
                f"given: {source!r} is no path of a table that is the same for each batch; {_MEND}"
            )
        return source
    if getattr(source, "call", None) not in _READABLE:
        raise DefinitionError(
            f"given: rows of {getattr(source, 'call', repr(source))} belong to batches, or come by Spark "
            f"alone; {_MEND}"
        )
    if not getattr(source, "all_files", True):
        raise DefinitionError(f"given: {source.path!r} has other files in each batch; {_MEND}")
    if hasattr(source, "all_now") and source.event_time:
        raise DefinitionError(
            f"given: the table of spans is no batch; leave event_time= out of {source.call}, and whatever"
            " depends on a batch"
        )
    if argument := next((name for name in _OF_BATCHES if getattr(source, name, None)), None):
        raise DefinitionError(
            f"given: {argument}= is for the rows of a batch, and the table of spans is none; leave it out"
        )
    if getattr(source, "on_bad_file", "error") != "error" or source.ambiguous == "arrival":
        raise DefinitionError(
            'given: a table of spans is read whole or not at all; leave on_bad_file= and ambiguous="arrival" '
            "out"
        )
    return source
