"""Plan: the decisions of a run, nothing done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from muntin.definition.instants import from_us, instant_us
from muntin.definition.pipeline import Pipeline
from muntin.definition.schedule import Interval
from muntin.errors import SourceError
from muntin.files.paths import AnyPath
from muntin.jobs.check import check_columns, check_suites
from muntin.jobs.inputs.changed_past import changed_past
from muntin.jobs.inputs.inputs import difference, inputs_of_each, other_versions
from muntin.jobs.inputs.listings.listing import Inputs
from muntin.jobs.inputs.listings.of_spark import UNKNOWN
from muntin.jobs.inspect.planned_windows import PlannedWindows, Redefined, planned_windows, redefined
from muntin.jobs.published.lost_commits import check_no_lost_commits
from muntin.jobs.published.pending import expired_to, refusal, versions, without_states
from muntin.jobs.records.reports_table import last_accumulated, utc_now
from muntin.jobs.state.bound import Bound, bind
from muntin.sources.listing import SourceFile

Reading = Literal["new", "changed", "unchanged", "unknown", "missing"]


@dataclass(frozen=True, slots=True)
class PlannedBatch:
    """A batch that would be read.

    Attributes:
        interval_start, interval_end: its interval.
        files, bytes: what it would be read from.
        reading: "new": it was never read; "changed": its files are not as they were read; "unchanged";
            "unknown": only Spark could tell; "missing": it has no files, or its states are gone, as `retain`
            says: a run fails.
        why: what has changed, or what is missing; None else.
    """

    interval_start: datetime
    interval_end: datetime
    files: tuple[str, ...]
    bytes: int
    reading: Reading
    why: str | None = None

    @property
    def replaces(self) -> bool:
        return self.reading in ("changed", "unchanged", "unknown")


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a run.

    Attributes:
        batches: that would be read, in order.
        windows: window -> starts of the batches whose windows would be derived anew. A batch whose files have
            changed counts with the frames it has now; one whose files are as they were changes nothing.
        waiting_for: intervals that would still be missing between accumulated batches.
        counts: window -> how many windows that is.
        redefined: how the definition differs from that of the last run, and what that costs; None where it
            does not.
    """

    batches: tuple[PlannedBatch, ...]
    windows: Mapping[str, tuple[datetime, ...]]
    waiting_for: tuple[tuple[datetime, datetime], ...]
    counts: Mapping[str, PlannedWindows]
    redefined: Redefined | None = None

    @property
    def missing(self) -> tuple[PlannedBatch, ...]:
        return tuple(batch for batch in self.batches if batch.reading == "missing")

    def to_dict(self) -> dict[str, Any]:
        return {
            "batches": [
                {
                    "interval_start": batch.interval_start.isoformat(),
                    "interval_end": batch.interval_end.isoformat(),
                    "files": list(batch.files),
                    "bytes": batch.bytes,
                    "replaces": batch.replaces,
                    "reading": batch.reading,
                    "why": batch.why,
                }
                for batch in self.batches
            ],
            "windows": {
                name: [start.isoformat() for start in starts] for name, starts in self.windows.items()
            },
            "counts": {
                name: {"published": each.published, "expected": each.expected}
                for name, each in self.counts.items()
            },
            "waiting_for": [[a.isoformat(), b.isoformat()] for a, b in self.waiting_for],
            "redefined": self.redefined.to_dict() if self.redefined else None,
        }


def plan(
    pipeline: Pipeline,
    *,
    root: str | AnyPath,
    start: datetime,
    end: datetime,
    validate: bool = True,
    check: bool = True,
) -> Plan:
    """Which batches a run of `[start, end)` would read, which windows it would touch, which intervals are
    missing.

    The definition is checked against the suites if `validate`, and against the files if `check`, as a run
    does before it reads a row; then files of new batches are read, too, where their rows may change rows of
    other batches.

    Raises:
        DefinitionError, SourceError, StateError: as `run`; but an interval without files is part of the plan.
    """
    intervals = pipeline.intervals.intervals(instant_us(start, "start"), instant_us(end, "end"))
    bound = bind(pipeline, root)
    check_no_lost_commits(bound)
    past = changed_past(bound, intervals, utc_now())
    why = {} if past.left else dict(past.why)
    intervals = sorted({*intervals, *why})
    batches, given = _batches(bound, intervals, why)
    if validate:
        check_suites(bound)
    if check:
        check_columns(bound, given)
    if more := _foreseen(bound, given, _anew(intervals, batches)) if check else {}:
        intervals, why = sorted({*intervals, *more}), why | more
        batches, given = _batches(bound, intervals, why)
    anew = _anew(intervals, batches, missing=True)
    touched = {name: planned_windows(bound, name, intervals, anew) for name in pipeline.windows}
    holes = {(hole.start_us, hole.end_us) for each in touched.values() for hole in each.missing}
    return Plan(
        batches,
        {name: tuple(map(from_us, each.starts)) for name, each in touched.items()},
        tuple((from_us(a), from_us(b)) for a, b in sorted(holes)),
        touched,
        redefined(bound),
    )


def _anew(
    intervals: Sequence[Interval], batches: Sequence[PlannedBatch], *, missing: bool = False
) -> list[Interval]:
    """The batches that are new or have changed; batches without files, too, if they count."""
    kinds = ("new", "changed", *(["missing"] if missing else []))
    return [interval for interval, batch in zip(intervals, batches, strict=True) if batch.reading in kinds]


def _foreseen(bound: Bound, given: Inputs, anew: Sequence[Interval]) -> dict[Interval, str]:
    if bound.source.changes is None:
        return {}
    from muntin.jobs.accumulate.later_batches import foreseen  # and what reads rows

    return foreseen(bound, given, anew)


def _batches(
    bound: Bound, intervals: Sequence[Interval], reasons: Mapping[Interval, str]
) -> tuple[tuple[PlannedBatch, ...], Inputs]:
    """The batches, and the files of each batch that has files.

    `reasons`: why batches are read again whose files are the same.
    """
    versions_by_start, reports, gone = (
        versions(bound),
        last_accumulated(bound.store, intervals),
        set(without_states(bound, intervals)),
    )
    asked = inputs_of_each(bound, [interval for interval in intervals if interval not in gone])
    inputs_of_batches, batches = list[Inputs](), []
    others = other_versions(bound, [each for each in intervals if each.start_us in versions_by_start])
    by_spark = UNKNOWN if any(each.needs_spark for each in bound.pipeline.sources.values()) else None
    for interval in intervals:
        start = interval.start_us
        if interval in gone:
            batches.append(_planned(interval, [], "missing", refusal(bound, expired_to(bound))))
            continue
        given = asked[interval]
        if isinstance(given, SourceError):
            batches.append(_planned(interval, [], "missing", str(given)))
            continue
        inputs_of_batches.append(given)
        files = given.files[interval]
        if start not in versions_by_start:
            batches.append(_planned(interval, files, "new"))
        elif bound.source.needs_spark:
            batches.append(_planned(interval, files, "unknown", UNKNOWN))
        elif start not in reports or reports[start]["version"] != versions_by_start[start]:
            batches.append(_planned(interval, files, "changed", "read, but not reported"))
        else:
            why = difference(bound, reports[start], files) or others.get(interval) or reasons.get(interval)
            batches.append(
                _planned(
                    interval,
                    files,
                    "changed" if why else "unknown" if by_spark else "unchanged",
                    why or by_spark,
                )
            )
    return tuple(batches), Inputs.joined(inputs_of_batches)


def _planned(
    interval: Interval, files: Sequence[SourceFile], reading: Reading, why: str | None = None
) -> PlannedBatch:
    names, size = tuple(file.path for file in files), sum(file.size for file in files)
    return PlannedBatch(from_us(interval.start_us), from_us(interval.end_us), names, size, reading, why)
