"""HTML of views, by the templates. Every text is escaped; a picture alone is put in as it is, which `pictures.svg` has made."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from muntin.definition.instants import spell_instant
from muntin.page.address import key_query, query
from muntin.printable import lines

if TYPE_CHECKING:
    from jinja2 import Environment

_UNITS = ((86_400_000_000, "d"), (3_600_000_000, "h"), (60_000_000, "min"), (1_000_000, "s"))


def page(template: str, **view: Any) -> str:  # noqa: ANN401 - the values of a view
    """A whole page."""
    return _environment().get_template(template).render(**view)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    found = Environment(
        loader=PackageLoader("muntin.page"),
        autoescape=True,
        finalize=shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {"instant": instant, "lasting": lasting, "value": value, "segment": lambda text: quote(text, safe="")}
    found.globals |= {"query": query, "key_query": key_query}
    return found


def shown(text: object) -> object:
    r"""Whatever a template shows: text without the characters that HTML cannot hold, or that turn other text around.

    >>> shown("a\x00\nb"), shown(7)
    ('a\\x00\nb', 7)
    """
    return lines(text) if type(text) is str else text


def instant(us: int | None) -> str:
    """An instant in UTC.

    >>> instant(1_356_998_400_000_000)
    '2013-01-01'
    """
    return "\N{EN DASH}" if us is None else spell_instant(us).replace("T", " ")


def lasting(us: int | None) -> str:
    """A length of time, in its largest unit and the next.

    >>> lasting(90_061_000_000), lasting(500_000)
    ('1 d 1 h', '0 s')
    """
    if us is None:
        return "\N{EN DASH}"
    parts: list[str] = []
    rest = abs(us)
    for size, unit in _UNITS:
        if rest >= size and len(parts) < 2:  # noqa: PLR2004 - see above
            parts.append(f"{rest // size:,} {unit}")
            rest %= size
        elif parts:
            break
    return ("\N{MINUS SIGN}" if us < 0 else "") + (" ".join(parts) or "0 s")


def value(found: object) -> str:
    """A result or a part of a key.

    >>> value(12345), value(2 / 3), value(None), value([1, "<b>"])
    ('12,345', '0.666667', 'null', "[1, '<b>']")
    """
    match found:
        case None | bool():
            return "null" if found is None else str(found).lower()
        case int() | Decimal():
            return f"{found:,}"
        case float():
            return f"{found:,.6g}"
        case bytes() | str():
            return _cut(found.hex() if isinstance(found, bytes) else found)
        case datetime():
            return found.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S").removesuffix(":00")
    return _cut(repr(found))


def _cut(text: str) -> str:
    return text if len(text) <= _LONG else f"{text[:_LONG]}..."


_LONG = 300
"""Longer values are cut."""
