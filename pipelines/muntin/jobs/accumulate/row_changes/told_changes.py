"""The rows of later batches that change rows of some batches or take them back, for people: where they stand,
and what they say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from muntin.definition.instants import from_us
from muntin.definition.schedule import Interval
from muntin.jobs.accumulate.row_changes.later_batches import later_of
from muntin.jobs.accumulate.row_changes.later_rows import rows_among
from muntin.jobs.accumulate.shares import Share
from muntin.jobs.deduplication.known import earlier_ids, known_ids
from muntin.jobs.quarantine.refused_places import placed
from muntin.sources.reading.refused_rows import whole_row
from muntin.states.columns import FAULT, FILE_PATH, ROW_IN_SPLIT

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from datetime import datetime

    from muntin.jobs.accumulate.shares import Later
    from muntin.jobs.deduplication.earlier import Earlier
    from muntin.jobs.state.bound import Bound

_BACK, _CHANGED = "takes a row back", "changes a row"


@dataclass(frozen=True, slots=True)
class ToldChange:
    """A row that changes a row of an earlier batch.

    Attributes:
        batch: start of the batch whose row it changes.
        by: start of its own batch.
        what: "takes a row back" or "changes a row".
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
        takes_back = share.bound.source.changes.takes_back  # type: ignore[union-attr]  # changes were asked for
        query = (
            f"SELECT NULL AS {FAULT}, {FILE_PATH}, {ROW_IN_SPLIT}, CASE WHEN {takes_back} THEN '{_BACK}' ELSE"
            f" '{_CHANGED}' END AS reason, {whole_row(rows.columns)} AS row FROM {rows.rows}"
        )
        table = placed(rows.session, rows.session.sql(query).to_arrow_table(), rows.files, ())
    batches = from_us(home_us), from_us(later.batch_us)
    for each in table.to_pylist():
        if each["reason"] in (_BACK, _CHANGED):  # the remaining rows are bad rows of the files
            step = later.steps.get(each["file"])
            version = step.version if step else None
            yield ToldChange(
                *batches, each["reason"], version, each["file"], each["position"], each["line"], each["row"]
            )
