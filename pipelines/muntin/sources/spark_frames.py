"""A source that Spark reads, as its user defines it. Nothing is read here, and Spark is not imported."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from muntin.definition.function_marks import mark
from muntin.errors import DefinitionError
from muntin.old_names import old_names_refused
from muntin.sources.row_source import LastingFiles, checked_terms

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path
    from typing import TypeAlias

    from pyspark.sql import DataFrame, SparkSession

    from muntin.definition.schedule import Schedule
    from muntin.sources.repeated_rows import Events
    from muntin.sources.time_arguments import At

    Read: TypeAlias = Callable[[SparkSession, datetime, datetime], DataFrame]


@dataclass(frozen=True, slots=True)
class SparkSource(LastingFiles):
    """Rows that a function reads by Spark. See `spark`."""

    read: Read
    chosen: tuple[str, ...] = ()

    call = "sources.spark(...)"
    needs_spark = "sources.spark"
    listing = "muntin.jobs.inputs.listings.of_spark"

    def facts(self, schedule: Schedule) -> dict[str, Any]:  # noqa: ARG002 - the function is given the interval
        """The fact that determines states, apart from the columns: the function, with its code."""
        return {"read": mark(self.read)}

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns that are read; () for all."""
        named = (self.event_time, self.arrival_order, self.arrival_time, *self.types, *self.dedupe)
        return tuple(dict.fromkeys((*self.chosen, *filter(None, named)))) if self.chosen else ()

    @property
    def named(self) -> str:
        """The function, for people."""
        function = self.read.func if isinstance(self.read, partial) else self.read
        return str(getattr(function, "__qualname__", type(function).__qualname__))

    def below(self, home: str | Path) -> SparkSource:  # noqa: ARG002 - the function knows where rows are
        return self


@old_names_refused
def spark(
    read: Read,
    *,
    event_time: str | At,
    rows: Events | None = None,
    columns: Sequence[str] = (),
    types: Mapping[str, str] | None = None,
    arrival_order: str | None = None,
    arrival_time: str | None = None,
) -> SparkSource:
    """Rows of whatever Spark can read: a database by JDBC, Iceberg, Delta, Avro, ORC, BigQuery, Kafka by
    Spark's own connector.

    Each run asks `read` for the rows of its batches. Tasks of Spark write the rows to files in the state, and
    batches are made of these files. The rows are brought into an order that they themselves decide, so that
    results do not depend on Spark's partitions.

    Args:
        read: (spark, start, end) -> DataFrame with the rows of the batch of [start, end), which are aware
            datetimes in UTC. For the same
            interval it must give the same rows. Its code counts: another function, and states are made anew.
        event_time: the column that says when an event happened: a timestamp, text that reads as one, or an
            integer; `at("placed", timezone=...)` says how it is read.
        rows: how rows become facts, where not each row is an event: `events(dedupe="event_id")`.
        columns: the columns that are read, where the DataFrame has more than the definition uses; columns
            that other arguments name are read in any case. Keys must be among them.
        types: column -> SQL type that the column is cast to.
        arrival_order: a column that orders the rows of a batch by arrival. Without it, the order in which
            aggregates as `first` see the rows is the same in each run, and means nothing. A batch is then
            read by one task.
        arrival_time: the column that says when a row arrived, in the same unit and zone as event times, for
            windows that go by the clock; rows are ordered by it unless `arrival_order` says otherwise.

    Raises:
        DefinitionError: `read` is no function.
    """
    if not callable(read):
        raise DefinitionError(
            f"read: {read!r} is no function; give one of (spark, start, end) that returns a DataFrame"
        )
    if getattr(rows, "id", ()):
        raise DefinitionError(
            "rows: sources.events(id=...) is for files, tables and topics; of what Spark reads, "
            'rows=sources.events(dedupe="id") finds rows that come twice'
        )
    terms = checked_terms(event_time, rows, types, arrival_order, arrival_time)
    if isinstance(columns, str) or not all(isinstance(name, str) and name for name in columns):
        raise DefinitionError(f'columns: {columns!r} is not a list of column names; write ["at", "amount"]')
    return SparkSource(read, tuple(columns), **terms)
