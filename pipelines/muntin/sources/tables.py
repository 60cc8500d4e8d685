"""A Delta table as a source, as its user defines it. Nothing is read here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from muntin.definition.checks import check_choice
from muntin.definition.relative_paths import is_object_store, readable
from muntin.errors import DefinitionError
from muntin.sources.repeated_rows import checked_changes_of_table
from muntin.sources.row_source import LastingFiles, checked_terms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muntin.definition.durations import Duration
    from muntin.definition.schedule import Schedule
    from muntin.sources.logged.log import Log
    from muntin.sources.row_source import Ambiguous, Nonexistent, Unit

OnChange = Literal["error", "skip"]


@dataclass(frozen=True, slots=True)
class TableSource(LastingFiles):
    """A Delta table. See `table`. `columns` and `hive` are empty until the table's own schema is known."""

    path: str
    on_change: OnChange = "error"

    def __post_init__(self) -> None:
        check_choice("on_change", self.on_change, get_args(OnChange))

    call = "sources.table(...)"
    listing = "muntin.jobs.inputs.listings.of_tables"

    @property
    def address(self) -> str:
        """The table as lineage tools name it."""
        return self.path

    def facts(self, schedule: Schedule) -> dict[str, Any]:
        """The fact that determines states, apart from the columns: the first batch holds all rows that the
        table had before.
        """
        return {"begins": schedule.after(schedule.first_us - 1)}

    def log(self) -> Log:
        """The table's log, as it is now."""
        from muntin.sources.logged.delta.table_log import table_log

        return table_log(self)

    def below(self, home: str | Path) -> TableSource:
        """The source with its relative path below a folder."""
        return (
            self if is_object_store(self.path) else replace(self, path=str(Path(home, self.path).absolute()))
        )


def table(
    path: str,
    *,
    event_time: str | None = None,
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
    changes: bool = False,
    id: str | Sequence[str] | None = None,  # noqa: A002 - the word of change streams
    changes_within: Duration | None = None,
    on_change: OnChange | None = None,
) -> TableSource:
    """A Delta table, read by version and without Spark's own reader: a batch is what was added to the table
    in its interval.

    A commit belongs to the interval in which it was made, by the time in the table's log. The batch of the
    schedule's first interval holds, too, what the table held before. A compaction (OPTIMIZE) adds no rows.
    Columns that older files lack are null there.

    Args:
        path: of the table's folder, or its address in an object store, as "s3://bucket/orders".
        event_time: the column that says when an event happened: a timestamp, text that reads as one, or an
            integer. None of a dimension, whose rows are looked up.
        unit: of an integer event time.
        timezone: the zone of event times that have none; UTC unless given.
        ambiguous: what a local time is that comes twice in the zone, as its clocks are set back: for the
            "quarantine", the "first" or the "second" showing; or by "arrival": rows in the order of
            `arrival_order` go back once in this hour, where the second begins.
        nonexistent: what a local time is that never was, as clocks are set forward: for the "quarantine"; or
            "shift", moved on by as much.
        types: column -> SQL type that the column is cast to.
        arrival_order: a column that orders the rows of a batch by arrival; the order of commits, and of the
            files and rows in them, unless given. A batch is then read by one task.
        arrival_time: the column that says when a row arrived, in the same unit and zone as event times, for
            windows that go by the clock; rows are ordered by it unless `arrival_order` says otherwise. It
            does not say which batch a row is of.
        time_format: how event times are written where they are text, as strptime takes it: "%d.%m.%Y %H:%M";
            ISO 8601 unless given.
        dedupe: the column, or the columns, that tell events apart; of rows of a batch that are alike in them
            the first counts.
        dedupe_within: how far the event times of duplicates in two batches may lie apart, as for `files`.
        changes: whether rows that later commits update or delete are changed and taken back in the batch that
            brought them, which is then read again. The table's change feed (delta.enableChangeDataFeed) says
            what is different; without it, files are compared.
        id: the column, or the columns, that name a row of the table, where `changes` are read. Each id is in
            the table once.
        changes_within: how long after its first commit a row may still change, by the starts of their
            batches, as "7d". What changes it later goes to the quarantine. The table must keep removed files
            at least as long (delta.deletedFileRetentionDuration).
        on_change: where changes are not read, what a commit is that removes or changes rows (DELETE, UPDATE,
            MERGE, an overwrite): an "error", as windows hold rows that the table holds no more; or to "skip":
            it is passed over with all that it adds.

    Raises:
        DefinitionError: an address of no object store, an unknown unit, zone or word for `on_change`; or
            `changes`, `id` and `changes_within` that do not go together.
    """
    if not isinstance(path, str | Path) or not str(path):
        raise DefinitionError(
            f'path: {path!r} is no path of a Delta table; write "data/orders" or "s3://bucket/orders"'
        )
    changed = checked_changes_of_table(
        changes,
        id,
        changes_within,
        arrival_order=arrival_order,
        arrival_time=arrival_time,
        dedupe=dedupe,
        on_change=on_change,
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
        changed,
    )
    return TableSource(str(readable(path, "path")).rstrip("/"), on_change or "error", **terms)
