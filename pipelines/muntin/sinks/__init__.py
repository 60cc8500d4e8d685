"""Where results go after they are published:

`spark` hands them to a function; extensions add databases, topics and catalogs.
"""

from __future__ import annotations

from typing import Any

from muntin.registry import attribute_of, names_of
from muntin.sinks.declaration import spark

__all__ = ["spark"]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - the function of an extension
    return attribute_of(__name__, "sinks", name)


def __dir__() -> list[str]:
    """The names of this module and of extensions: the error for a misspelt name proposes similar names."""
    return sorted({*globals(), *names_of("sinks")})
