"""The columns that a source names, held against the columns that its table has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.errors import SourceError
from muntin.sources.repeated_rows import CHANGE

if TYPE_CHECKING:
    from collections.abc import Collection

    from muntin.sources.tables import TableSource


def check_columns(source: TableSource, names: Collection[str], instants: Collection[str]) -> None:
    """Refuse a source that names a column which its table lacks, or a zone where times have one.

    `instants`: the columns that are times with a zone.
    """
    named = {
        "event_time": source.event_time,
        "arrival_time": source.arrival_time,
        "arrival_order": source.arrival_order,
    }
    ids = "id" if source.changes else "dedupe"
    asked = [
        *named.items(),
        *(("types", name) for name in source.types),
        *((ids, name) for name in source.dedupe),
    ]
    for what, name in asked:
        if name and name not in names:
            raise SourceError(
                f"{source.path}: {what}: no column {name!r} in the table; there are {', '.join(names)}; mend"
                f" it in {source.call}"
            )
    if source.timezone and source.event_time in instants:
        raise SourceError(
            f"{source.path}: timezone={source.timezone!r} is for times without a zone, and"
            f" {source.event_time!r} has instants; leave it out"
        )
    if source.changes and CHANGE in names:
        raise SourceError(
            f"{source.path}: its column {CHANGE!r} has the name of a column of the change feed; rename it"
        )
