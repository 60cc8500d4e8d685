"""A source that Spark reads, as its user defines it. Nothing is read here, and Spark is not imported."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from muntin.definition.function_marks import mark
from muntin.errors import DefinitionError
from muntin.sources.row_source import LastingFiles, checked_terms

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path
    from typing import TypeAlias

    from pyspark.sql import DataFrame, SparkSession

    from muntin.definition.durations import Duration
    from muntin.definition.schedule import Schedule
    from muntin.sources.row_source import Ambiguous, Nonexistent, Unit

    Read: TypeAlias = Callable[[SparkSession, datetime, datetime], DataFrame]


@dataclass(frozen=True, slots=True)
class SparkSource(LastingFiles):
    """Rows that a function reads by Spark. See `spark`."""

    read: Read
    chosen: tuple[str, ...] = ()

    call = "sources.spark(...)"
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
        """This source: it has no path."""
        return self


def spark(
    read: Read,
    *,
    event_time: str,
    columns: Sequence[str] = (),
    unit: Unit | None = None,
    timezone: str | None = None,
    ambiguous: Ambiguous = "quarantine",
    nonexistent: Nonexistent = "quarantine",
    types: Mapping[str, str] | None = None,
    arrival_order: str | None = None,
    arrival_time: str | None = None,
    time_format: str | None = None,
    dedupe: str | Sequence[str] | None = None,
    dedupe_within: Duration | None = None,
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
            integer.
        columns: the columns that are read, where the DataFrame has more than the definition uses; columns
            that other arguments name are read in any case. Keys must be among them.
        unit: of an integer event time.
        timezone: the zone of event times that have none (timestamp_ntz, text); UTC unless given. Spark's
            session zone changes nothing.
        ambiguous: what a local time is that comes twice in the zone, as its clocks are set back: for the
            "quarantine", the "first" or the "second" showing; or by "arrival": rows in the order of
            `arrival_order` go back once in this hour, where the second begins.
        nonexistent: what a local time is that never was, as clocks are set forward: for the "quarantine"; or
            "shift", moved on by as much.
        types: column -> SQL type that the column is cast to.
        arrival_order: a column that orders the rows of a batch by arrival. Without it, the order in which
            aggregates as `first` see the rows is the same in each run, and means nothing. A batch is then
            read by one task.
        arrival_time: the column that says when a row arrived, in the same unit and zone as event times, for
            windows that go by the clock; rows are ordered by it unless `arrival_order` says otherwise.
        time_format: how event times are written where they are text, as strptime takes it: "%d.%m.%Y %H:%M";
            ISO 8601 unless given.
        dedupe: the column, or the columns, that tell events apart; of rows of a batch that are alike in them
            the first counts.
        dedupe_within: how far the event times of duplicates in two batches may lie apart, as for `files`.

    Raises:
        DefinitionError: `read` is no function, or an unknown unit or zone.
    """
    if not callable(read):
        raise DefinitionError(
            f"read: {read!r} is no function; give one of (spark, start, end) that returns a DataFrame"
        )
    terms = checked_terms(
        event_time,
        unit,
        timezone,
        ambiguous,
        nonexistent,
        types,
        arrival_order,
        arrival_time,
        time_format,
        dedupe,
        dedupe_within,
    )
    if isinstance(columns, str) or not all(isinstance(name, str) and name for name in columns):
        raise DefinitionError(f'columns: {columns!r} is not a list of column names; write ["at", "amount"]')
    return SparkSource(read, tuple(columns), **terms)
