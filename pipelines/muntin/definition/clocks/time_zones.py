"""Time zones by name, and how far their clocks are from UTC."""

from __future__ import annotations

from datetime import UTC, timedelta, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

from muntin.definition.instants import from_us
from muntin.definition.spelling import did_you_mean
from muntin.errors import DefinitionError

UTC_NAME = "UTC"


@lru_cache
def zone_info(name: str) -> tzinfo:
    """The time zone of an IANA name. UTC is there without a database of zones.

    Raises:
        DefinitionError: no such zone.
    """
    if name == UTC_NAME:
        return UTC
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError, TypeError):
        near = did_you_mean(str(name), available_timezones())
        raise DefinitionError(f'timezone: {name!r} is not a time zone; give an IANA name, as "America/New_York"{near}') from None


def offset_us(info: tzinfo, us: int) -> int:
    """The time that a zone's clock shows at an instant, less UTC; microseconds."""
    return (from_us(us).astimezone(info).utcoffset() or timedelta()) // timedelta(microseconds=1)
