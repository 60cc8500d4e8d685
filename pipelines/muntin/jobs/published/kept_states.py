"""States that are gone, as the definition's `retain` says; and the refusal of what would need them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.definition.durations import spell
from muntin.definition.instants import BEFORE_ALL, spell_instant
from muntin.definition.spelling import many
from muntin.errors import StateError
from muntin.jobs.published.pending import accumulated
from muntin.timeline.history import missing_states, reaching

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muntin.definition.schedule import Interval
    from muntin.jobs.published.pending import Pending
    from muntin.jobs.state.bound import Bound
    from muntin.timeline.batches import Batches


def expired_to(bound: Bound) -> int:
    """The end of the last batch whose states are gone, microseconds; `BEFORE_ALL` while all are there."""
    tables = (
        accumulated(bound, frames.table, bound.store.snapshot(frames.table)) for frames in bound.frame_sets
    )
    return max(
        (int(batches.end_us[batches.expired].max(initial=BEFORE_ALL)) for batches in tables),
        default=BEFORE_ALL,
    )


def check_kept(bound: Bound, intervals: Sequence[Interval]) -> None:
    """Refuse to read batches again that lie among batches whose states are gone, if the definition still says
    so.
    """
    if gone := without_states(bound, intervals):
        to_us, first = expired_to(bound), gone[0]
        raise StateError(
            f"{bound.pipeline.name}: {refusal(bound, to_us)}, so {first} cannot be read again: its windows"
            f" hold rows of the batches around it. Begin at {spell_instant(to_us)}; or leave retain out of"
            " the definition, and run all batches before that again, at once"
        )


def without_states(bound: Bound, intervals: Sequence[Interval]) -> list[Interval]:
    """The intervals that must not be read again: intervals before the last batch whose states are gone, while
    the definition says so.
    """
    if bound.pipeline.retention.states_us is None:
        return []
    to_us = expired_to(bound)
    return sorted(
        (interval for interval in intervals if interval.start_us < to_us),
        key=lambda interval: interval.start_us,
    )


def readable(bound: Bound, intervals: Sequence[Interval]) -> list[Interval]:
    """The other intervals, in order."""
    gone = set(without_states(bound, intervals))
    return [interval for interval in intervals if interval not in gone]


def refusal(bound: Bound, to_us: int) -> str:
    """The reason why states are gone, for a sentence."""
    kept_us = bound.pipeline.retention.states_us
    reason = f" (retain says {spell(kept_us)})" if kept_us else ""
    return f"states of batches before {spell_instant(to_us)} are gone{reason}"


def check_work(bound: Bound, pending: Pending) -> None:
    """Refuse to derive windows that lack states."""
    gone = missing_states(pending.history.batches, pending.work)
    if len(gone):
        batches = pending.history.batches.take(gone)
        raise StateError(
            f"{bound.pipeline.name}: windows of {pending.window} are to be derived from the states of"
            f" {many(len(gone), 'batch')} that are gone, {stretch(batches)}, as retain says. Nothing was"
            " published. Take back what makes them differ, as a change of the definition; or leave retain"
            f" out of it, and read these batches again, at once: muntin run FILE --root {bound.root}"
            f" {bound.pipeline.intervals.options(int(batches.start_us[0]), int(batches.end_us[-1]))}"
        )


def stretch(batches: Batches) -> str:
    """The time range of some batches."""
    return f"from {spell_instant(int(batches.start_us[0]))} to {spell_instant(int(batches.end_us[-1]))}"


def are_gone(batches: Batches, low_us: int, high_us: int) -> bool:
    """Whether states of frames in `[low_us, high_us)` are gone."""
    return bool((batches.expired & reaching(batches, low_us, high_us)).any())
