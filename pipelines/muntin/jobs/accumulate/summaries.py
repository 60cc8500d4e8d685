"""Summaries of the rows read of each batch, from the counts of its splits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from muntin.jobs.accumulate.shares import manifest_of_batch
from muntin.jobs.records.reports import Accumulated, ReadFile, SourceRows
from muntin.store.paths import source_of
from muntin.timeline.batches import spelled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muntin.definition.schedule import Interval
    from muntin.jobs.accumulate.read_batches import Read
    from muntin.jobs.state.bound import Bound
    from muntin.timeline.batches import Batches


_COUNTS = ("read", "taken", "refused", "twice", "ambiguous", "nonexistent", "forgotten")


def summaries(
    bound: Bound,
    batches: Batches,
    intervals: Sequence[Interval],
    task_files: Read,
    noticed: Mapping[int, tuple[str, ...]],
    hidden: Mapping[Interval, int],
) -> list[Accumulated]:
    """The summary of each batch that was read.

    `batches`: the facts of these batches; `hidden`: how many files were passed over.
    """
    names = tuple(bound.pipeline.sources)
    places = batches.position(np.array([interval.start_us for interval in intervals], np.int64))
    versions = batches.version[places].tolist() if len(places) else []
    return [
        replace(
            _summary(
                interval,
                spelled(version),
                task_files.splits[interval.start_us],
                noticed[interval.start_us],
                names,
            ),
            hidden=hidden.get(interval, 0),
        )
        for interval, version in zip(intervals, versions, strict=True)
    ]


def _summary(
    interval: Interval,
    version: str,
    splits: list[dict[str, Any]],
    noticed: tuple[str, ...],
    names: Sequence[str],
) -> Accumulated:
    newest = [one["newest"] for one in splits if one["newest"] is not None]
    rows, own = (
        _rows(splits),
        [
            (name, [one for one in splits if source_of(one["split"]) == number])
            for number, name in enumerate(names)
        ],
    )
    parts: list[tuple[str | None, list[dict[str, Any]]]] = [*own] if own else [(None, splits)]
    manifest = [(name, entry) for name, source_splits in parts for entry in manifest_of_batch(source_splits)]
    return Accumulated(
        interval,
        version,
        rows.read,
        rows.accepted,
        rows.quarantined,
        max(newest, default=None),
        tuple(replace(ReadFile(*entry), source=name) for name, entry in manifest),
        rows.duplicate,
        noticed,
        {name: _rows(source_splits) for name, source_splits in own},
        ambiguous=rows.ambiguous,
        nonexistent=rows.nonexistent,
        forgotten=rows.forgotten,
    )


def _rows(splits: Sequence[Mapping[str, Any]]) -> SourceRows:
    return SourceRows(*(sum(one[what] for one in splits) for what in _COUNTS))
