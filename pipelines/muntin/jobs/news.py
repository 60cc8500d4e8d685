"""Batches to read again since their source has something else than was read: of sources that tell so themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.jobs.late_commits import late_commits
from muntin.jobs.upstream import News, news_from_upstream
from muntin.sources import TableSource

if TYPE_CHECKING:
    from muntin.jobs.bound import Bound


def news(bound: Bound, *, unread: bool = False) -> News:
    """What an upstream has published anew, or what came to a Delta table late.

    Args:
        bound: the definition beside its state.
        unread: whether batches of an upstream that were never read count, too.
    """
    if members := [member for member in bound.members.values() if isinstance(member.source, TableSource)]:
        return News(tuple(sorted({interval for member in members for interval in late_commits(member).intervals})))
    return late_commits(bound) if isinstance(bound.source, TableSource) else news_from_upstream(bound, unread=unread)
