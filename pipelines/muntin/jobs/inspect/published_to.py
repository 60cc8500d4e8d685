"""How far windows are published, from the footers of a few files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from muntin.definition.instants import from_us, instant_us
from muntin.files.readable import readable_footer
from muntin.store.paths import batches_of_windows

if TYPE_CHECKING:
    from datetime import datetime

    from muntin.files.paths import AnyPath
    from muntin.store.store import Snapshot


def latest_end(folder: AnyPath, snapshot: Snapshot) -> datetime | None:
    """The latest end, from the footers of the files of the last batch: a later batch closes later windows."""
    last = max((bounds[1] for file in snapshot.files if (bounds := batches_of_windows(file.path))), default=None)
    files = [file.path for file in snapshot.files if (bounds := batches_of_windows(file.path)) and bounds[1] == last]
    return max((_maximum(pq.read_metadata(readable_footer(f"{folder}/{path}")), "window_end") for path in files), default=None)


def _maximum(footer: pq.FileMetaData, column: str) -> datetime:
    """The largest instant of a column, from the statistics of a file."""
    at = footer.schema.names.index(column)
    latest = max(footer.row_group(group).column(at).statistics.max for group in range(footer.num_row_groups))
    return from_us(instant_us(latest, column))
