"""Logs as long as those of a life: a history that is run in bulk is few commits, one that was lived is one or two a batch."""

from pathlib import Path

import pyarrow as pa
from deltalake import DeltaTable

from muntin.store.log_append import append
from muntin.store.store import Change

DAYS = 7
"""So long the commits of a log are kept."""


def lengthen(root: Path, batches: int, batches_a_day: int) -> None:
    """Give each table below a folder a commit that changes no file for each batch of the last days, and a checkpoint."""
    for log in sorted(root.rglob("_delta_log")):
        table = DeltaTable(str(log.parent))
        first, nothing = table.version(), Change(pa.schema([]), [], [], ["benchmark"])
        for version in range(first, first + min(batches, DAYS * batches_a_day)):
            append(log.parent, version, nothing, 0)
        table.update_incremental()
        table.create_checkpoint()
