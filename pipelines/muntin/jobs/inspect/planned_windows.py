"""Windows that a run would derive anew: how many, and the published windows of the batches that it would read
again.

How a definition differs from that of the last run, and what that costs.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.definition.instants import instant_us
from muntin.definition.schedule import Interval
from muntin.jobs.accumulate.earlier_state import adoptable
from muntin.jobs.inspect.some_windows import newest_rows
from muntin.jobs.published.pending import accumulated, versions
from muntin.jobs.published.window_tables import current, published
from muntin.jobs.records.reports_table import last_accumulated
from muntin.jobs.state.bound import Bound
from muntin.jobs.state.definition_note import described, differences, read
from muntin.jobs.state.given_spans import as_published
from muntin.jobs.upkeep.rebuild import newest_earlier
from muntin.states.columns import BATCH, INSTANT
from muntin.store.delta import DeltaStore
from muntin.store.paths import batches_of_windows
from muntin.timeline.batches import Batches
from muntin.timeline.closing import watermarks
from muntin.timeline.history import history
from muntin.timeline.reconcile import reconcile


@dataclass(frozen=True, slots=True)
class Redefined:
    """The consequences of a changed definition.

    Attributes:
        changes: what is other, a sentence each; empty where the earlier definition was not noted.
        earlier: the fingerprint of the earlier state, if states hold something else now; None where they do
            not.
        batches, bytes: what must be read again for that: batches, and bytes of their files as they were read.
        windows: name of each published window whose results follow from other rules now -> how many windows
            are derived anew from states.
    """

    changes: tuple[str, ...]
    earlier: str | None
    batches: int
    bytes: int
    windows: dict[str, int]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def redefined(bound: Bound) -> Redefined | None:
    """How the definition differs from that of the last run; None where it does not, or where there was no
    run.
    """
    adopting = adoptable(bound) is not None
    ledgers = {name: (current if adopting else published)(bound.store, name).ledger for name in bound.windows}
    windows = {
        name: int(ledger.entries.published.sum())
        for name, ledger in ledgers.items()
        if ledger and (adopting or ledger.definition != bound.derivation(name))
    }
    lost = _to_read_again(bound)
    earlier = newest_earlier(bound) if lost else None
    if not earlier and not windows:
        return None
    noted = read(earlier or adoptable(bound) or bound.folder)
    changes = tuple(differences(noted, described(bound.pipeline))) if noted else ()
    return Redefined(changes, earlier.name if earlier else None, len(lost), sum(lost.values()), windows)


def _to_read_again(bound: Bound) -> dict[int, int]:
    """Start -> bytes of the batches that the newest earlier state has and the present state lacks."""
    earlier = newest_earlier(bound)
    if earlier is None or adoptable(bound):
        return {}
    there, reports = versions(bound), last_accumulated(DeltaStore(earlier))
    return {
        start: sum(entry[1] for entry in json.loads(said["files"]))
        for start, said in reports.items()
        if start not in there
    }


PLANNED = 1  # the version of a batch that is not read yet


@dataclass(frozen=True, slots=True)
class PlannedWindows:
    """The windows of one name that would be derived anew.

    Attributes:
        starts: of the batches that close them, microseconds; of windows that are handed from batch to batch
            at most these, see `timeline.parts`.
        published: how many of them are published now.
        expected: how many that may become, if a new batch closes as many as the mean of the known batches;
            None where nothing is published.
        missing: the intervals that are missing between batches.
    """

    starts: tuple[int, ...]
    published: int
    expected: int | None
    missing: tuple[Interval, ...]


def planned_windows(
    bound: Bound, name: str, asked: Sequence[Interval], anew: Sequence[Interval]
) -> PlannedWindows:
    """The plan of a run for the windows of one name. `anew`: batches of which the run would bring other
    states.

    `asked`: the intervals of the run, which say where history begins while nothing is published.
    """
    frames, was = bound.frames_of(name), published(bound.store, name)
    batches = _reread(
        accumulated(bound, frames.table),
        anew,
        len(bound.pipeline.sources),
    )
    starts = np.array([interval.start_us for interval in asked], np.int64)
    batch_history = history(batches, was.starts, starts, bound.pipeline.intervals)
    watermarks_us = watermarks(batch_history.batches, bound.pipeline.watermarking)
    then = as_published(bound, name, was.ledger)
    ledger_before = was.ledger if then else None
    work = reconcile(
        bound.windows[name],
        frames.width_us,
        batch_history.batches,
        watermarks_us,
        ledger_before,
        bound.derivation(name),
        then,
    )
    closing = batch_history.batches.start_us[work.positions]
    # what is not known closed none
    before = np.append(was.ledger.entries.windows if was.ledger else was.starts, 0)
    at = was.ledger.entries.position(closing) if was.ledger else np.full(len(closing), -1)
    count, new = int(before[at].sum()), int((at < 0).sum())
    expected = round(count + float(before[:-1].mean()) * new) if len(was.starts) else None
    return PlannedWindows(tuple(closing.tolist()), count, expected, batch_history.missing)


def _reread(batches: Batches, anew: Sequence[Interval], sources: int) -> Batches:
    """The batches as if the reading of some gave something else, over the frames they have now, or over their
    intervals if they are new.

    `sources`: how many there are, if there are several; each has rows in a new batch.
    """
    at = batches.position(np.array([interval.start_us for interval in anew], np.int64))
    version = batches.version.copy()
    version[at[at >= 0]] = PLANNED
    new = [interval for interval, is_read in zip(anew, (at >= 0).tolist(), strict=True) if not is_read]
    rows = (
        (each.start_us, each.end_us, PLANNED, each.end_us - 1, each.start_us, each.end_us - 1, 0, False)
        for each in new
    )
    expected = Batches.of(rows)
    expected = replace(expected, newest_by_source=np.tile(expected.newest_us[:, None], (1, sources)))
    return Batches.joined([replace(batches, version=version), expected])


def windows_of_batches(bound: Bound, window: str, starts: Sequence[datetime], *, limit: int) -> pa.Table:
    """Some of the windows that batches with given starts closed, the newest first; no rows where nothing is
    published.
    """
    now = published(bound.store, window)
    wanted = pa.array([instant_us(start, "batch") for start in starts], pa.int64()).cast(INSTANT)
    if now.snapshot.schema is None or not limit:
        return (now.snapshot.schema or pa.schema([])).empty_table()
    order = dict.fromkeys((*bound.keys_of(window), *bound.windows[window].order))
    condition = pc.field(BATCH).isin(wanted)
    return newest_rows(
        bound.table(now.table),
        now.snapshot,
        batches_of_windows,
        limit=limit,
        condition=condition,
        order=[*order],
    ).rows
