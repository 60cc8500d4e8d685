"""Settle: batches whose states follow an outdated decision about rows of other batches are read again, before
windows are made.

A batch is decided against the ids of the earlier batches that are known when it is read. Batches are read in
any order, at the same time, and again, so a decision may turn out wrong. Windows are made only of states
whose decisions are right:

batch 1 read      batch 3 read      batch 2 read      finalize: 3 is compared with 2, too; if other rows of it
are duplicates now,
                                                      it is read again
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from muntin.definition.schedule import Interval
from muntin.definition.spelling import many
from muntin.errors import ConflictError, SourceError
from muntin.jobs.accumulate.accumulate import accumulate
from muntin.jobs.deduplication.changed_rows import together
from muntin.jobs.deduplication.decisions import decisions
from muntin.jobs.inputs.dimensions.lookup_log import noted_names
from muntin.jobs.published.pending import pending_windows
from muntin.jobs.records.reports_table import record_accumulated, utc_now
from muntin.timeline.batches import UNDECIDED, Batches

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from muntin.jobs.published.pending import Pending
    from muntin.jobs.state.bound import Bound
    from muntin.states.frames import Ints
    from muntin.tasks import Runner
    from muntin.timeline.batches import Versions

_TRIES = 4
_WHY = {
    False: (
        "other rows of it are duplicates than when it was read (within= of rows): an earlier batch came "
        "later, or was replaced"
    ),
    True: "rows of later batches change rows of it or take them back (within= of rows)",
}


def settled(bound: Bound, runner: Runner, asked: Iterable[int]) -> list[Pending]:
    """The batches of each window to derive anew, from states whose decisions about duplicates are right.

    `asked`: as for `pending_windows`. A batch may have to be read again: its source must be there.
    """
    asked = list(asked)
    for _ in range(_TRIES):
        windows = pending_windows(bound, asked)
        wrong = wrongly_decided(bound, runner, windows) if bound.source.dedupe_within_us is not None else []
        if not wrong:
            return windows
        _read_again(bound, runner, wrong)
    raise ConflictError(
        f"{bound.pipeline.name}: other runs keep replacing batches; run again when they are done"
    )


def wrongly_decided(bound: Bound, runner: Runner, windows: Sequence[Pending]) -> list[Interval]:
    """The batches of the history of a window whose states were made by a decision that is not right."""
    history_starts = reduce(
        np.intersect1d,
        (np.union1d(each.history.batches.start_us, each.history.waiting.start_us) for each in windows),
    )
    wanted = reduce(
        np.union1d,
        (batches.start_us[~batches.expired] for each in windows for batches in [each.history.batches]),
    )
    right = _with_met(bound, history_starts, decisions(bound, runner, history_starts, wanted))
    wrong_starts = (_wrong(each.history.batches, history_starts, right) for each in windows)
    after = bound.pipeline.intervals.after
    return [
        Interval(start, after(start))
        for start in sorted({start for starts in wrong_starts for start in starts.tolist()})
    ]


def _with_met(bound: Bound, starts: Ints, decided: Versions) -> Versions:
    """The names of decisions together with the names of what batches looked up."""
    if not bound.pipeline.lookups:
        return decided
    pairs = zip(decided.tolist(), noted_names(bound, starts).tolist(), strict=True)
    return np.array([together(name, (met,)) if name != UNDECIDED else name for name, met in pairs], np.uint64)


def _wrong(batches: Batches, history_starts: Ints, right: np.ndarray) -> Ints:
    """Starts of the batches with another decision. States that are gone stay as they are."""
    at = np.searchsorted(history_starts, batches.start_us).clip(max=max(len(history_starts) - 1, 0))
    same = (
        (history_starts[at] == batches.start_us) & (right[at] == batches.decided)
        if len(history_starts)
        else np.zeros(len(batches), np.bool_)
    )
    return batches.start_us[~same & ~batches.expired]


def _read_again(bound: Bound, runner: Runner, wrong: Sequence[Interval]) -> None:
    try:
        batch_summaries = accumulate(bound, runner, wrong)
    except SourceError as gone:
        raise SourceError(
            f"{many(len(wrong), 'batch')} must be read again, the first {wrong[0]}, since"
            f" {_WHY[bound.source.changes is not None]}. Nothing was published. {gone}"
        ) from gone
    record_accumulated(bound.store, batch_summaries, utc_now(), decided_anew=True)
