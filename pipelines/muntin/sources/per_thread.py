"""Objects that a thread keeps for its next task: sessions and clients that other threads must not use.

They do not lie in a `threading.local`: a fork, with which Spark's Java begins, would free what other threads
hold there, and to free a session of DuckDB or a client of a broker waits for threads that the fork does not
have. Java died of that before it began.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from threading import get_ident
from typing import Any

_Kept = dict[tuple[str, int], dict[Any, Any]]
_kept: _Kept = {}
_of_parents: list[_Kept] = []


def of_this_thread(what: str) -> dict[Any, Any]:
    """The things of one sort that this thread keeps.

    A new thread frees the things of threads that have ended.
    """
    which = (what, get_ident())
    if which not in _kept:
        _free_ended()
    return _kept.setdefault(which, {})


def of_all_threads(what: str) -> Iterator[dict[Any, Any]]:
    """The things of one sort that each thread keeps."""
    return (things for (sort, _), things in list(_kept.items()) if sort == what)


def _free_ended() -> None:
    keys = list(_kept)  # first, so that a thread which begins meanwhile is not taken for one that has ended
    alive = {thread.ident for thread in threading.enumerate()}
    for which in keys:
        if which[1] not in alive:
            _kept.pop(which, None)


def _leave_to_parent() -> None:
    """In a fork: neither use nor free what the parent's threads keep."""
    _of_parents.append(_kept.copy())
    _kept.clear()


os.register_at_fork(after_in_child=_leave_to_parent)
