"""What the footers of Parquet files tell of splits before their rows are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from muntin.files.readable import readable_footer
from muntin.jobs.run.bundles import MOST_ROWS, SMALL, Seen
from muntin.jobs.run.windows_together import seen_windows
from muntin.sources.listing import source_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muntin.jobs.bound import Bound
    from muntin.jobs.run.shares import Split


def may_bundle(bound: Bound) -> bool:
    """Whether splits of a pipeline may be read together: of Parquet files with events, or of windows of an upstream."""
    return bound.source.bundles


def seen(bound: Bound, splits: Sequence[Split]) -> list[Seen | None]:
    """Each split with its files as they are; None for a split to be read alone.

    A file that is gone or damaged is to be read alone, which says what is wrong.
    """
    if bound.source.batch_column:
        return seen_windows(bound, splits)
    last: pq.ParquetSchema | None = None
    number, out = 0, list[Seen | None]()
    for split in splits:
        try:
            files = [source_file(bound.source, path) for path in split.paths]
            footers = (
                [pq.read_metadata(readable_footer(path)) for path in split.paths] if _is_small(split, [file.size for file in files]) else []
            )
        except (OSError, pa.ArrowException):
            footers = []
        if footers and (last is None or not footers[0].schema.equals(last)):
            last, number = footers[0].schema, number + 1
        same = bool(footers) and all(footer.schema.equals(last) for footer in footers)
        rows = [footer.num_rows for footer in footers]
        out.append(Seen(split, files, rows, number) if same and sum(rows) <= MOST_ROWS else None)
    return out


def _is_small(split: Split, sizes: Sequence[int]) -> bool:
    return split.only and split.mark_us is None and sum(sizes) <= SMALL
