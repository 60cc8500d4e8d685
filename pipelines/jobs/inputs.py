"""What a batch is read from: files by template, or the files that an upstream pipeline published."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.definition.frame_sets import frame_sets
from pipelines.definition.instants import label
from pipelines.definition.schedule import Interval
from pipelines.errors import SourceError
from pipelines.jobs.reports import last_accumulated
from pipelines.jobs.todo import accumulated, published
from pipelines.sources.listing import SourceFile, source_files
from pipelines.sources.windows import WindowSource
from pipelines.store.delta import DeltaStore
from pipelines.store.paths import batch_of_windows
from pipelines.store.state import state_folder
from pipelines.timeline.closing import NEVER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pipelines.definition.pipeline import Pipeline
    from pipelines.store.store import Store


@dataclass(frozen=True, slots=True)
class Inputs:
    """What some batches are read from.

    Attributes:
        files: of each interval, in order.
        marks: start of the interval -> how far time is known after it, in microseconds, where the source says so itself.
    """

    files: Mapping[Interval, list[SourceFile]]
    marks: Mapping[int, int | None]


def inputs(pipeline: Pipeline, store: Store, intervals: Sequence[Interval]) -> Inputs:
    """The files of some intervals.

    Raises:
        SourceError: an interval has none and the source says that is an error; or the upstream has not published it.
    """
    if not isinstance(pipeline.source, WindowSource):
        return Inputs({interval: source_files(pipeline.source, interval) for interval in intervals}, {})
    known, marks = upstream_files(pipeline.source, store)
    for interval in intervals:
        if interval.start_us not in known:
            name = pipeline.source.upstream.name
            raise SourceError(
                f"{name} has not published the batch {interval} of its window {pipeline.source.window!r}; run {name} over it first"
            )
    return Inputs({interval: known[interval.start_us] for interval in intervals}, {i.start_us: marks[i.start_us] for i in intervals})


def upstream_files(source: WindowSource, store: Store) -> tuple[dict[int, list[SourceFile]], dict[int, int | None]]:
    """Of each batch that the upstream has published: its files, and how far time is known after it, if at all."""
    theirs = DeltaStore(state_folder(source.upstream, Path(store.root).parent.parent))
    now = published(theirs, source.window)
    table = Path(theirs.root, "windows", source.window)
    files: dict[str, list[SourceFile]] = {}
    for file in sorted(now.snapshot.files, key=lambda file: file.path):
        files.setdefault(batch_of_windows(file.path), []).append(SourceFile(str(table / file.path), file.size, 0))
    entries = now.ledger.entries if now.ledger else ()
    marks = {entry.start_us: entry.mark_us - source.behind_us if entry.mark_us > NEVER else None for entry in entries}
    return {entry.start_us: files.get(label(entry.start_us), []) for entry in entries}, marks


def news_from_upstream(pipeline: Pipeline, store: Store, *, unread: bool = False) -> list[Interval]:
    """Batches that the upstream has published anew since they were read; and, if asked, those never read."""
    if not isinstance(pipeline.source, WindowSource):
        return []
    files, marks = upstream_files(pipeline.source, store)
    reports, states = last_accumulated(store), store.snapshot(frame_sets(pipeline)[0].table)
    read = {batch.interval.start_us: batch.newest_us for batch in accumulated(states, pipeline)}
    found = []
    for start, theirs in files.items():
        if start in read and start in reports:
            before = {path for path, *_ in json.loads(reports[start]["files"])}
            news = before != {file.path for file in theirs} or read[start] != marks[start]
        else:
            news = unread and start >= pipeline.intervals.first_us
        if news:
            found.append(Interval(start, pipeline.intervals.after(start)))
    return sorted(found)
