"""Check that not too many rows of a batch are in the quarantine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from muntin.definition.amounts import many
from muntin.errors import SourceError
from muntin.files.pages import opened
from muntin.states.columns import BATCH, INSTANT
from muntin.store.paths import QUARANTINE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from muntin.definition.schedule import Interval
    from muntin.jobs.accumulate.read_batches import Read
    from muntin.jobs.state.bound import Bound

_SHOWN = 3


def check_share(bound: Bound, intervals: Sequence[Interval], done: Read) -> None:
    """Refuse batches with a larger share of rows in the quarantine than the definition allows.

    Raises:
        SourceError: names the batches, and the first rows with their reasons.
    """
    most = bound.pipeline.max_quarantined
    over = [] if most is None else [found for interval in intervals if (found := _over(interval, done, most))]
    if not over:
        return
    listed = "; ".join(text for _, text in over[:_SHOWN]) + (
        f"; and {many(len(over) - _SHOWN, 'more batch')}" if len(over) > _SHOWN else ""
    )
    rows = "".join(f"\n  {spelled_row(row)}" for row in _rows(bound, done, over[0][0]))
    raise SourceError(
        f"{listed}; max_quarantined={most} allows less, so no batch of this run is committed. "
        f"Mend the files or the definition, or raise max_quarantined. The first rows:{rows}"
    )


def spelled_row(row: Mapping[str, Any]) -> str:
    """A row of the quarantine in a line: where it is, why it was refused, and its text."""
    at = row["file"] if row["position"] is None else f"{row['file']}, row {row['position'] + 1}"
    where = f"{row['file']}, line {row['line']}" if row.get("line") is not None else at
    return f"{where}: {row['reason']}" + (f": {row['row']}" if row["row"] is not None else "")


def _over(interval: Interval, done: Read, most: float) -> tuple[Interval, str] | None:
    """A batch with too many rows in the quarantine, in words; None if it is not."""
    read, refused = (sum(split[what] for split in done.splits[interval.start_us]) for what in ("read", "refused"))
    if refused <= most * read:
        return None
    return interval, f"{interval}: {refused:,} of {many(read, 'row')} ({refused / read:.2%}) are in the quarantine"


def _rows(bound: Bound, done: Read, interval: Interval) -> Iterator[Mapping[str, Any]]:
    """The first refused rows of a batch."""
    start, left = pa.scalar(interval.start_us, pa.int64()).cast(INSTANT), _SHOWN
    for file in done.refused:
        table = opened(f"{bound.folder}/{QUARANTINE}/{file.path}").read()
        table = table.filter(pc.equal(table[BATCH], start))
        yield from table.slice(0, left).to_pylist()
        left -= min(left, len(table))
