"""Rows as keys and values of Redis."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from muntin.sinks.errors import RefusedError
from muntin.sinks.json_values import as_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_PLACE = ("window_index", "window_end", "window_start")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def name_of(prefix: str, row: Mapping[str, Any], identity: Sequence[str]) -> str:
    """The key of a row.

    >>> name_of("flights", {"origin": "JFK", "kind": None}, ["origin", "kind"])
    'flights/JFK/%null'
    """
    return "/".join([prefix, *(_part(row[name]) for name in identity)])


def value_of(row: Mapping[str, Any]) -> str:
    """A row as JSON."""
    return as_json({name: value for name, value in row.items() if name != "change"})


def place_of(row: Mapping[str, Any]) -> list[Any]:
    """The order that tells an older window of a key from a newer window. An instant beyond the year 9999 is refused."""
    try:
        return [each if isinstance(each := row[name], int | datetime) else datetime.fromisoformat(each) for name in _PLACE if name in row]
    except ValueError:
        raise RefusedError("an instant after the year 9999, which cannot be compared", "window_end") from None


def until_ms(row: Mapping[str, Any], expires_us: int) -> int:
    """The instant at which a key vanishes, in milliseconds since 1970; at least 1, as Redis knows no instant before."""
    return max((row["window_end"] - _EPOCH + timedelta(microseconds=expires_us)) // timedelta(milliseconds=1), 1)


def _part(value: Any) -> str:  # noqa: ANN401 - whatever a key holds
    """A value as a part of a key, in which "/" and "%" are written otherwise; null as no text can be."""
    if value is None:
        return "%null"
    text = value if isinstance(value, str) else as_json(value).strip('"')
    return text.replace("%", "%25").replace("/", "%2F")
