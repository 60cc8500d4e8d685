"""What a batch is read from: files by template, or the files that an upstream pipeline published."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.definition.amounts import many
from pipelines.definition.instants import BEFORE_ALL, label, spell_instant
from pipelines.definition.schedule import Interval
from pipelines.errors import SourceError
from pipelines.jobs.bound import Bound, bind
from pipelines.jobs.pending import accumulated, published
from pipelines.jobs.reports_table import last_accumulated, manifest
from pipelines.sources.listing import SourceFile, check_found, source_files
from pipelines.sources.upstream_windows import WindowSource
from pipelines.store.paths import batch_of_windows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pipelines.sources.files import FileSource

_NAMED = 5


@dataclass(frozen=True, slots=True)
class Inputs:
    """What some batches are read from.

    Attributes:
        files: of each interval, in order.
        marks: start of the interval -> how far time is known after it, in microseconds, where the source says so itself.
    """

    files: Mapping[Interval, list[SourceFile]]
    marks: Mapping[int, int | None]


def inputs(bound: Bound, intervals: Sequence[Interval], *, forget: bool = False) -> Inputs:
    """The files of some intervals.

    Args:
        bound: the definition beside its state.
        intervals: of the batches.
        forget: whether an interval without files is an empty batch, whatever was read of it before.

    Raises:
        SourceError: an interval has none, and the source says that is an error, or rows were read of it before; a file
            belongs to two of the intervals; or the upstream has not published one.
    """
    if not isinstance(bound.source, WindowSource):
        found = {interval: source_files(bound.source, interval) for interval in intervals}
        if not forget:
            _check_kept(bound, [interval for interval, files in found.items() if not files])
            for interval, files in found.items():
                check_found(bound.source, interval, files)
        _check_apart(bound.source, found)
        return Inputs(found, {})
    known, marks = upstream_files(bound, bound.source)
    for interval in intervals:
        if interval.start_us not in known:
            name = bound.source.upstream.name
            raise SourceError(
                f"{name} has not published the batch {interval} of its window {bound.source.window!r}; run {name} over it first"
            )
    return Inputs({interval: known[interval.start_us] for interval in intervals}, {i.start_us: marks[i.start_us] for i in intervals})


def without_files(bound: Bound, intervals: Sequence[Interval]) -> list[Interval]:
    """The intervals that the source has no files of; none where an upstream says what a batch holds."""
    if isinstance(bound.source, WindowSource):
        return []
    return [interval for interval in intervals if not source_files(bound.source, interval)]


def purged(bound: Bound, gone: Sequence[Interval]) -> list[Interval]:
    """Of intervals without files those that rows were read of: states hold what no file does any more."""
    if not gone:
        return []
    batches = [batch for frames in bound.frame_sets for batch in accumulated(bound, bound.store.snapshot(frames.table))]
    held = {batch.interval.start_us for batch in batches if batch.rows}
    return [interval for interval in gone if interval.start_us in held]


def _check_kept(bound: Bound, gone: Sequence[Interval]) -> None:
    if lost := purged(bound, gone):
        named = ", ".join(map(str, lost[:_NAMED])) + (f" and {many(len(lost) - _NAMED, 'more batch')}" if len(lost) > _NAMED else "")
        first, last = spell_instant(lost[0].start_us), spell_instant(lost[-1].end_us)
        raise SourceError(
            f"{named}: rows were read before, and there is no file any more; an empty batch would take them out of published windows. "
            f"Bring the files back, or run the other batches alone, as muntin backfill does. If the rows shall go, say so: "
            f"muntin run FILE --root {bound.root} --start {first} --end {last} --forget, or run(..., forget=True)"
        )


def _check_apart(source: FileSource, found: Mapping[Interval, Sequence[SourceFile]]) -> None:
    owners: dict[str, Interval] = {}
    for interval, files in found.items() if not source.all_files else ():
        for file in files:
            other = owners.setdefault(file.path, interval)
            if other != interval:
                raise SourceError(
                    f"{file.path} is a file of the batch {other} and of {interval}, and its rows would count twice; write path "
                    f"in sources.files(...) so that every file belongs to one batch, or say all_files=True if that is meant"
                )


def upstream_files(bound: Bound, source: WindowSource) -> tuple[dict[int, list[SourceFile]], dict[int, int | None]]:
    """Of each batch that the upstream has published: its files, and how far time is known after it, if at all."""
    theirs = bind(source.upstream, bound.root)
    now = published(theirs.store, source.window)
    table = Path(theirs.folder, "windows", source.window)
    files: dict[str, list[SourceFile]] = {}
    for file in sorted(now.snapshot.files, key=lambda file: file.path):
        files.setdefault(batch_of_windows(file.path), []).append(SourceFile(str(table / file.path), file.size, 0))
    entries = now.ledger.entries if now.ledger else ()
    marks = {entry.start_us: entry.mark_us - source.behind_us if entry.mark_us > BEFORE_ALL else None for entry in entries}
    return {entry.start_us: files.get(label(entry.start_us), []) for entry in entries}, marks


def news_from_upstream(bound: Bound, *, unread: bool = False) -> list[Interval]:
    """Batches that the upstream has published anew since they were read; and, if asked, those never read."""
    if not isinstance(bound.source, WindowSource):
        return []
    files, marks = upstream_files(bound, bound.source)
    reports, states = last_accumulated(bound.store), bound.store.snapshot(bound.frame_sets[0].table)
    read = {batch.interval.start_us: batch.newest_us for batch in accumulated(bound, states)}
    found = []
    for start, theirs in files.items():
        if start in read and start in reports:
            before = {file.path for file in manifest(reports[start])}
            news = before != {file.path for file in theirs} or read[start] != marks[start]
        else:
            news = unread and start >= bound.pipeline.intervals.first_us
        if news:
            found.append(Interval(start, bound.pipeline.intervals.after(start)))
    return sorted(found)
