"""The published windows of an upstream pipeline, for a pipeline over its windows; and
which of them are new.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from muntin.definition.instants import BEFORE_ALL, label, spell_instant
from muntin.definition.schedule import Interval
from muntin.errors import StateError
from muntin.files.paths import AnyPath
from muntin.jobs.inputs.changed_files import SourceChanges, seen_up_to
from muntin.jobs.published.as_defined import check_as_defined
from muntin.jobs.published.ledger_segments import read_ledger
from muntin.jobs.published.pending import accumulated, readable
from muntin.jobs.published.window_tables import Published, published
from muntin.jobs.records.reports import ReadFile
from muntin.jobs.records.reports_table import last_accumulated, manifest
from muntin.jobs.state.bound import Bound, bind
from muntin.sources.listing import SourceFile
from muntin.sources.upstream_windows import WindowSource
from muntin.states.frames import NO_INTS, Ints
from muntin.store.paths import batches_of_windows
from muntin.store.tier_files import expired_before
from muntin.timeline.batches import positions_of, spelled
from muntin.timeline.ledger import Entries, no_entries


@dataclass(frozen=True, slots=True)
class Upstream:
    """A window of an upstream pipeline, as it is published.

    Attributes:
        table: the folder of its table.
        now: what is published.
        behind_us: how far behind the upstream's watermark the times of its windows may be.
    """

    table: AnyPath
    now: Published
    behind_us: int

    @property
    def entries(self) -> Entries:
        """The entries of its ledger."""
        return self.now.ledger.entries if self.now.ledger else no_entries()

    def files(self, starts: Ints) -> dict[int, list[SourceFile]]:
        """Start of each of some published batches -> the files with its windows, with the name of the windows
        as their checksum.

        Windows that are gone, as the upstream's `retain` says, are an error.
        """
        at = self.entries.position(starts)
        closing = starts[self.entries.windows[at] > 0]
        self._check_kept(closing)
        names_of_windows = dict(zip(starts.tolist(), self.entries.made[at].tolist(), strict=True))
        files_by_start: dict[int, list[SourceFile]] = {start: [] for start in starts.tolist()}
        for file in self.now.snapshot.files:
            first, last = batches_of_windows(file.path) or (0, -1)
            for start in closing[(closing >= first) & (closing <= last)].tolist():
                files_by_start[start].append(
                    SourceFile(
                        f"{self.table}/{file.path}",
                        file.size,
                        0,
                        spelled(names_of_windows[start]) if names_of_windows[start] else None,
                    )
                )
        return files_by_start

    @property
    def kept_from_us(self) -> int:
        """The start of the first batch whose windows are not gone, as the upstream's `retain` says;
        `BEFORE_ALL` while all are there.
        """
        before_us = expired_before(self.now.snapshot.files)
        return BEFORE_ALL if before_us is None else before_us

    def _check_kept(self, starts: Ints) -> None:
        before_us = self.kept_from_us
        if len(starts) and starts.min() < before_us:
            raise StateError(
                f"{self.table}: windows of batches before {spell_instant(before_us)} are gone, as retain of"
                f" that pipeline says, so {label(int(starts.min()))} cannot be read again; begin at"
                f" {spell_instant(before_us)}"
            )

    def watermarks_us(self, starts: Ints) -> dict[int, int | None]:
        """Start of each of some published batches -> how far time is known after it; None
        before any event.
        """
        times_us = self.known_to(starts).tolist()
        return {
            start: time_us if time_us > BEFORE_ALL else None
            for start, time_us in zip(starts.tolist(), times_us, strict=True)
        }

    def known_to(self, starts: Ints) -> Ints:
        """How far time is known after each of some published batches; `BEFORE_ALL` before any event."""
        watermarks_us = self.entries.watermark_us[self.entries.position(starts)]
        return np.where(watermarks_us > BEFORE_ALL, watermarks_us - self.behind_us, BEFORE_ALL)

    def changed_since(self, number: int) -> Ints:
        """Starts of the batches that were published after the segment of a number, and of
        some that were not.
        """
        newer = tuple(segment.file.path for segment in self.now.segments if segment.number > number)
        ledger = read_ledger(self.table, newer)
        return ledger.entries.start_us if ledger else NO_INTS


def upstream(bound: Bound, source: WindowSource) -> Upstream:
    """The upstream's window, as it is published now; StateError if by another definition of the upstream."""
    theirs = bind(source.upstream, bound.root)
    check_as_defined(theirs, source.window)
    now = published(theirs.store, source.window)
    return Upstream(theirs.table(now.table), now, source.behind_us)


def other_windows(before: Sequence[ReadFile], now: Sequence[SourceFile]) -> bool:
    """Whether an upstream published other windows of a batch than were read.

    Windows keep their name when their files are put together.
    """
    read, checksums = {file.checksum for file in before}, {file.checksum for file in now}
    if read and checksums and None not in read | checksums:
        return read != checksums
    return {file.path for file in before} != {file.path for file in now}


def changes_of_upstream(bound: Bound, *, unread: bool = False) -> SourceChanges:
    """Batches that the upstream has published again since they were read; and, if asked, batches never read.

    None whose windows are gone, there or here: what was read of them stays.
    """
    theirs, table = upstream(bound, bound.source), bound.frame_sets[0].table  # type: ignore[arg-type]  # it has one
    batches = accumulated(bound, table)
    starts, there = theirs.entries.start_us, theirs.entries.position(batches.start_us) >= 0
    read_us = batches.start_us[there]
    moved = read_us[batches.newest_us[there] != theirs.known_to(read_us)]
    changed = theirs.changed_since(since := seen_up_to(bound, theirs.now.snapshot.identity))
    changed = changed[(positions_of(changed, read_us) >= 0) & (changed >= theirs.kept_from_us)]
    new = (
        starts[(starts >= bound.pipeline.intervals.first_us) & (batches.position(starts) < 0)]
        if unread
        else starts[:0]
    )
    changed_starts = np.unique(np.concatenate([moved, new, _published_anew(bound, theirs, changed)]))
    after = bound.pipeline.intervals.after
    intervals = [
        Interval(start, after(start))
        for start in changed_starts[changed_starts >= theirs.kept_from_us].tolist()
    ]
    why = dict.fromkeys(readable(bound, intervals), "published anew")
    return SourceChanges(why, {theirs.now.snapshot.identity: (theirs.now.number, since)})


def _published_anew(bound: Bound, theirs: Upstream, changed: Ints) -> Ints:
    """The batches that were read and may have been published since, as far as there is a report of the
    reading.
    """
    after = bound.pipeline.intervals.after
    reports = last_accumulated(bound.store, [Interval(start, after(start)) for start in changed.tolist()])
    files = theirs.files(changed)
    anew = [
        start not in reports or other_windows(manifest(reports[start]), files[start])
        for start in changed.tolist()
    ]
    return changed[np.array(anew, np.bool_)]
