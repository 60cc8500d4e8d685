"""The clock that instants are shown by:

UTC, or the zone that the reader chose, in a cookie that the page's own script sets.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING
from urllib.parse import unquote

from muntin.definition.instants import from_us, spell_instant
from muntin.errors import DefinitionError
from muntin.windows.clock import zone

if TYPE_CHECKING:
    from collections.abc import Mapping
    from zoneinfo import ZoneInfo

COOKIE = "muntin_timezone"
_ZONE: ContextVar[ZoneInfo | None] = ContextVar("zone", default=None)


def shown_in() -> ZoneInfo | None:
    """The zone of this answer; None: UTC."""
    return _ZONE.get()


def zone_name() -> str:
    """The name of the zone of this answer."""
    chosen = _ZONE.get()
    return chosen.key if chosen else "UTC"


def show_as_asked(cookies: Mapping[str, str]) -> None:
    """Show the instants of this answer as its request asks for; an unknown zone is UTC."""
    _ZONE.set(_zone(unquote(cookies.get(COOKIE, ""))))


def _zone(text: str) -> ZoneInfo | None:
    if not text or text == "UTC":
        return None
    try:
        from zoneinfo import ZoneInfo

        return ZoneInfo(zone(text).name)
    except (DefinitionError, ValueError, OSError, KeyError):
        return None


def instant(us: int | None) -> str:
    """An instant, in UTC or by the clock that the reader chose; then with its offset, so that it reads the
    same wherever it is pasted.

    >>> instant(1_356_998_400_000_000)
    '2013-01-01'
    """
    if us is None:
        return "\N{EN DASH}"
    zone = shown_in()
    return spell_instant(us).replace("T", " ") if zone is None else _local(us, zone)


def _local(us: int, zone: ZoneInfo) -> str:
    try:
        moment = from_us(us).astimezone(zone)
    except (OverflowError, ValueError):  # before the year 1 there
        return spell_instant(us).replace("T", " ")
    return moment.isoformat(
        " ", "microseconds" if moment.microsecond else "seconds" if moment.second else "minutes"
    )
