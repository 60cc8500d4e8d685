"""The facts about the batches of a pipeline, from ledgers, states, reports, verdicts and the notes of runs;
and the states they make.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa

from muntin.definition.instants import instant_us
from muntin.errors import DefinitionError
from muntin.jobs.published.pending import Pending, pending_windows
from muntin.jobs.records.approvals import approvals_in, spelled_approval
from muntin.jobs.records.attempts import Attempt, attempts
from muntin.jobs.records.batch_states import STATES, BatchState, Facts, Held, State, state_of
from muntin.jobs.records.batch_times import Times, corrected_in, published_at, reports_of
from muntin.jobs.records.verdicts import last_verdicts
from muntin.jobs.state.bound import Bound
from muntin.states.frames import Ints, is_among

RECENT = 10
"""So many of the newest batches are told one by one, beside all that are neither published nor corrected."""
DUE = 3
"""So many intervals after the last batch are told, of a pipeline that keeps up with the clock."""


@dataclass(frozen=True, slots=True)
class BatchStates:
    """The states of all batches of a pipeline.

    Attributes:
        counts: state -> number of batches; every state is there.
        listed: the batches neither published nor corrected, the batches published despite a failed suite, and
            the newest batches, ascending.
        keeps_up: whether the last batch was read within two intervals of its end: a pipeline that works
            through the past does not keep up.
        corrected: starts of the batches that were read again from another source.
        last: start and end of the last batch that was read.
        published_us: when something was last published.
    """

    counts: Mapping[State, int] = field(default_factory=lambda: dict.fromkeys(STATES, 0))
    listed: tuple[BatchState, ...] = ()
    keeps_up: bool = False
    corrected: frozenset[int] = frozenset()
    last: tuple[int, int] | None = None
    published_us: int | None = None

    def settled(self, start_us: int, end_us: int) -> BatchState:
        """The state of a batch that is not listed singly."""
        return BatchState(start_us, end_us, "corrected" if start_us in self.corrected else "published")

    @property
    def despite(self) -> list[BatchState]:
        """The batches that were published despite a failed suite."""
        return [each for each in self.listed if each.despite]

    def of(self, *states: State) -> list[BatchState]:
        return [each for each in self.listed if each.state in states]


def batch_states(
    bound: Bound,
    now_us: int,
    *,
    windows: Sequence[Pending] | None = None,
    airflow_runs: Sequence[Attempt] | None = None,
) -> BatchStates:
    """The states of the batches of a pipeline, whose state exists. `windows`: the pending windows, where they
    are known.

    `airflow_runs`: the runs that Airflow knows; they count before notes of the same runs.
    """
    windows = pending_windows(bound, []) if windows is None else windows
    table = reports_of(bound)
    verdicts = []
    for window in bound.pipeline.guarded:
        newest: Mapping[str, Any] | None = next(iter(last_verdicts(bound.folder, window)), None)
        if newest and newest["status"] == "failed" and newest["batches"]:
            from muntin.quality.report import spelled_check

            at_us = instant_us(datetime.fromisoformat(newest["recorded_at"]), "recorded_at")
            checks = tuple(spelled_check(each) for each in newest["checks"] if each["success"] is False)
            culprits, batches = newest.get("culprits"), tuple(newest["batches"])
            said = Held(
                window,
                at_us,
                newest["verdict"],
                checks,
                newest.get("name"),
                None if culprits is None else tuple(culprits),
                batches,
            )
            verdicts.append(said)
    runs, held, corrected = together(attempts(bound.folder), airflow_runs), verdicts, corrected_in(table)
    parts = (windows[0].history.batches, windows[0].history.waiting)
    last = max(((int(part.start_us[-1]), int(part.end_us[-1])) for part in parts if len(part)), default=None)
    keeps_up = last is not None and _keeps_up(*last, table)
    every = _Every.of(
        windows, [*(_due(bound, last[1], now_us) if last and keeps_up else ()), *_asked(bound, runs)]
    )
    approved = {start: spelled_approval(said) for start, said in approvals_in(table).items()}
    is_of_run = np.zeros(len(every.starts), np.bool_)
    for first, end in (span for each in runs for span in each.spans):
        is_of_run |= (every.starts >= first) & (every.ends <= end)
    chosen = ~every.published | is_of_run | (np.arange(len(every.starts)) >= len(every.starts) - RECENT)
    chosen |= is_among(every.starts, np.array(sorted(approved), np.int64))
    times, is_corrected = Times.of(table, every.starts[chosen]), is_among(every.starts, corrected)
    facts = (_facts(every, at, corrected, times, runs, held) for at in np.flatnonzero(chosen).tolist())
    states_of_batches = tuple(state_of(replace(each, despite=approved.get(each.start_us))) for each in facts)
    counts = Counter[State](each.state for each in states_of_batches)
    counts.update(
        {"published": int((~chosen & ~is_corrected).sum()), "corrected": int((~chosen & is_corrected).sum())}
    )
    return BatchStates(
        {state: counts[state] for state in STATES},
        states_of_batches,
        keeps_up,
        frozenset(corrected.tolist()),
        last,
        published_at(table),
    )


@dataclass(frozen=True, slots=True)
class _Every:
    """All batches, missing intervals and intervals that are due, ascending."""

    starts: Ints
    ends: Ints
    read: np.ndarray
    published: np.ndarray
    first_missing_us: int | None

    @classmethod
    def of(cls, windows: Sequence[Pending], asked: Sequence[tuple[int, int]]) -> _Every:
        """The batches of a history; and the intervals that were asked for, or are due, and were not read."""
        history = windows[0].history
        batches = [(part.start_us, part.end_us) for part in (history.batches, history.waiting)]
        batch_starts = {start for starts, _ in batches for start in starts.tolist()} if asked else set[int]()
        more = {(hole.start_us, hole.end_us) for hole in history.missing} | {
            each for each in asked if each[0] not in batch_starts
        }
        holes = np.array(sorted(more), np.int64).reshape(-1, 2)
        starts = np.concatenate([*(start for start, _ in batches), holes[:, 0]])
        ends = np.concatenate([*(end for _, end in batches), holes[:, 1]])
        read = np.arange(len(starts)) < len(starts) - len(holes)
        published = read & np.logical_and.reduce([_is_published(window, starts) for window in windows])
        order = np.argsort(starts, kind="stable")
        missing = min((hole.start_us for hole in history.missing), default=None)
        return cls(starts[order], ends[order], read[order], published[order], missing)


def _is_published(window: Pending, starts: Ints) -> np.ndarray:
    """Whether the ledger of a window has the batches with the states that they have now."""
    if window.published.ledger is None:
        return np.zeros(len(starts), np.bool_)
    entries, history = window.published.ledger.entries, window.history
    ledger_at, at = entries.position(starts), history.batches.position(starts)
    there = (ledger_at >= 0) & (at >= 0)
    same = (
        np.append(entries.version, np.uint64(0))[ledger_at]
        == np.append(history.batches.version, np.uint64(0))[at]
    )
    return there & same


def _due(bound: Bound, border_us: int, now_us: int) -> list[tuple[int, int]]:
    """The intervals from a border on that have ended, at most `DUE`; none where windows of another pipeline
    say when.
    """
    intervals = list[tuple[int, int]]()
    if bound.pipeline.origin.upstream is not None:
        return intervals
    while len(intervals) < DUE and (end_us := bound.pipeline.intervals.after(border_us)) <= now_us:
        intervals.append((border_us, end_us))
        border_us = end_us
    return intervals


def _asked(bound: Bound, runs: Sequence[Attempt]) -> Iterator[tuple[int, int]]:
    """The intervals that runs are about, as the schedule has them now."""
    for first, end in (span for each in runs for span in each.spans):
        with suppress(DefinitionError):
            yield from (
                (each.start_us, each.end_us) for each in bound.pipeline.intervals.intervals(first, end)
            )


def _keeps_up(start_us: int, end_us: int, table: pa.Table | None) -> bool:
    """Whether the last batch was read within two intervals of its end: a pipeline that works through the past
    never keeps up.
    """
    read_us = Times.of(table, np.array([start_us])).first_read.get(start_us)
    return read_us is not None and read_us - end_us <= 2 * (end_us - start_us)


def together(own: Sequence[Attempt], airflow_runs: Sequence[Attempt] | None) -> list[Attempt]:
    """Our notes of runs, and Airflow's runs: these are as Airflow says, with what our note adds; a note of a
    run that has ended is old.
    """
    notes = {each.run: each for each in own}
    notes_of_processes = own if airflow_runs is None else [each for each in own if not each.link]
    theirs = (_completed(each, notes.get(each.run)) for each in airflow_runs or ())
    return sorted([*notes_of_processes, *theirs], key=lambda each: each.at_us)


def _completed(run: Attempt, note: Attempt | None) -> Attempt:
    """A run of Airflow's with the interval and the reason that our note has:

    Airflow's database keeps no error.
    """
    if note is None:
        return run
    reason = note.reason if note.phase == run.phase and note.step == run.step else run.reason
    return replace(run, spans=run.spans or note.spans, reason=reason)


def _facts(
    every: _Every,
    at: int,
    corrected: Ints,
    times: Times,
    runs: Sequence[Attempt],
    held: Sequence[Held],
) -> Facts:
    start_us, end_us, missing_us = int(every.starts[at]), int(every.ends[at]), every.first_missing_us
    return Facts(
        start_us,
        end_us,
        bool(every.read[at]),
        bool(every.published[at]),
        bool(is_among(every.starts[at : at + 1], corrected)[0]),
        missing_us if missing_us is not None and missing_us < start_us else None,
        times.read.get(start_us),
        times.published.get(start_us),
        next((each for each in reversed(runs) if each.covers(start_us, end_us)), None),
        max(
            (one for one in held if one.batches[0] <= start_us <= one.batches[1]),
            key=lambda one: (one.blames(start_us), one.at_us),
            default=None,
        ),
    )
