"""Where results go after they are published: `spark` hands them to a function; extensions add databases, topics and catalogs."""

from __future__ import annotations

import sys
from typing import Any

from muntin.registry import extension, names_of
from muntin.sinks.declaration import Declared as Sink
from muntin.sinks.declaration import SparkSink, spark

__all__ = ["Sink", "SparkSink", "spark"]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - the function of an extension
    try:
        return extension("sinks", name)
    except KeyError:
        ours = sys.modules[__name__]
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=ours) from None


def __dir__() -> list[str]:
    """The names of this module and of extensions: the error for a misspelt name proposes similar names."""
    return sorted({*globals(), *names_of("sinks")})
