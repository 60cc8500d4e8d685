"""The plan of a run or a backfill of a range: its batches, the windows that may change,
and how to begin it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from muntin.definition.instants import from_us, instant_us
from muntin.definition.spelling import many
from muntin.errors import DefinitionError, SourceError
from muntin.extensions.page.views.commands import Again, again
from muntin.extensions.page.views.seen import Key, Seen, keys_of
from muntin.jobs.inspect.plan import Plan, plan
from muntin.jobs.inspect.planned_windows import windows_of_batches
from muntin.jobs.inspect.status import changed_batches
from muntin.states.columns import BATCH
from muntin.states.sorted import instants

MOST = 400
"""So many batches are planned on the page."""
ROWS = 20
"""So many windows of each name are listed."""


@dataclass(frozen=True, slots=True)
class Touched:
    """The windows of one name that may change.

    Attributes:
        window, keys: the name, and the key columns.
        batches: from how many batches they are derived anew.
        published: how many of them are published now.
        expected: how many there will be, about; None where nothing is known.
        rows: some of them: key, start, end and start of the closing batch, microseconds.
    """

    window: str
    keys: tuple[str, ...]
    batches: int
    published: int
    expected: int | None
    rows: tuple[tuple[Key, int, int, int], ...]


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan; `again`: how it is carried out."""

    plan: Plan
    touched: tuple[Touched, ...]
    again: Again | None


def changed(at: Seen, now_us: int) -> str:
    """A sentence on the newest thousand batches, as far as they have changed at the source; "" of none."""
    try:
        starts = changed_batches(at.bound, [], from_us(now_us))
    except SourceError as wrong:
        return f"The source cannot be compared: {wrong}"
    return (
        f"{many(len(starts), 'batch')} changed at the source, oldest {starts[0]:%Y-%m-%d %H:%M}; to be read"
        " again by the next run."
        if starts
        else ""
    )


def planned(at: Seen, start: datetime, end: datetime) -> Planned:
    """The plan of a run of `[start, end)`.

    Neither files nor suites are opened. More than `MOST` batches are refused.
    """
    intervals = at.pipeline.intervals.intervals(instant_us(start, "from"), instant_us(end, "to"))
    if len(intervals) > MOST:
        raise DefinitionError(
            f"{len(intervals):,} batches are too many for a page, which plans {MOST}; muntin plan takes any"
            " range"
        )
    run_plan = plan(at.pipeline, root=at.place.root, start=start, end=end, validate=False, check=False)
    how = (
        again(at.place, intervals[0].start_us, intervals[-1].end_us, intervals[-1].start_us)
        if intervals
        else None
    )
    return Planned(run_plan, tuple(_touched(at, run_plan, name) for name in at.pipeline.windows), how)


def _touched(at: Seen, run_plan: Plan, window: str) -> Touched:
    starts, counts = run_plan.windows[window], run_plan.counts[window]
    rows = windows_of_batches(at.bound, window, starts, limit=ROWS)
    bounds = (
        instants(rows[name]).tolist() if len(rows) else [] for name in ("window_start", "window_end", BATCH)
    )
    named = zip(keys_of(at, window, rows), *bounds, strict=True) if len(rows) else ()
    return Touched(
        window, at.pipeline.keys_of(window), len(starts), counts.published, counts.expected, tuple(named)
    )
