"""Addresses of the page: a key, an instant and a place in a table as texts of a query, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from urllib.parse import urlencode

import pyarrow as pa

from muntin.definition.instants import label, of_label
from muntin.errors import DefinitionError
from muntin.jobs.inspect.some_windows import Place


def query(*parts: Mapping[str, object]) -> str:
    """The query of an address, with what is given; `?` alone where nothing is.

    >>> query({"window": "day", "begin": None}, {"k0": "<a>"})
    '?window=day&k0=%3Ca%3E'
    """
    given = {
        name: value
        for part in parts
        for name, value in part.items()
        if value not in (None, "") or name[0] == "k"
    }
    return "?" + urlencode({name: value for name, value in given.items() if value is not None})


def key_query(texts: Sequence[str | None]) -> dict[str, str]:
    """A key: `k0=...` for each column in order, `n0=1` where it is null."""
    return {
        (f"n{at}" if text is None else f"k{at}"): ("1" if text is None else text)
        for at, text in enumerate(texts)
    }


def key_of(asked: Mapping[str, str], count: int) -> list[str | None] | None:
    """The key that a query names; None if it does not name all columns."""
    named = [asked.get(f"k{at}") for at in range(count)]
    if all(f"k{at}" in asked or f"n{at}" in asked for at in range(count)):
        return named
    filtered = [asked.get(f"f{at}") for at in range(count)]
    return filtered if all(filtered) else None


def key_texts(column: pa.ChunkedArray) -> list[str | None]:
    """Values of a key column as texts that can be read again.

    Bytes that are no text are in hexadecimal, and cannot.
    """
    try:
        return column.cast(pa.string()).to_pylist()  # type: ignore[no-any-return]
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return [value.hex() if isinstance(value, bytes) else str(value) for value in column.to_pylist()]


def instant_of(text: str | None, what: str) -> datetime | None:
    """A date or an ISO instant, UTC unless it says another zone; None without text."""
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise DefinitionError(
            f"{what}: {text!r} is not an instant; write 2013-01-01 or 2013-01-01T06:00"
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def place_text(place: Place | None) -> str | None:
    """A place in a table.

    >>> place_text(Place(0, 50))
    '19700101T000000Z.50'
    """
    return f"{label(place.batch_us)}.{place.skip}" if place else None


def place_of(text: str | None) -> Place | None:
    """The place from the text of `place_text`."""
    if not text:
        return None
    batch, _, skip = text.rpartition(".")
    return Place(batch_us(batch), number(skip, "begin"))


def batch_us(text: str) -> int:
    """The start of a batch, from its label."""
    try:
        return of_label(text)
    except (ValueError, IndexError, OverflowError):
        raise DefinitionError(f"begin: {text!r} is no batch, as 20130101T000000Z") from None


def number(text: str, what: str, most: int = 10_000_000) -> int:
    """A whole number from 0 to `most`."""
    if not text.isdecimal() or len(text) > len(str(most)) or int(text) > most:
        raise DefinitionError(f"{what}: {text!r} is no whole number up to {most:,}")
    return int(text)
