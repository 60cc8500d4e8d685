"""Checkpoints of a Delta log, so that few commits are read separately; and the end of old commits.

https://github.com/delta-io/delta/blob/master/PROTOCOL.md#checkpoints
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from deltalake.exceptions import DeltaError

from muntin.errors import StateError
from muntin.store.disk import write_whole
from muntin.store.log_check import HINT, hint_of

if TYPE_CHECKING:
    from deltalake import DeltaTable

    from muntin.files.paths import AnyPath

log = logging.getLogger("muntin")
_COMMITS = 20
_CHECKPOINTS = 16  # a clean-up reads every file of the log
SETTINGS = {"delta.checkpointInterval": str(_COMMITS), "delta.logRetentionDuration": "interval 7 days"}


def shorten(path: AnyPath, opened: DeltaTable, version: int) -> None:
    """Behind every 20th commit, write a checkpoint; behind every 320th, remove commits older than the log must reach.

    Args:
        path: of the table.
        opened: the table; it is brought up to date.
        version: the commit that was made.
    """
    if version % _COMMITS:
        return
    try:
        opened.update_incremental()
        if opened.version() != version:  # of one version there is one checkpoint, as its digest is told beside it: that of its committer
            return
        opened.create_checkpoint()
        if hint := hint_of(path, version):
            write_whole(path / "_delta_log" / HINT, hint)
        if version % (_COMMITS * _CHECKPOINTS) == 0:
            opened.cleanup_metadata()
    except (DeltaError, OSError, StateError) as wrong:  # the commit is made all the same
        log.warning("%s: no checkpoint behind commit %d (%s); a later commit tries again", opened.table_uri, version, wrong)
