"""Checkpoints of a Delta log, so that few commits are read separately; and the end of old commits.

https://github.com/delta-io/delta/blob/master/PROTOCOL.md#checkpoints
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from deltalake.exceptions import DeltaError

if TYPE_CHECKING:
    from deltalake import DeltaTable

log = logging.getLogger("muntin")
_COMMITS = 20
_CHECKPOINTS = 16  # a clean-up reads every file of the log
SETTINGS = {"delta.checkpointInterval": str(_COMMITS), "delta.logRetentionDuration": "interval 7 days"}


def shorten(opened: DeltaTable, version: int) -> None:
    """Behind every 20th commit, write a checkpoint; behind every 320th, remove commits older than the log must reach.

    Args:
        opened: the table; it is brought up to date.
        version: the commit that was made.
    """
    if version % _COMMITS:
        return
    try:
        opened.update_incremental()
        opened.create_checkpoint()
        if version % (_COMMITS * _CHECKPOINTS) == 0:
            opened.cleanup_metadata()
    except (DeltaError, OSError) as wrong:  # the commit is made all the same
        log.warning("%s: no checkpoint behind commit %d (%s); a later commit tries again", opened.table_uri, version, wrong)
