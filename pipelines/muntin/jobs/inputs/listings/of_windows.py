"""Windows of an upstream: the files that it has published.

A file never changes; the upstream may publish other files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from muntin.definition.schedule import Interval
from muntin.jobs.inputs.listings.listing import Inputs, first_interval
from muntin.jobs.inputs.upstream import other_windows, upstream
from muntin.jobs.records.reports_table import manifest
from muntin.jobs.state.bound import Bound
from muntin.sources.listing import SourceFile, not_there
from muntin.sources.upstream_windows import WindowSource


def inputs(
    bound: Bound, intervals: Sequence[Interval], *, allow_missing: bool, keep: bool, there: bool
) -> Inputs:
    """The inputs, as `muntin.jobs.inputs.inputs.inputs` gives them."""
    source = _source(bound)
    starts = np.array([interval.start_us for interval in intervals], np.int64)
    theirs = upstream(bound, source)
    for interval, at in zip(intervals, theirs.entries.position(starts).tolist(), strict=True):
        if at < 0:
            name = source.upstream.name
            raise not_there(
                f"{name} has not published the batch {interval} of its window {source.window!r}; run {name}"
                " over it first"
            )
    published = theirs.files(starts)
    return Inputs(
        {interval: published[interval.start_us] for interval in intervals}, theirs.watermarks_us(starts)
    )


def without_files(bound: Bound, intervals: Sequence[Interval]) -> list[Interval]:
    """No intervals: an interval without windows is an empty batch."""
    return []


def first_inputs(bound: Bound) -> Inputs:
    """The files of the first interval that has any."""
    return first_interval(
        bound, lambda interval: inputs(bound, [interval], allow_missing=False, keep=False, there=False)
    )


def difference(bound: Bound, report: Mapping[str, Any], files: Sequence[SourceFile]) -> str | None:
    """Whether the upstream has published other windows of a batch than were read."""
    return "published anew" if other_windows(manifest(report), files) else None


def _source(bound: Bound) -> WindowSource:
    return bound.source  # type: ignore[return-value]  # this listing is that of this kind
