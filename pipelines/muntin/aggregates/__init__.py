"""The catalogue of aggregates. An aggregate is a value: fields with their monoids, and a finish.

A name is loaded when it is first used: a definition loads what it names.
"""

from typing import Any

from muntin.registry import homes_in, of_home

_HOMES = homes_in(__name__, __file__)

__all__ = [*sorted(_HOMES)]  # noqa: PLE0604 - __init__.pyi has each


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    return of_home(__name__, _HOMES, name)


def __dir__() -> list[str]:
    """The names of this module, loaded or not: the error for a misspelt name proposes similar names."""
    return sorted({*globals(), *__all__})
