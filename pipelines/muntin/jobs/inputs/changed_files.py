"""Batches that were read, and whose files are not as they were: added, written anew, renamed, some removed.

batch     files, as its report has them     files now              it is
1 May     a                                 a, b                   read again
2 May     a                                 a, touched or copied   as it was: its content has the same name
3 May     a                                 none                   kept: sources have retention, too
4 May     a                                 a, written just now    waits for the next run

Each run looks at the newest thousand batches; of older batches each has its turn once a day.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from muntin.definition.durations import DAY_US, spell
from muntin.definition.instants import BEFORE_ALL
from muntin.definition.schedule import Interval
from muntin.errors import SourceError
from muntin.files.paths import stat_of
from muntin.jobs.inputs.listings import of_files
from muntin.jobs.inputs.listings.of_several import purged
from muntin.jobs.published.pending import read_everywhere, readable, spelled_versions
from muntin.jobs.records.reports import ReadFile
from muntin.jobs.records.reports_table import last_accumulated, manifest, report_of_source, with_files
from muntin.jobs.state.bound import Bound
from muntin.jobs.state.notes import change_note, read_note
from muntin.sources.file_source import FileSource
from muntin.sources.listing import SourceFile, check_ready, source_files
from muntin.states.frames import Flags, Ints, is_among

Moved = tuple[Interval, Mapping[str, Any], str | None, Sequence[SourceFile]]


NEWEST = 1_000
"""So many batches each run looks at; of older batches as many at a time, in turns."""
_TURNS = 0.618_033_988_749_895
"""The parts of a day lie apart by this part of it: any number of them lies evenly."""
_NOTE = "upstream.json"


@dataclass(frozen=True, slots=True)
class SourceChanges:
    """Batches whose source is not as it was read.

    Attributes:
        why: of each batch to read again, in words.
        marks: an upstream or a table -> up to which segment of its ledger, or commit, that is; and since
            which.
        unreadable: batches that have changed and cannot be read -> why.
        waiting: batches whose files may not be whole yet -> why.
        gone: batches that rows were read of and that have no file any more.
        moved: reports of batches whose files have other names or times, and the same content, with these
            files.
    """

    why: Mapping[Interval, str] = field(default_factory=dict)
    marks: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    unreadable: Mapping[Interval, str] = field(default_factory=dict)
    waiting: Mapping[Interval, str] = field(default_factory=dict)
    gone: tuple[Interval, ...] = ()
    moved: tuple[Mapping[str, Any], ...] = ()

    def remember(self, bound: Bound) -> None:
        """Note that the batches are read, so that the next run checks later batches alone. Only to be called
        when they are read.

        What another run has noted meanwhile stays, if it is further.
        """

        def noted(content: Any) -> dict[str, Any] | None:  # noqa: ANN401 - JSON
            further = {
                table: number
                for table, (number, since) in self.marks.items()
                if (seen := _seen(content, table)) != number and seen <= max(number, since)
            }
            return {**(content if isinstance(content, dict) else {}), **further} if further else None

        if self.marks:
            change_note(bound.folder / _NOTE, noted)


def seen_up_to(bound: Bound, table: str) -> int:
    """The number of the segment, or the mark of the commit, up to which all batches are read; 0 without a
    note of this table.
    """
    return _seen(read_note(bound.folder / _NOTE), table)


def _seen(note: Any, table: str) -> int:  # noqa: ANN401 - JSON
    try:
        return int(note[table])
    except (ValueError, KeyError, TypeError):
        return 0


def turn(starts: Ints, run: Sequence[Interval]) -> Flags:
    """Which batches, ascending, a run looks at: the newest, and the batches whose turn comes in the time of
    day of its intervals, so that the runs of a day look at all.

    >>> every = [Interval(hour * 3_600_000_000, (hour + 1) * 3_600_000_000) for hour in range(24)]
    >>> [int(turn(np.arange(30_000), [each]).sum()) for each in every[:4]]
    [3000, 2000, 3000, 1000]
    >>> bool(np.any([turn(np.arange(30_000), [each]) for each in every], axis=0).all())
    True
    """
    looked_at = np.arange(len(starts)) >= len(starts) - NEWEST
    if run:
        at_us = np.arange(len(starts)) // NEWEST * _TURNS % 1 * DAY_US
        looked_at |= (at_us - run[0].start_us) % DAY_US < run[-1].end_us - run[0].start_us
    return looked_at


def changed_files(
    bound: Bound,
    now_us: int | None,
    intervals: Sequence[Interval] | None = None,
    *,
    run: Sequence[Interval] | None = None,
) -> SourceChanges:
    """Changes of the files of batches that were read, of one source or several.

    `now_us`: a file that was written just before may not be whole; None: all files are. `intervals`: of these
    batches alone. `run`: of the batches whose turn it is beside a run of these intervals; None: of all.
    """
    members = [each for each in (*bound.members.values(), bound) if isinstance(each.source, FileSource)]
    if not members:
        return SourceChanges()
    batches, after = read_everywhere(bound), bound.pipeline.intervals.after
    newest_us = int(batches.end_us.max(initial=BEFORE_ALL))
    named = is_among(batches.start_us, np.array([each.start_us for each in intervals or run or ()], np.int64))
    mask = named if intervals is not None else ~named if run is None else ~named & turn(batches.start_us, run)
    versions_by_start = spelled_versions(batches.take(mask))
    read = readable(bound, [Interval(start, after(start)) for start in versions_by_start])
    reports: dict[int, Mapping[str, Any]] = {}
    for part in np.split(batches.start_us[mask], np.flatnonzero(np.diff(np.flatnonzero(mask)) > 1) + 1):
        reports |= last_accumulated(bound.store, [Interval(start, after(start)) for start in part.tolist()])
    reports = {
        start: report for start, report in reports.items() if report["version"] == versions_by_start[start]
    }
    moved: list[Moved] = []
    changes = [_changes(member, read, reports, newest_us, now_us, moved) for member in members]
    why = {interval: reason for each in changes for interval, reason in each.why.items()}
    gone = sorted({interval for each in changes for interval in each.gone})
    waiting = {interval: reason for each in changes for interval, reason in each.waiting.items()}
    stay = {*gone, *waiting}
    return SourceChanges(
        {interval: why[interval] for interval in sorted(why) if interval not in stay},
        waiting={interval: waiting[interval] for interval in sorted(waiting) if interval not in gone},
        gone=tuple(gone),
        moved=_moved(moved, {*why, *stay}),
    )


def _changes(
    bound: Bound,
    intervals: Sequence[Interval],
    reports: Mapping[int, Mapping[str, Any]],
    newest_us: int,
    now_us: int | None,
    moved: list[Moved],
) -> SourceChanges:
    """Changes of the files of one source.

    `moved`: gets the batches whose files have other names or times alone.
    """
    source: FileSource = bound.source  # type: ignore[assignment]  # it is of files
    name, from_us = source.member.name if source.member else None, source.looked_from_us(newest_us)
    files_of_batches = source_files(source, [each for each in intervals if each.end_us > from_us])[0]
    gone = purged(bound, [interval for interval, files in files_of_batches.items() if not files])
    why, waiting, stay = dict[Interval, str](), dict[Interval, str](), set(gone)
    for interval, files in files_of_batches.items():
        if interval in stay:
            continue
        report = reports.get(interval.start_us)
        if report is None:
            why[interval] = "read, but not reported"
            continue
        own = report_of_source(report, name) if name else report
        read = manifest(own)
        new = _new(read, files)
        if not (new or len(read) > len(files)):
            continue
        if not (reason := of_files.difference(bound, own, files)):
            moved.append((interval, report, name, files))
        elif now_us is not None and (wait := next(_reasons_to_wait(bound, interval, new, now_us), None)):
            waiting[interval] = wait
        else:
            why[interval] = f"{name}: {reason}" if name else reason
    return SourceChanges(why, waiting=waiting, gone=tuple(gone))


def _new(read: Sequence[ReadFile], files: Sequence[SourceFile]) -> list[SourceFile]:
    """The files that are not, by name, size, time and an object's tag, files that were read."""
    tags = {(file.path, file.bytes, file.written_ns): file.checksum for file in read}
    return [
        file
        for file in files
        if tags.get(at := (file.path, file.size, file.written_ns), "") != (file.checksum or tags.get(at))
    ]


def _moved(
    moved: Sequence[Moved],
    stay: Collection[Interval],
) -> tuple[Mapping[str, Any], ...]:
    """Reports with files that have the same content, by other names or of another time. `stay`: batches whose
    reports stay.
    """
    reports: dict[Interval, Mapping[str, Any]] = {}
    for interval, report, name, files in moved:
        if interval not in stay:
            report_now, there = reports.get(interval, report), iter(files)
            entries = [
                replace(was, path=now.path, written_ns=now.written_ns)
                if was.source == name and (now := next(there))
                else was
                for was in manifest(report_now)
            ]
            reports[interval] = with_files(report_now, entries)
    return tuple(reports.values())


def _reasons_to_wait(
    bound: Bound, interval: Interval, files: Sequence[SourceFile], now_us: int
) -> Iterator[str]:
    """Why new files of a batch may not be whole yet, if they may not."""
    settles_us = bound.pipeline.limits.settle_after_us
    for file in files:
        if abs(now_us - file.written_ns // 1000) < settles_us:
            age_us = now_us - stat_of(file.path).st_mtime_ns // 1000  # not when it was put in its place
            if abs(age_us) < settles_us:
                yield (
                    f"{Path(file.path).name} was written less than {spell(settles_us)} ago (settle_after of"
                    " limits), and its writer may be at work: the next run reads it, or a run of the batch by"
                    " name"
                )
    try:
        check_ready(bound.source, interval, files)  # type: ignore[arg-type]  # as above
    except SourceError as wrong:
        yield str(wrong)
