"""The rows of later batches that change rows of some batches or take them back: the later batches, as was
decided when windows were made last; the batches that a run would read again for them; and, for people, where
the rows stand and what they say.

To foresee, new batches are read for their ids, and compared with the ids that are known. Only batches that
lie behind a known batch by no more than rows may change are read; nothing is written.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from muntin.definition.instants import from_us
from muntin.definition.schedule import Interval
from muntin.jobs.accumulate.later_rows import ids_in, rows_among
from muntin.jobs.accumulate.readings import SourceSplits
from muntin.jobs.accumulate.shares import Later, Share, steps_of_files
from muntin.jobs.deduplication.earlier import Earlier, names_of_changes
from muntin.jobs.deduplication.kept_decisions import changed_by, changers, earlier_ids, known_ids
from muntin.jobs.inputs.inputs import inputs
from muntin.jobs.inputs.listings.listing import Inputs
from muntin.jobs.quarantine.refused_places import placed
from muntin.jobs.state.bound import Bound
from muntin.sources.listing import SourceFile
from muntin.sources.reading.refused_rows import whole_row
from muntin.states.columns import FAULT, FILE_PATH, ROW_IN_SPLIT


def with_later(bound: Bound, readings: Sequence[SourceSplits]) -> list[SourceSplits]:
    """Readings whose splits know the later batches that change their rows.

    Where that is not known yet, or is otherwise by now, the batch is read again before windows are made; see
    `jobs.finalize.settle`. The files of a later batch must be there.
    """
    _, later = later_of(bound, {split.batch_us for reading in readings for split in reading.splits})
    return [
        reading._replace(splits=[replace(split, later=later[split.batch_us]) for split in reading.splits])
        for reading in readings
    ]


def later_of(bound: Bound, starts: Collection[int]) -> tuple[Bound, dict[int, tuple[Later, ...]]]:
    """The definition with what only reading tells of its source, and the later batches that change rows of
    each of some batches.

    `bound`: of a source with changes. `starts`: of the batches.
    """
    changers_by_home = changers(bound, starts)
    after = bound.pipeline.intervals.after
    intervals = {
        start: Interval(start, after(start))
        for changing in changers_by_home.values()
        for start, _ in changing
    }
    given = inputs(bound, [intervals[start] for start in sorted(intervals)]) if intervals else Inputs({}, {})
    files = {interval.start_us: batch_files for interval, batch_files in given.files.items()}
    later = {
        home: tuple(later_batch(intervals[start], files[start]) for start, _ in changing)
        for home, changing in changers_by_home.items()
    }
    return given.of(bound), later


def later_batch(interval: Interval, files: Sequence[SourceFile]) -> Later:
    """A batch by its files."""
    return Later(
        interval.start_us, interval.end_us, tuple(file.path for file in files), steps_of_files(files)
    )


WHY = "rows of later batches change rows of it or take them back (within= of rows)"


def foreseen(bound: Bound, given: Inputs, anew: Sequence[Interval]) -> dict[Interval, str]:
    """Known batches that would be read again, each with the reason in words. `anew`: the batches that are new
    or have changed.

    Their files are read.
    """
    changes = bound.source.changes
    noted_ids = known_ids(bound) if bound.source.changes else None
    if changes is None or noted_ids is None or not len(noted_ids.batches):
        return {}
    starts = noted_ids.batches.start_us
    own = np.array([each.start_us for each in anew], np.int64)
    near = [
        each
        for each in anew
        if ((starts < each.start_us) & (starts >= each.start_us - changes.within_us)).any()
    ]
    bound = given.of(bound)
    earlier = earlier_ids(bound, noted_ids, anew)
    share = Share(bound, (), {}, earlier=replace(earlier, left_out=(*earlier.left_out, *own.tolist())))
    homes = {home for each in near for home in _homes(share, each, given)}
    after = bound.pipeline.intervals.after
    return {Interval(home, after(home)): WHY for home in sorted(homes & {*starts.tolist()} - {*own.tolist()})}


def _homes(share: Share, interval: Interval, given: Inputs) -> set[int]:
    """Starts of the batches whose rows a batch changes otherwise than when it was read last."""
    assert share.earlier is not None, "batches are compared"  # noqa: S101 - as said
    before = {*changed_by(share.bound, interval.start_us)}
    files = given.files.get(interval, [])
    if not files:
        return {home for home, _ in before}
    ids = ids_in(share, later_batch(interval, files))
    home, names = names_of_changes(ids, share.earlier.homes(ids, share.earlier.begins[interval.start_us]))
    return {start for start, _ in before ^ {*zip(home.tolist(), names.tolist(), strict=True)}}


_BACK, _CHANGED = "takes a row back", "changes a row"


@dataclass(frozen=True, slots=True)
class ToldChange:
    """A row that changes a row of an earlier batch.

    Attributes:
        batch: start of the batch whose row it changes.
        by: start of its own batch.
        what: "takes a row back" or "changes a row", with `newest_by` if it is the newest.
        version: of a Delta table, the version whose commit it is of.
        file: its file, or the address of its topic and partition.
        position: its number in the file, from 0.
        line: its line in a file of text; the offset of a message.
        row: the row as JSON.
    """

    batch: datetime
    by: datetime
    what: str
    version: int | None
    file: str
    position: int | None
    line: int | None
    row: str


def told_changes(bound: Bound, starts: Collection[int]) -> tuple[ToldChange, ...]:
    """The changes of rows of some batches, by batch, as was decided when windows were made last.

    Files of later batches are read.
    """
    noted_ids = known_ids(bound) if bound.source.changes else None
    if not noted_ids or not starts:
        return ()
    bound, later = later_of(bound, starts)
    batches = {
        each.batch_us: Interval(each.batch_us, each.end_us)
        for changing in later.values()
        for each in changing
    }
    earlier = earlier_ids(bound, noted_ids, [*batches.values()])
    share = Share(bound, (), {}, earlier=earlier)
    return tuple(
        change
        for home, changing in sorted(later.items())
        for each in changing
        for change in _told(share, earlier, home, each)
    )


def _told(share: Share, earlier: Earlier, home_us: int, later: Later) -> Iterator[ToldChange]:
    """The rows of a later batch that change rows of a batch."""
    ids = earlier.ids_of(np.array([later.batch_us]))
    homes = earlier.homes(ids, int(earlier.begins[later.batch_us]))
    ids = ids.take((homes.batch == home_us) & ~homes.late)
    with rows_among(share, later, ids) as rows:
        if not rows:
            return
        changes = share.bound.source.changes
        assert changes is not None  # noqa: S101 - changes were asked for
        if_newest = ", if it is the newest" if changes.newest_by else ""
        query = (
            f"SELECT NULL AS {FAULT}, {FILE_PATH}, {ROW_IN_SPLIT}, CASE WHEN {changes.takes_back} THEN"
            f" '{_BACK}{if_newest}' ELSE '{_CHANGED}{if_newest}' END AS reason,"
            f" {whole_row(rows.columns)} AS row FROM {rows.rows}"
        )
        table = placed(rows.session, rows.session.sql(query).to_arrow_table(), rows.files, ())
    batches = from_us(home_us), from_us(later.batch_us)
    for each in table.to_pylist():
        if each["reason"].startswith((_BACK, _CHANGED)):  # the remaining rows are bad rows of the files
            step = later.steps.get(each["file"])
            version = step.version if step else None
            yield ToldChange(
                *batches, each["reason"], version, each["file"], each["position"], each["line"], each["row"]
            )
