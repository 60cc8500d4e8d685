"""Where a batch's rows are: files, a Delta table, what Spark reads, or another pipeline's windows; extensions
add topics and tables.
"""

from __future__ import annotations

from typing import Any

from muntin.registry import attribute_of, names_of
from muntin.sources.dialect import csv, jsonl
from muntin.sources.files import files
from muntin.sources.reading.dimensions.lookup import lookup
from muntin.sources.repeated_rows import changes, events
from muntin.sources.spark_frames import spark
from muntin.sources.tables import table
from muntin.sources.time_arguments import at
from muntin.sources.upstream_windows import windows

__all__ = [
    "at",
    "changes",
    "csv",
    "events",
    "files",
    "jsonl",
    "lookup",
    "spark",
    "table",
    "windows",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - the function of an extension
    return attribute_of(__name__, "sources", name)


def __dir__() -> list[str]:
    """The names of this module and of extensions: the error for a misspelt name proposes similar names."""
    return sorted({*globals(), *names_of("sources")})
