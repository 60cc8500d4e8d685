"""Kinds of windows: parameters, checks, and the assigner that turns sorted frames into ranges.

A name is loaded when it is first used: a definition loads what it names.
"""

from typing import Any

from muntin.registry import of_home

_NAMES = {
    "arrival_policies": "by_count by_delta by_punctuation by_time keep",
    "kinds.all_time": "all_time",
    "kinds.arrival": "arrival",
    "kinds.between": "between",
    "kinds.cumulating": "cumulating",
    "kinds.given": "given",
    "kinds.progressive_sort": "progressive_sort",
    "kinds.session": "session",
    "kinds.sliding": "sliding",
    "kinds.trailing": "trailing",
    "kinds.tumbling": "tumbling",
    "kinds.unique_sliding": "unique_sliding",
    "kinds.while_same": "while_same",
    "kinds.while_true": "while_",
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}

__all__ = [*sorted(_HOMES)]  # noqa: PLE0604 - __init__.pyi has each


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    return of_home(__name__, _HOMES, name)


def __dir__() -> list[str]:
    """The names of this module, loaded or not: the error for a misspelt name proposes similar names."""
    return sorted({*globals(), *__all__})
