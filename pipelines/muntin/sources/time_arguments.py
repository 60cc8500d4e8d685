"""The arguments on event times in a definition, the same for every kind of source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from muntin.definition.checks import check_choice
from muntin.errors import DefinitionError
from muntin.windows.clock import zone

Unit = Literal["s", "ms", "us", "ns"]
_WITH_ZONE = ("TIMESTAMPTZ", "TIMESTAMP WITH TIME ZONE")
Ambiguous = Literal["quarantine", "first", "second", "arrival"]
"""The showing of a local time that comes twice."""
Nonexistent = Literal["quarantine", "shift"]
"""The treatment of a local time that never was."""


@dataclass(frozen=True, slots=True)
class At:
    """A column with times, and how they are read. See `at`."""

    column: str
    unit: Unit | None = None
    timezone: str | None = None
    format: str | None = None
    ambiguous: Ambiguous = "quarantine"
    nonexistent: Nonexistent = "quarantine"

    def __post_init__(self) -> None:
        if not isinstance(self.column, str) or not self.column:
            raise DefinitionError(f"at: {self.column!r} is not the name of a column")
        if self.unit is not None:
            check_choice("unit", self.unit, get_args(Unit))
        if self.timezone is not None:
            zone(self.timezone)
        _check_format(self.format, self.unit)
        for what, said, choices in (
            ("ambiguous", self.ambiguous, Ambiguous),
            ("nonexistent", self.nonexistent, Nonexistent),
        ):
            check_choice(what, said, get_args(choices))
            if self.timezone is None and said != "quarantine":
                raise DefinitionError(
                    f"{what}={said!r} is for local times, and without timezone= times are in UTC; say whose "
                    "clock it is"
                )

    @property
    def reading(self) -> dict[str, Any]:
        """How its values are read, as arguments of a `RowSource`."""
        return {
            "unit": self.unit,
            "timezone": self.timezone,
            "time_format": self.format,
            "ambiguous": self.ambiguous,
            "nonexistent": self.nonexistent,
        }


def at(
    column: str,
    *,
    unit: Unit | None = None,
    timezone: str | None = None,
    format: str | None = None,  # noqa: A002 - the word users know
    ambiguous: Ambiguous = "quarantine",
    nonexistent: Nonexistent = "quarantine",
) -> At:
    """A column with times, and how they are read: as the event time of a source, `since` of a look-up, or
    `start` of given windows.

    Args:
        column: timestamps, texts that read as timestamps, or numbers.
        unit: of numbers, whole or with a fraction, as 1714557600.5. What is finer than a microsecond is cut
            off; of doubles the shortest digits count.
        timezone: the zone of times that have none; UTC unless given. Spark's session zone changes nothing.
        format: how times are written where they are text, as strptime takes it: "%d.%m.%Y %H:%M"; ISO 8601
            unless given.
        ambiguous: what a local time is that comes twice in the zone, as its clocks are set back: for the
            "quarantine", the "first" or the "second" showing; or by "arrival": rows in the order of
            `arrival_order` go back once in this hour, where the second begins.
        nonexistent: what a local time is that never was, as clocks are set forward: for the "quarantine"; or
            "shift", moved on by as much.

    Raises:
        DefinitionError: an unknown unit, zone or word, or a format that tells no time.

    >>> at("placed", timezone="Europe/Berlin", format="%d.%m.%Y %H:%M").timezone
    'Europe/Berlin'
    """
    return At(column, unit, timezone, format, ambiguous, nonexistent)


def as_at(given: str | At | None, what: str = "event_time") -> At | None:
    """A column of times, with how it is read; None where there is none."""
    if given is None or isinstance(given, At):
        return given
    if not isinstance(given, str) or not given:
        raise DefinitionError(f'{what}: {given!r} is not the name of a column; write {what}="at"')
    return At(given)


def _check_format(text: object, unit: object) -> None:
    """Refuse a format that tells no time, one with names of zones, and one together with a unit."""
    if text is None:
        return
    if not isinstance(text, str) or "%" not in text:
        raise DefinitionError(f'format: {text!r} is no format of strptime; write "%d.%m.%Y %H:%M"')
    if "%Z" in text.replace("%%", ""):
        raise DefinitionError(
            f"format: {text!r} reads names of zones by %Z, and one name is of several zones (IST); let "
            "writers give offsets, "
            'which %z reads, or write the name itself into the format, as "%H:%M CET" beside'
            ' timezone="Europe/Vienna"'
        )
    if unit is not None:
        raise DefinitionError(f"format={text!r} is for text and unit={unit!r} for numbers; give one of them")


def check_local_times(at: At, arrival_order: str | None, times: Mapping[str, str | None]) -> None:
    """Refuse columns that do not fit local times.

    `times`: column with times -> the SQL type that the definition gives it.
    """
    if at.ambiguous == "arrival" and arrival_order is None:
        raise DefinitionError(
            'ambiguous="arrival" goes by the order of rows; name the column that orders them:'
            ' arrival_order="id"'
        )
    for column, kind in times.items():
        if at.timezone is not None and kind and kind.upper() in _WITH_ZONE:
            raise DefinitionError(
                f"timezone={at.timezone!r} is for times without a zone, and {column!r} is to be {kind}, which"
                " has one; leave timezone out, "
                f'or say types={{"{column}": "VARCHAR"}} for text of which some has an offset, else'
                ' "TIMESTAMP"'
            )
