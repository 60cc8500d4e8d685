"""Reports on batches and runs, for people and for JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from muntin.definition.schedule import Interval
from muntin.jobs.published.changes import Changes


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file as it was when its batch was read: an entry of the batch's manifest.

    Attributes:
        path: absolute.
        bytes: its size.
        rows: in the file.
        written_ns: when it was last written, or put in its place, in nanoseconds since 1970.
        checksum: a name of its content, where that is known.
        source: the name of its source, where the pipeline has several.
    """

    path: str
    bytes: int
    rows: int
    written_ns: int = 0
    checksum: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """The number of rows of a batch, or of those that came from one of its several sources.

    Attributes:
        read: in the files.
        accepted: in the states.
        quarantined: in the quarantine.
        duplicate: left out, as they repeat the event of another row.
        ambiguous, nonexistent: read with a local time that comes twice, or never was.
        forgotten: left out, as their keys are forgotten.
    """

    read: int = 0
    accepted: int = 0
    quarantined: int = 0
    duplicate: int = 0
    ambiguous: int = 0
    nonexistent: int = 0
    forgotten: int = 0

    def to_dict(self) -> dict[str, int]:
        return asdict(self)

    def columns(self) -> dict[str, int]:
        """The counts by the names that they have in reports and their table."""
        return {f"rows_{name}": count for name, count in asdict(self).items()}

    @property
    def left_out(self) -> int:
        return self.read - self.accepted - self.quarantined - self.duplicate - self.forgotten


COUNTED = (*Counts().columns(), "files_hidden")
"""The counts of a batch, as fields of its report and columns of their table."""


@dataclass(frozen=True, slots=True)
class Accumulated:
    """The report on the reading of a batch.

    Attributes:
        interval: of the batch.
        version: names the states that came of it.
        counts: its rows.
        newest_us: the largest event time.
        manifest: its files.
        schema_changes: how the columns of its files differ from earlier batches, a sentence each.
        sources: name -> the rows that came from this source; nothing where the pipeline has one source.
        hidden: files that were passed over, as their names begin with `_` or `.`.
    """

    interval: Interval
    version: str
    counts: Counts
    newest_us: int | None
    manifest: tuple[ReadFile, ...]
    schema_changes: tuple[str, ...] = ()
    sources: Mapping[str, Counts] = field(default_factory=dict)
    hidden: int = 0


@dataclass(frozen=True, slots=True)
class BatchReport:
    """The report on a batch.

    Attributes:
        interval_start, interval_end: its data interval.
        rows_read: rows in its files.
        rows_accepted: rows that entered states: neither refused nor left out by the filter.
        rows_quarantined: rows refused, each in the quarantine with its reason.
        rows_late: accepted rows that came too late for at least one window. Sessions and windows by arrival,
            which may stay open for long, count separately, and the greatest count is reported.
        windows_closed: window -> how many of them this batch closed, hidden ones too; empty while it waits
            for missing intervals.
        watermark: how far time is known after it; None while it waits, or before any event.
        windows_missed: window -> how many of them its rows came too late for, summed over rows.
        source_changed: whether its files or their content differ from the last run.
        rows_duplicate: rows that were left out since an earlier row has the same event (`dedupe` and
            `within` of its rows).
        sources: name -> the rows that came from this source, where the pipeline has several.
        files_hidden: files that were passed over, as their names begin with `_` or `.` (`hidden` of
            `sources.files`).
        rows_ambiguous, rows_nonexistent: rows that were read with a local time that comes twice in the zone
            of the source, or never was; `ambiguous` and `nonexistent` of the source say what became of them.
        windows_hidden: window -> how many of the windows that this batch closed are hidden; of windows with
            `having`.
        rows_correcting: window -> how many rows came when a window that they count in was published, and
            revised it, and missed none; of windows with `allowed_lateness`.
        rows_forgotten: rows that were left out, as their keys are forgotten (`muntin forget`).
        despite: what a person said who let its windows be published although they failed their suite:
            `verdict`, the name of the verdict, `windows`, window -> its verdict in words, `by`, `reason`; of
            a run that published nothing in this way None.
        refusals: the share of its rows in the quarantine, and their most frequent reason, in words; "" up to
            a tenth of its rows.
    """

    interval_start: datetime
    interval_end: datetime
    rows_read: int
    rows_accepted: int
    rows_quarantined: int
    rows_late: int = 0
    windows_closed: Mapping[str, int] = field(default_factory=dict)
    watermark: datetime | None = None
    windows_missed: Mapping[str, int] = field(default_factory=dict)
    source_changed: bool = False
    rows_duplicate: int = 0
    sources: Mapping[str, Counts] = field(default_factory=dict)
    files_hidden: int = 0
    rows_ambiguous: int = 0
    rows_nonexistent: int = 0
    windows_hidden: Mapping[str, int] = field(default_factory=dict)
    rows_correcting: Mapping[str, int] = field(default_factory=dict)
    rows_forgotten: int = 0
    despite: Mapping[str, Any] | None = None
    refusals: str = ""

    @property
    def rows_left_out(self) -> int:
        """Rows that the filter left out.

        Every row that was read was accepted, left out, quarantined, a duplicate or of a forgotten key.
        """
        return (
            self.rows_read
            - self.rows_accepted
            - self.rows_quarantined
            - self.rows_duplicate
            - self.rows_forgotten
        )

    def to_dict(self) -> dict[str, Any]:
        names = [name for name in self.__slots__ if name not in ("sources", "despite") or getattr(self, name)]
        return {name: _plain(getattr(self, name)) for name in (*names, "rows_left_out")}


@dataclass(frozen=True, slots=True)
class RunReport:
    """The report on a run.

    Attributes:
        batches: one report each, in order.
        waiting_for: the missing intervals, as (start, end), that keep accumulated batches from being
            finalised.
        published: window -> starts of the batches whose windows were derived anew and published by this run.
        quality: the outcome of each window's expectations, as dicts.
        remarks: what was found damaged and was derived again, a sentence each.
        changed: window -> which of its published windows this run changed, and how; one part a commit.
        left_behind: batches that an earlier definition's state has and this state lacks: `muntin run
            --rebuild` reads them.
        promoted: windows of a changed definition that were promoted.
        candidates: windows of a changed definition that are still candidates.
        alerts: what became of the messages to the channels of the definition, a line each.
        schema_changes: how the columns of the source's files differ from earlier batches, a sentence each: a
            wider type, a new column, another order, a column that a file lacks.
        sinks: what was sent to the sinks of the definition, or why not, a line each.
        tables: window -> the table that says where its windows lie, with its version and the number of its
            spans.
        unsettled: what has changed in the past and stays as it was, a sentence each.
        blocked_sinks: how many sinks lack something that no later run sends by itself.
    """

    batches: tuple[BatchReport, ...]
    waiting_for: tuple[tuple[datetime, datetime], ...] = ()
    published: Mapping[str, tuple[datetime, ...]] = field(default_factory=dict)
    quality: tuple[Mapping[str, Any], ...] = ()
    left_behind: int = 0
    remarks: tuple[str, ...] = ()
    changed: Mapping[str, tuple[Changes, ...]] = field(default_factory=dict)
    promoted: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()
    alerts: tuple[str, ...] = ()
    schema_changes: tuple[str, ...] = ()
    sinks: tuple[str, ...] = ()
    blocked_sinks: int = 0
    tables: Mapping[str, str] = field(default_factory=dict)
    unsettled: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON has it: instants as ISO text; of changed windows `uncompared` counts windows
        that were too many to compare.
        """
        fields = {name: _plain(getattr(self, name)) for name in self.__slots__ if name != "changed"}
        changed = {
            name: _plain([row for part in parts for row in part.rows()])
            for name, parts in self.changed.items()
        }
        return {
            **fields,
            "changed": changed,
            "uncompared": {name: sum(p.uncompared for p in parts) for name, parts in self.changed.items()},
        }


def _plain(value: Any) -> Any:  # noqa: ANN401 - whatever a report holds
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, (BatchReport, Counts)):
        return value.to_dict()
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    return value
