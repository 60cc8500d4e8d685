"""The description of rows in a definition, the same for every kind of source whose rows a user describes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, get_args

from muntin.definition.checks import check_choice
from muntin.errors import DefinitionError
from muntin.files.paths import stat_of
from muntin.sources.dialect import USUAL
from muntin.sources.repeated_rows import checked_dedupe, checked_within
from muntin.windows.clock import zone

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fsspec import AbstractFileSystem

    from muntin.definition.durations import Duration
    from muntin.definition.schedule import Schedule
    from muntin.definition.several_sources import Member
    from muntin.sources.reading.dimensions.dimension import Dimension
    from muntin.sources.repeated_rows import Changes
    from muntin.sources.source import Content, OnBadFile, OnSchema

Unit = Literal["s", "ms", "us", "ns"]
_WITH_ZONE = ("TIMESTAMPTZ", "TIMESTAMP WITH TIME ZONE")
Ambiguous = Literal["quarantine", "first", "second", "arrival"]
"""The showing of a local time that comes twice."""
Nonexistent = Literal["quarantine", "shift"]
"""The treatment of a local time that never was."""


def check_time_arguments(event_time: object, unit: object, timezone: str | None, time_format: object) -> None:
    """Refuse arguments that do not fit event times.

    A format with names of zones, or together with a unit, is refused, too.
    """
    if event_time is not None and (not isinstance(event_time, str) or not event_time):
        raise DefinitionError(f"event_time: {event_time!r} is not the name of a column")
    if unit is not None:
        check_choice("unit", unit, get_args(Unit))
    if timezone is not None:
        zone(timezone)
    if time_format is not None and (not isinstance(time_format, str) or "%" not in time_format):
        raise DefinitionError(
            f'time_format: {time_format!r} is no format of strptime; write "%d.%m.%Y %H:%M"'
        )
    if time_format is not None and "%Z" in time_format.replace("%%", ""):
        raise DefinitionError(
            f"time_format: {time_format!r} reads names of zones by %Z, and one name is of several zones"
            " (IST); let writers give offsets, "
            f'which %z reads, or write the name itself into the format, as "%H:%M CET" beside'
            f' timezone="Europe/Vienna"'
        )
    if time_format is not None and unit is not None:
        raise DefinitionError(
            f"time_format={time_format!r} is for text and unit={unit!r} for integers; give one of them"
        )


def check_local_times(
    timezone: str | None,
    ambiguous: object,
    nonexistent: object,
    arrival_order: str | None,
    times: Mapping[str, str | None],
) -> None:
    """Refuse arguments that do not fit local times.

    `times`: column with times -> the SQL type that the definition gives it.
    """
    for what, said, choices in (
        ("ambiguous", ambiguous, Ambiguous),
        ("nonexistent", nonexistent, Nonexistent),
    ):
        check_choice(what, said, get_args(choices))
        if timezone is None and said != "quarantine":
            raise DefinitionError(
                f"{what}={said!r} is for local times, and without timezone= times are in UTC; say whose clock"
                " it is"
            )
    if ambiguous == "arrival" and arrival_order is None:
        raise DefinitionError(
            'ambiguous="arrival" goes by the order of rows; name the column that orders them:'
            ' arrival_order="id"'
        )
    for column, kind in times.items():
        if timezone is not None and kind and kind.upper() in _WITH_ZONE:
            raise DefinitionError(
                f"timezone={timezone!r} is for times without a zone, and {column!r} is to be {kind}, which"
                " has one; leave timezone out, "
                f'or say types={{"{column}": "VARCHAR"}} for text of which some has an offset, else'
                ' "TIMESTAMP"'
            )


class FilesAlone:
    """The members of a source all of whose paths are files."""

    __slots__ = ()
    message_columns: ClassVar[tuple[str, ...]] = ()

    def content(self, path: str) -> Content | None:  # noqa: ARG002 - files alone
        """None: it is a file."""
        return None

    def opened_as(self, path: str) -> str:
        """The path."""
        return path

    def file_systems(self, paths: Sequence[str]) -> Sequence[AbstractFileSystem]:  # noqa: ARG002 - as above
        """None: they are files."""
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RowSource(FilesAlone):
    """The columns of rows that have a meaning, and their types. See `files` for each.

    `event_time`: "" of a dimension. `changes`: what tells that a row changes another; `dedupe` is its id
    then. `lookups`: the dimensions that rows look up, as a run has read them.
    """

    event_time: str
    unit: Unit | None = None
    timezone: str | None = None
    ambiguous: Ambiguous = "quarantine"
    nonexistent: Nonexistent = "quarantine"
    types: Mapping[str, str] = field(default_factory=dict)
    arrival_order: str | None = None
    arrival_time: str | None = None
    time_format: str | None = None
    dedupe: tuple[str, ...] = ()
    dedupe_within_us: int | None = None
    changes: Changes | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    hive: Mapping[str, str] = field(default_factory=dict)
    member: Member | None = None
    lookups: tuple[Dimension, ...] = ()

    listing = "muntin.jobs.inputs.listings.of_files"
    upstream = batch_column = None
    section = order = numbered = ()
    message_key: ClassVar[tuple[str, ...]] = ()

    @property
    def in_one_piece(self) -> bool:
        """Whether a batch is read by one task, since rows of all its files are compared."""
        return self.arrival_order is not None or bool(self.dedupe)

    def on_clock(self, zone: str) -> Self:  # noqa: ARG002 - where a batch's rows are depends on no clock
        """This source."""
        return self


class LastingFiles(RowSource):
    """Rows in files of Parquet that are never written anew."""

    __slots__ = ()

    blank = delimiter = None
    separator = ","
    dialect = USUAL
    on_bad_file: ClassVar[OnBadFile] = "error"
    on_schema: ClassVar[OnSchema] = "error"
    format = "parquet"
    checksum = False

    @property
    def bundles(self) -> bool:
        """Whether several batches may be read together: duplicates are found per batch."""
        return not self.dedupe

    def settled(self, path: str) -> int:
        """The size of a file."""
        return stat_of(path).st_size

    def misfit(self, schedule: Schedule) -> str | None:  # noqa: ARG002 - whatever the schedule
        """Nothing: every batch has files of its own."""
        return None


def checked_terms(
    event_time: str | None,
    unit: Unit | None,
    timezone: str | None,
    ambiguous: Ambiguous,
    nonexistent: Nonexistent,
    types: Mapping[str, str] | None,
    arrival_order: str | None,
    arrival_time: str | None,
    time_format: str | None,
    dedupe: str | Sequence[str] | None,
    dedupe_within: Duration | None,
    changed: tuple[tuple[str, ...], Changes | None] = ((), None),
) -> dict[str, Any]:
    """The arguments of a `RowSource`, from the arguments that a user gave."""
    check_time_arguments(event_time, unit, timezone, time_format)
    event_time = event_time or ""
    kinds, order = types or {}, arrival_order or arrival_time
    times = {name: kinds.get(name) for name in (event_time, arrival_time) if name}
    check_local_times(timezone, ambiguous, nonexistent, order, times)
    ids, changes = changed
    identity_columns = ids or checked_dedupe(dedupe)
    return {
        "event_time": event_time,
        "unit": unit,
        "timezone": timezone,
        "ambiguous": ambiguous,
        "nonexistent": nonexistent,
        "types": dict(kinds),
        "arrival_order": order,
        "arrival_time": arrival_time,
        "time_format": time_format,
        "dedupe": identity_columns,
        "dedupe_within_us": 2 * changes.within_us
        if changes
        else checked_within(dedupe_within, identity_columns),
        "changes": changes,
    }
