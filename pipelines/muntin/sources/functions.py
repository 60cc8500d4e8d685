"""A source whose rows a function of the user's gives. Nothing is asked here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Self

from muntin.definition.function_marks import mark
from muntin.definition.schedule import Schedule
from muntin.errors import DefinitionError
from muntin.old_names import old_names_refused
from muntin.sources.repeated_rows import Events
from muntin.sources.row_source import LastingFiles, LookBack, checked_terms
from muntin.sources.time_arguments import At

if TYPE_CHECKING:
    from muntin.sources.listing import SourceFile

Fetch = Callable[..., Any]
Version = str | Callable[[datetime, datetime], str]


@dataclass(frozen=True, slots=True)
class FunctionSource(LastingFiles):
    """Rows that a function gives for each batch. See `function`."""

    fetch: Fetch
    version: Version | None = None

    call = "sources.function(...)"
    listing = "muntin.jobs.inputs.listings.of_functions"

    @property
    def identity(self) -> str:
        """A name of what is asked: under another name rows are asked for anew."""
        return mark(self.fetch)

    @property
    def named(self) -> str:
        """The function, for people."""
        inner = self.fetch.func if isinstance(self.fetch, partial) else self.fetch
        return f"sources.function: {getattr(inner, '__qualname__', type(inner).__qualname__)}"

    @property
    def for_tasks(self) -> Self:
        """The source without the function, and what it holds: tasks read the files of its rows."""
        return replace(self, fetch=_was_asked, version=None)

    def versions(self, spans: Sequence[tuple[datetime, datetime]]) -> list[str]:
        """The version of the rows of each span, as they are by now."""
        return [self.version(*span) if callable(self.version) else str(self.version) for span in spans]

    def facts(self, schedule: Schedule) -> dict[str, Any]:  # noqa: ARG002 - the function is given the interval
        """The fact that determines states, apart from the columns: what is asked."""
        return {"fetch": self.identity}

    def all_now(self, folder: str) -> list[SourceFile]:
        """All rows of a table, in files of a folder."""
        from muntin.sources.given_streams import asking, write_table
        from muntin.sources.listing import SourceFile

        with asking(self.named):
            return [SourceFile(path, size, 0) for path, size in write_table(self.fetch(), folder)]

    def below(self, home: str | Path) -> Self:  # noqa: ARG002 - the function knows where rows are
        return self


def _was_asked(*_: Any) -> NoReturn:  # noqa: ANN401 - as a function of a definition
    raise AssertionError("tasks read the files that were written of the rows")


@old_names_refused
def function(
    fetch: Fetch,
    *,
    event_time: str | At | None = None,
    version: Version | None = None,
    rows: Events | None = None,
    types: Mapping[str, str] | None = None,
    arrival_order: str | None = None,
    arrival_time: str | None = None,
    look_back: LookBack = "all",
) -> FunctionSource:
    """Rows of whatever a function of Python can ask: an API, a database, a file of a format of its own.

    The process that runs the pipeline, with Spark its driver, calls `fetch` once for each batch, and keeps
    the rows in the state as they came: what is derived again later, as after a change of the definition, does
    not ask again. A run that names the batch asks again, unless `version` says that the rows are the same.

    Args:
        fetch: (start, end) -> the rows of the batch of [start, end), which are aware datetimes in UTC:
            anything with an Arrow stream, as a table of pyarrow, a frame of Polars or pandas, a relation of
            DuckDB; or None where they are not there yet: the batch waits. What it raises stops the run. Its
            code counts: another function, and states are made anew. Without `event_time` it is called as
            fetch(), in each run, and gives all rows of a table: of a dimension, or of spans.
        event_time: the column that says when an event happened: a timestamp, text that reads as one, or an
            integer; `at("placed", timezone=...)` says how it is read. None of a table.
        version: what tells that the rows of an earlier batch have changed: a text, or (start, end) -> text of
            that batch. Each run compares; a batch with another version is asked for and read again.
        rows: how rows become facts, where not each row is an event: `events(dedupe="event_id")`.
        types: column -> SQL type that the column is cast to.
        arrival_order: a column that orders the rows of a batch by arrival; the order in which they come
            unless given. A batch is then read by one task.
        arrival_time: the column that says when a row arrived, in the same unit and zone as event times, for
            windows that go by the clock; rows are ordered by it unless `arrival_order` says otherwise.
        look_back: how old a batch may be whose version is compared, as "30d"; "all" or None.

    Raises:
        DefinitionError: `fetch` is no function, or `version` neither text nor function.
    """
    if not callable(fetch):
        raise DefinitionError(
            f"fetch: {fetch!r} is no function; give one of (start, end) that returns rows as Arrow"
        )
    if not (version is None or callable(version) or (isinstance(version, str) and version)):
        raise DefinitionError(
            f'version: {version!r} is neither a text nor a function of (start, end); write version="2"'
        )
    return FunctionSource(
        fetch,
        version,
        **asked_terms(
            event_time,
            rows,
            types,
            arrival_order,
            arrival_time,
            look_back,
            call="sources.function",
            version=version,
        ),
    )


def asked_terms(
    event_time: str | At | None,
    rows: Events | None,
    types: Mapping[str, str] | None,
    arrival_order: str | None,
    arrival_time: str | None,
    look_back: LookBack,
    *,
    call: str,
    **versions: object,
) -> dict[str, Any]:
    """The arguments of a `FunctionSource` but for what it asks, from the arguments that a user gave.

    `versions`: arguments that say when a batch has changed.
    """
    of_batches = {"rows": rows, "arrival_order": arrival_order, "arrival_time": arrival_time, **versions}
    if event_time is None and (given := [name for name, value in of_batches.items() if value is not None]):
        raise DefinitionError(
            f"{given[0]}: it is for the rows of batches, which have an event time; write {call}(...,"
            f' event_time="at", {given[0]}=...), or leave it out: a table is read as it is now'
        )
    if getattr(rows, "id", ()):
        raise DefinitionError(
            f"rows: sources.events(id=...) is for files, tables and topics; {call}(...) gives the rows of a"
            " batch as they are by now, and version= or changed= says when they changed; rows=sources.events("
            'dedupe="id") finds rows that come twice'
        )
    return checked_terms(event_time, rows, types, arrival_order, arrival_time, look_back=look_back)
