"""Facts of whole files that are found out once: a run asks for the types of its first file when it checks the
definition, and again when it reads that file.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, TypeVar

from muntin.definition.relative_paths import is_object_store
from muntin.files.weighted_cache import WeightedCache
from muntin.sources.sessions.plain_text import facts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")
_ANSWERS = WeightedCache[Hashable, Any](100)


def answered_once(question: str, paths: Sequence[str], answer: Callable[[], T]) -> T:
    """An answer about files; the earlier answer, if no file was written since. An error is not kept.

    `question`: its text, another for another answer. The answer must not be changed. Files of an object store
    are asked about anew: to see that one is still the same is a question, too.
    """
    if any(map(is_object_store, paths)):
        return answer()
    try:
        asked = (question, *map(facts_of, paths))
    except OSError:  # which reading tells
        return answer()
    return _ANSWERS.of(asked, answer)  # type: ignore[no-any-return]
