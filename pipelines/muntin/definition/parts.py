"""The parts of a pipeline that are defined elsewhere, as it sees them: sources, aggregates, fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from muntin.definition.schedule import Interval, Schedule
from muntin.errors import DefinitionError


class Dialect(Protocol):
    """How files of text are written."""

    @property
    def facts(self) -> Mapping[str, Any]:
        """The parameters that differ from their defaults: name -> value."""
        ...


class Source(Protocol):
    """The rows of batches."""

    @property
    def event_time(self) -> str:
        """The column that says when an event happened."""
        ...

    @property
    def unit(self) -> str | None:
        """The unit of an integer event time; None for timestamps."""
        ...

    @property
    def timezone(self) -> str | None:
        """The zone of event times without a zone; None is UTC."""
        ...

    @property
    def ambiguous(self) -> str:
        """The treatment of local times that come twice: "quarantine", "first", "second" or "arrival"."""
        ...

    @property
    def nonexistent(self) -> str:
        """The treatment of local times that never were: "quarantine" or "shift"."""
        ...

    @property
    def time_format(self) -> str | None:
        """How event times are written where they are text, as strptime takes it; None is ISO 8601."""
        ...

    @property
    def delimiter(self) -> str | None:
        """The delimiter between the values of a CSV file; None is a comma."""
        ...

    @property
    def dialect(self) -> Dialect:
        """How a CSV file is written, apart from its delimiter."""
        ...

    @property
    def types(self) -> Mapping[str, str]:
        """Column -> SQL type, where the user gave one."""
        ...

    @property
    def hive(self) -> Mapping[str, str]:
        """Column -> SQL type, where the names of folders give the column."""
        ...

    @property
    def arrival_order(self) -> str | None:
        """The column that orders the rows of a batch by arrival."""
        ...

    @property
    def dedupe(self) -> tuple[str, ...]:
        """The columns that distinguish events; () where rows are not compared."""
        ...

    @property
    def dedupe_within_us(self) -> int | None:
        """How far event times of duplicates in two batches may differ; None: batches are not compared."""
        ...

    @property
    def changes(self) -> Any | None:  # noqa: ANN401 - a `Changes` of the sources
        """The signs by which a row changes another, whose id is in `dedupe`; None: each row is an event."""
        ...

    @property
    def arrival_time(self) -> str | None:
        """The column that says when a row arrived."""
        ...

    @property
    def lookups(self) -> tuple[Any, ...]:
        """The dimensions that rows look up, as a run has read them; () before."""
        ...

    @property
    def member(self) -> Any | None:  # noqa: ANN401 - a `Member`, which is defined above
        """The place of the source among several sources; None: it is the only source."""
        ...

    @property
    def section(self) -> tuple[str, ...]:
        """The columns that begin a new section of rows when they change; () where a file is one section."""
        ...

    @property
    def needs_spark(self) -> str:
        """The function that makes the source, where Spark reads its rows; "": this process can."""
        ...

    @property
    def upstream(self) -> Any | None:  # noqa: ANN401 - a pipeline, which is defined above
        """The pipeline whose windows are the rows; None where the rows are in files."""
        ...

    def facts(self, schedule: Schedule) -> Mapping[str, Any]:
        """The facts that determine states, apart from the columns named here: name -> value of JSON."""
        ...

    def misfit(self, schedule: Schedule) -> str | None:
        """Why batches of a schedule cannot be read from it, and what to do; None: they can."""
        ...

    def below(self, home: str | Path) -> Source:
        """The same source with its relative paths below a folder."""
        ...

    def on_clock(self, zone: str) -> Source:
        """The same source for a schedule by the clock of a zone."""
        ...


class Field(Protocol):
    """Columns of a state that combine together."""

    @property
    def stem(self) -> str:
        """Names the field and begins the names of its columns."""
        ...

    @property
    def columns(self) -> Sequence[str]:
        """The names of its columns in a state."""
        ...

    @property
    def facts(self) -> str:
        """A text of everything that the columns depend on."""
        ...


class Aggregate(Protocol):
    """A value of the rows of a window, as a user asks for it."""

    @property
    def fields(self) -> Sequence[Any]:
        """The fields that are kept of the rows of a frame."""
        ...

    @property
    def source(self) -> str:
        """The name of the source whose rows it takes; "" takes the rows of all sources."""
        ...

    @property
    def finish(self) -> Any:  # noqa: ANN401 - a function of Arrow arrays
        """A function from the columns of the fields to the results."""
        ...

    @property
    def gives_lists(self) -> bool:
        """Whether results are ordered lists, which can come out as rows."""
        ...

    @property
    def carry(self) -> Any | None:  # noqa: ANN401 - a `Carry` of the engine
        """How long a value from before a window holds in it: `us`, microseconds; None: no value does."""
        ...


F = TypeVar("F", bound=Field)


def distinct(aggregates: Iterable[tuple[object, Sequence[F]]]) -> list[F]:
    """The fields of all aggregates, each stem once."""
    seen: dict[str, F] = {}
    for aggregate, fields in aggregates:
        for field in fields:
            if seen.setdefault(field.stem, field).facts != field.facts:
                raise DefinitionError(
                    f"aggregates: {aggregate} would share the columns of another field, {field.stem}; write "
                    "its expression otherwise"
                )
    return list(seen.values())


class Sink(Protocol):
    """The destination of a window's results; `muntin.sinks` makes it."""

    @property
    def name(self) -> str:
        """The name of the sink in logs; without secrets."""
        ...

    @property
    def window(self) -> str | None:
        """The window whose results go there; None: the only window."""
        ...

    @property
    def of_each(self) -> bool:
        """Whether each window has such a sink, where no window is named."""
        ...

    @property
    def needs_spark(self) -> str:
        """The function that makes the sink, where it works by a session of Spark; "": it needs none."""
        ...

    @property
    def package(self) -> str:
        """The package that sends to it, which not every installation has; "": none."""
        ...

    @property
    def query(self) -> str:
        """SQL by which readers of Spark's catalog get at the windows; "": the sink gives no name there."""
        ...

    def of(self, window: str) -> Sink:
        """The sink of a window."""
        ...

    def check_keys(self, keys: Sequence[str]) -> None:
        """Refuse keys that the sink cannot have."""
        ...

    def check_columns(self, names: Sequence[str]) -> None:
        """Refuse columns that the sink cannot have."""
        ...


class Lookup(Protocol):
    """The look-up of a dimension's rows; `muntin.sources.lookup` makes it."""

    @property
    def source(self) -> Any:  # noqa: ANN401 - files or a table, which are defined above
        """The rows of the dimension."""
        ...

    @property
    def since(self) -> str:
        """The column with the first instant at which a row holds."""
        ...

    @property
    def required(self) -> bool:
        """Whether an event without a row is refused."""
        ...

    @property
    def of(self) -> tuple[str, ...]:
        """The names of the sources whose rows look up; () for all."""
        ...

    @property
    def facts(self) -> Mapping[str, Any]:
        """The facts that determine states: name -> value, as JSON has it."""
        ...

    def below(self, home: str | Path) -> Lookup:
        """The same look-up with relative paths below a folder."""
        ...


class Alerts(Protocol):
    """A listener of runs: the receivers of messages, and the findings they get. An extension makes it."""

    @property
    def channels(self) -> tuple[Any, ...]:
        """Names of connections, notifiers, or functions that make a notifier."""
        ...

    @property
    def mask(self) -> frozenset[str]:
        """Columns whose values no message shows."""
        ...

    def ended(self, bound: Any, intervals: Sequence[Interval], report: Any, *, link: str) -> tuple[str, ...]:  # noqa: ANN401 - of jobs
        """Hear of a run that went well: its state, batches, report, and the command that goes on.

        Returns what became of messages, a line each.
        """
        ...

    def failed(
        self,
        bound: Any,  # noqa: ANN401 - of jobs
        intervals: Sequence[Interval],
        wrong: BaseException,
        *,
        link: str,
    ) -> tuple[str, ...]:
        """Hear of a run that raised. What became of messages, a line each."""
        ...
