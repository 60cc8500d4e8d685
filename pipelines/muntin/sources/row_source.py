"""The description of rows in a definition, the same for every kind of source whose rows a user describes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

from muntin.definition.durations import Duration, positive
from muntin.definition.instants import BEFORE_ALL
from muntin.files.paths import stat_of
from muntin.files.some_rows import file_of
from muntin.sources.dialect import USUAL
from muntin.sources.time_arguments import (
    Ambiguous,
    At,
    Nonexistent,
    Unit,
    as_at,
    check_local_times,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fsspec import AbstractFileSystem

    from muntin.definition.schedule import Schedule
    from muntin.definition.several_sources import Member
    from muntin.sources.logged.log import Log
    from muntin.sources.reading.dimension import Dimension
    from muntin.sources.repeated_rows import Changes, Events
    from muntin.sources.source import Content, OnBadFile, OnSchema


LookBack = Duration | None


class FilesAlone:
    """The members of a source all of whose paths are files."""

    __slots__ = ()
    message_columns: ClassVar[tuple[str, ...]] = ()

    def content(self, path: str) -> Content | None:  # noqa: ARG002 - files alone
        return None

    def opened_as(self, path: str) -> str:
        return path

    def file_systems(self, paths: Sequence[str]) -> Sequence[AbstractFileSystem]:  # noqa: ARG002 - as above
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
    look_back: LookBack = "all"

    listing = "muntin.jobs.inputs.listings.of_files"
    upstream = batch_column = None
    log: ClassVar[Callable[[], Log] | None] = None
    needs_spark = ""
    section = order = numbered = ()
    message_key: ClassVar[tuple[str, ...]] = ()

    @property
    def in_one_piece(self) -> bool:
        return self.arrival_order is not None or bool(self.dedupe)

    def looked_from_us(self, newest_us: int) -> int:
        """Batches that end later are compared with their source in each run.

        `newest_us`: the end of the newest batch.
        """
        if self.look_back is None:
            return newest_us
        return BEFORE_ALL if self.look_back == "all" else newest_us - positive(self.look_back, "look_back")

    def on_clock(self, zone: str) -> Self:  # noqa: ARG002 - where a batch's rows are depends on no clock
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

    @property
    def bundles(self) -> bool:
        """Whether several batches may be read together: duplicates are found per batch."""
        return not self.dedupe

    def settled(self, path: str) -> int:
        return stat_of(file_of(path)).st_size

    def misfit(self, schedule: Schedule) -> str | None:  # noqa: ARG002 - whatever the schedule
        return None


def checked_terms(
    event_time: str | At | None,
    rows: Events | None,
    types: Mapping[str, str] | None,
    arrival_order: str | None,
    arrival_time: str | None,
    *,
    of_table: bool | None = None,
    look_back: LookBack = "all",
) -> dict[str, Any]:
    """The arguments of a `RowSource`, from the arguments that a user gave."""
    if look_back not in ("all", None):
        positive(look_back, "look_back")
    time, kinds, order = as_at(event_time), types or {}, arrival_order or arrival_time
    how: dict[str, Any] = {"dedupe": (), "dedupe_within_us": None, "changes": None}
    if rows is not None or of_table:
        from muntin.sources.repeated_rows import terms_of_rows

        how = terms_of_rows(rows, of_table=of_table)
    if time:
        check_local_times(
            time, order, {name: kinds.get(name) for name in (time.column, arrival_time) if name}
        )
    return {
        "event_time": time.column if time else "",
        **(time.reading if time else {}),
        "types": dict(kinds),
        "arrival_order": order,
        "arrival_time": arrival_time,
        "look_back": look_back,
        **how,
    }
