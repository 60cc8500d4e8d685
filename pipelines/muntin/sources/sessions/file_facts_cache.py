"""Facts of whole files that are asked for once: a run asks for the types of its first file when it checks the
definition, and again when it reads that file.
"""

from __future__ import annotations

from collections import OrderedDict
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from muntin.definition.relative_paths import is_object_store
from muntin.sources.sessions.plain_text import facts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

_MOST = 100
_answers, _lock = OrderedDict["Hashable", Any](), Lock()
T = TypeVar("T")


def answered_once(question: str, paths: Sequence[str], tell: Callable[[], T]) -> T:
    """An answer about files; the earlier answer, if no file was written since. An error is not kept.

    Files of an object store are asked about anew: to see that one is still the same is a question, too.
    `question`: its text, another for another answer. The answer must not be changed.
    """
    asked = None
    if not any(map(is_object_store, paths)):
        with suppress(OSError):  # which reading tells
            asked = (question, *map(facts_of, paths))
    with _lock:
        if asked in _answers:
            _answers.move_to_end(asked)
            return _answers[asked]  # type: ignore[no-any-return]
    reply = tell()
    with _lock:
        if asked is not None:
            _answers[asked] = reply
        while len(_answers) > _MOST:
            _answers.popitem(last=False)
    return reply
