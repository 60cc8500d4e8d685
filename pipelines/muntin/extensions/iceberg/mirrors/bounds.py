"""Bounds in manifests: the least and the greatest value that a mirror's own files tell of each column of each
file of windows.

https://iceberg.apache.org/spec/#manifests
"""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

CUT = 16
"""So many characters of a text are in a bound, unless a table says otherwise; of an upper bound the last is
the next greater character.
"""


def bounds_of(manifest: bytes) -> Iterator[tuple[str, str, Any]]:
    """The address of a file, a column and a bound of it, for all bounds that a manifest holds; nothing of a
    list of manifests.

    Args:
        manifest: the content of a file of Avro.
    """
    from fastavro import reader
    from pyiceberg.conversions import from_bytes
    from pyiceberg.schema import Schema
    from pyiceberg.types import PrimitiveType

    entries: Any = reader(BytesIO(manifest))
    if "schema" not in entries.metadata:
        return
    schema = Schema.model_validate_json(entries.metadata["schema"])
    for entry in entries:
        file = entry["data_file"]
        for each in (*(file["lower_bounds"] or ()), *(file["upper_bounds"] or ())):
            kind = schema.find_type(each["key"])
            if isinstance(kind, PrimitiveType):
                yield (
                    file["file_path"],
                    str(schema.find_column_name(each["key"])),
                    _as_python(kind, from_bytes(kind, each["value"])),
                )


def _as_python(kind: Any, bound: Any) -> Any:  # noqa: ANN401 - types of Iceberg, and values of them
    """A bound as Arrow gives the values of its column: pyiceberg gives days and microseconds of dates and
    times.
    """
    from pyiceberg.types import DateType, TimestampType, TimestamptzType, TimeType
    from pyiceberg.utils.datetime import (
        days_to_date,
        micros_to_time,
        micros_to_timestamp,
        micros_to_timestamptz,
    )

    spelled: Any = {
        DateType: days_to_date,
        TimeType: micros_to_time,
        TimestampType: micros_to_timestamp,
        TimestamptzType: micros_to_timestamptz,
    }
    return spelled.get(type(kind), lambda value: value)(bound)


def is_cut_from(bound: Any, text: str) -> bool:  # noqa: ANN401 - as a bound is
    """Whether a bound is what is left of a longer text.

    >>> is_cut_from("a-very-long-name", "a-very-long-name-of-a-person"), is_cut_from("a-very-long-namf",
    ...     "a-very-long-name-of-a-person")
    (True, True)
    >>> is_cut_from("short", "short"), is_cut_from("a-very-long-namx", "a-very-long-name-of-a-person")
    (False, False)
    """
    if not isinstance(bound, str) or len(bound) != CUT or len(text) <= CUT:
        return False
    return bound[:-1] == text[: CUT - 1] and ord(bound[-1]) - ord(text[CUT - 1]) in (0, 1)
