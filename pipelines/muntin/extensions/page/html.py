"""HTML of views, by the templates.

Every text is escaped; a picture alone is put in as it is, which `pictures.svg` has made.

The clock that instants are shown by:

UTC, or the zone that the reader chose, in a cookie that the page's own script sets.
"""

from __future__ import annotations

from contextvars import ContextVar
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from muntin.definition.instants import from_us, instant_us, spell_instant
from muntin.definition.spelling import lasting, many
from muntin.errors import DefinitionError
from muntin.extensions.page.address import key_query, query
from muntin.jobs.records.batch_states import spelled
from muntin.printable import lines, number
from muntin.windows.clock import zone

if TYPE_CHECKING:
    from collections.abc import Mapping
    from zoneinfo import ZoneInfo

    from jinja2 import Environment

    from muntin.jobs.records.batch_states import BatchState
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
    if zone is None:
        return spell_instant(us).replace("T", " ")
    try:
        moment = from_us(us).astimezone(zone)
    except (OverflowError, ValueError):  # before the year 1 there
        return spell_instant(us).replace("T", " ")
    return moment.isoformat(
        " ", "microseconds" if moment.microsecond else "seconds" if moment.second else "minutes"
    )


def span(start_us: int, end_us: int) -> str:
    """A range of time, half open.

    >>> span(1_356_998_400_000_000, 1_357_084_800_000_000)
    '[2013-01-01, 2013-01-02)'
    """
    return f"[{instant(start_us)}, {instant(end_us)})"


def page(template: str, **view: Any) -> str:  # noqa: ANN401 - the values of a view
    """A whole page."""
    return _environment().get_template(template).render(**view)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("muntin.extensions.page"),
        autoescape=True,
        finalize=shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "instant": instant,
        "span": span,
        "lasting": lasting,
        "many": many,
        "value": value,
        "segment": lambda text: quote(text, safe=""),
    }
    environment.filters |= {"spelled": _spelled, "second": _second, "about": _about, "seconds": _seconds}
    environment.globals |= {"query": query, "key_query": key_query, "zone_name": zone_name}
    return environment


def shown(text: object) -> object:
    r"""Whatever a template shows: text without the characters that HTML cannot hold, or that turn other text
    around.

    >>> shown("a\x00\nb"), shown(7)
    ('a\\x00\nb', 7)
    """
    return lines(text) if type(text) is str else text


def _spelled(one: BatchState) -> str:
    return spelled(one, instant(_second(one.since_us)))


def _about(us: int) -> str:
    """A length of time in its largest unit alone.

    >>> _about(90_061_000_000)
    '1 d'
    """
    return " ".join(lasting(us).split(" ")[:2])


def _seconds(took_s: float) -> str:
    """The time that something took.

    >>> _seconds(2.345), _seconds(90.4)
    ('2.3 s', '1 min 30 s')
    """
    return f"{took_s:.1f} s" if took_s < 10 else lasting(round(took_s) * 1_000_000)  # noqa: PLR2004 - then tenths tell nothing


def _second(us: int | None) -> int | None:
    return None if us is None else us // 1_000_000 * 1_000_000


def value(cell: object) -> str:
    """A result or a part of a key.

    >>> value(12345), value(2 / 3), value(None), value([1, "<b>"])
    ('12,345', '0.6666666666666666', 'null', "[1, '<b>']")
    """
    match cell:
        case None | bool():
            return "null" if cell is None else str(cell).lower()
        case int() | float() | Decimal():
            return number(cell)
        case bytes() | str():
            return _cut(cell.hex() if isinstance(cell, bytes) else cell)
        case datetime():
            if shown_in():
                return instant(instant_us(cell.replace(microsecond=0), "time"))
            return cell.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S").removesuffix(":00")
    return _cut(repr(cell))


def _cut(text: str) -> str:
    return text if len(text) <= _LONG else f"{text[:_LONG]}..."


_LONG = 300
"""Longer values are cut."""
