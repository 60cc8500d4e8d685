"""Facts of whole files that are told once: a run in one process asks for the types of its first file when it
checks the definition, and again when it reads that file.
"""

from __future__ import annotations

from collections import OrderedDict
from contextlib import suppress
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from muntin.definition.relative_paths import is_object_store
from muntin.sources.sessions.plain_text import facts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

_MOST = 100
T = TypeVar("T")


class FileFactsCache:
    """The answers to questions about files that were asked last. Files of an object store are asked about
    anew: to see that one is still the same is a question, too.
    """

    def __init__(self) -> None:
        self._told: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = Lock()

    def answer(self, question: str, paths: Sequence[str], tell: Callable[[], T]) -> T:
        """An answer about files; the earlier answer, if no file was written since. An error is not kept.

        `question`: its text, another for another answer. The answer must not be changed.
        """
        asked = None
        if not any(map(is_object_store, paths)):
            with suppress(OSError):  # which reading tells
                asked = (question, *map(facts_of, paths))
        with self._lock:
            if asked in self._told:
                self._told.move_to_end(asked)
                return self._told[asked]  # type: ignore[no-any-return]
        reply = tell()
        with self._lock:
            if asked is not None:
                self._told[asked] = reply
            while len(self._told) > _MOST:
                self._told.popitem(last=False)
        return reply


@cache
def told_once() -> FileFactsCache:
    """The answers that this process has given."""
    return FileFactsCache()
