"""Objects that a thread keeps for its next task: sessions and clients that other threads must not use.

They do not lie in a `threading.local`: a fork, with which Spark's Java begins, would free what other threads hold there, and to free a
session of DuckDB or a client of a broker waits for threads that the fork does not have. Java died of that before it began.
"""

from __future__ import annotations

from threading import get_ident
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_kept: dict[tuple[str, int], dict[Any, Any]] = {}


def of_this_thread(what: str) -> dict[Any, Any]:
    """The things of one sort that this thread keeps."""
    return _kept.setdefault((what, get_ident()), {})


def of_all_threads(what: str) -> Iterator[dict[Any, Any]]:
    """The things of one sort that each thread keeps."""
    return (things for (sort, _), things in list(_kept.items()) if sort == what)
