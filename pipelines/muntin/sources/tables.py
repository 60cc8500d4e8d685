"""A Delta table as a source, as its user defines it. Nothing is read here."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

from muntin.definition.checks import check_choice
from muntin.definition.relative_paths import is_object_store, known
from muntin.errors import DefinitionError
from muntin.files.paths import stat_of
from muntin.sources.dialect import USUAL
from muntin.sources.repeated_rows import checked_dedupe, checked_within
from muntin.sources.time_arguments import Unit, check_time_arguments

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muntin.definition.durations import Duration
    from muntin.definition.schedule import Schedule
    from muntin.definition.several_sources import Member
    from muntin.sources.source import OnBadFile, OnSchema

OnChange = Literal["error", "skip"]


@dataclass(frozen=True, slots=True)
class TableSource:
    """A Delta table. See `table`.

    `columns` and `hive` are those of `FileSource`; they are empty until the table's own schema is known.
    """

    path: str
    event_time: str
    unit: Unit | None = None
    timezone: str | None = None
    types: Mapping[str, str] = field(default_factory=dict)
    arrival_order: str | None = None
    arrival_time: str | None = None
    time_format: str | None = None
    dedupe: tuple[str, ...] = ()
    dedupe_within_us: int | None = None
    on_change: OnChange = "error"
    columns: Mapping[str, str] = field(default_factory=dict)
    hive: Mapping[str, str] = field(default_factory=dict)
    member: Member | None = None

    upstream = batch_column = blank = delimiter = None
    section = order = ()
    separator = ","
    dialect = USUAL
    on_bad_file: ClassVar[OnBadFile] = "error"
    on_schema: ClassVar[OnSchema] = "error"
    format = "parquet"
    checksum = False
    call = "sources.table(...)"

    @property
    def in_one_piece(self) -> bool:
        """Whether a batch is read by one task, since rows of all its files are compared."""
        return self.arrival_order is not None or bool(self.dedupe)

    @property
    def bundles(self) -> bool:
        """Whether several batches may be read together: duplicates are those of a batch."""
        return not self.dedupe

    def settled(self, path: str) -> int:
        """The size of a file, which is never written anew.

        Raises:
            FileNotFoundError: it is gone.
        """
        return stat_of(path).st_size

    def facts(self, schedule: Schedule) -> dict[str, Any]:
        """What determines states beside the columns: the first batch holds all that was in the table before."""
        return {"begins": schedule.after(schedule.first_us - 1)}

    def below(self, home: str | Path) -> TableSource:
        """The same table, a relative path below a folder."""
        return self if is_object_store(self.path) else replace(self, path=str(Path(home, self.path).absolute()))

    def misfit(self, schedule: Schedule) -> str | None:  # noqa: ARG002 - a commit belongs to the interval in which it was made
        """Nothing: every batch has commits of its own."""
        return None


def table(
    path: str,
    *,
    event_time: str,
    unit: Unit | None = None,
    timezone: str | None = None,
    types: Mapping[str, str] | None = None,
    arrival_order: str | None = None,
    arrival_time: str | None = None,
    time_format: str | None = None,
    dedupe: str | Sequence[str] | None = None,
    dedupe_within: Duration | None = None,
    on_change: OnChange = "error",
) -> TableSource:
    """A Delta table, read by version and without Spark's own reader: a batch is what was added to the table in its interval.

    A commit belongs to the interval in which it was made, by the time in the table's log. The batch of the schedule's first interval
    holds, too, what the table held before. A compaction (OPTIMIZE) adds no rows. Columns that older files lack are null there.

    Args:
        path: of the table's folder, or its address in an object store, as "s3://bucket/orders".
        event_time: the column that says when an event happened: a timestamp, text that reads as one, or an integer.
        unit: of an integer event time.
        timezone: the zone of event times that have none; UTC unless said.
        types: column -> SQL type that the column is cast to.
        arrival_order: a column that orders the rows of a batch by arrival; the order of commits, and of the files and rows in them,
            unless said. A batch is then read by one task.
        arrival_time: the column that says when a row arrived, in the same unit and zone as event times, for windows that go by the
            clock; rows are ordered by it unless `arrival_order` says otherwise. It does not say which batch a row is of.
        time_format: how event times are written where they are text, as strptime takes it: "%d.%m.%Y %H:%M"; ISO 8601 unless said.
        dedupe: the column, or the columns, that tell events apart; of rows of a batch that are alike in them the first counts.
        dedupe_within: how far the event times of duplicates in two batches may lie apart, as for `files`.
        on_change: what a commit is that removes or changes rows (DELETE, UPDATE, MERGE, an overwrite): an "error", as windows hold rows
            that the table holds no more; or to "skip": it is passed over with all that it adds.

    Raises:
        DefinitionError: an address of no object store, an unknown unit, zone or word for `on_change`.
    """
    if not isinstance(path, str | Path) or not str(path):
        raise DefinitionError(f'path: {path!r} is no path of a Delta table; write "data/orders" or "s3://bucket/orders"')
    check_time_arguments(event_time, unit, timezone, time_format)
    told = checked_dedupe(dedupe)
    check_choice("on_change", on_change, get_args(OnChange))
    return TableSource(
        str(known(path, "path")).rstrip("/"),
        event_time,
        unit,
        timezone,
        dict(types or {}),
        arrival_order or arrival_time,
        arrival_time,
        time_format,
        told,
        checked_within(dedupe_within, told),
        on_change,
    )
