"""Where a batch's rows are: files, a Delta table, what a function or Spark reads, or another pipeline's
windows; extensions add topics and tables.

A name is loaded when it is first used: a definition loads what it names.
"""

from typing import Any

from muntin.registry import attribute_of, homes_in, names_of, of_home

_HOMES = homes_in(__name__, __file__)

__all__ = [*sorted(_HOMES)]  # noqa: PLE0604 - __init__.pyi has each


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    if name in _HOMES:
        return of_home(__name__, _HOMES, name)
    return attribute_of(__name__, "sources", name)


def __dir__() -> list[str]:
    """The names of this module and of extensions: the error for a misspelt name proposes similar names."""
    return sorted({*globals(), *__all__, *names_of("sources")})
