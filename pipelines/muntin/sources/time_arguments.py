"""The arguments on event times in a definition, the same for every kind of source."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from muntin.definition.checks import check_choice
from muntin.errors import DefinitionError
from muntin.windows.clock import zone

if TYPE_CHECKING:
    from collections.abc import Mapping

Unit = Literal["s", "ms", "us", "ns"]
_WITH_ZONE = ("TIMESTAMPTZ", "TIMESTAMP WITH TIME ZONE")
Ambiguous = Literal["quarantine", "first", "second", "arrival"]
"""The showing of a local time that comes twice."""
Nonexistent = Literal["quarantine", "shift"]
"""The treatment of a local time that never was."""


def check_time_arguments(event_time: object, unit: object, timezone: str | None, time_format: object) -> None:
    """Refuse arguments that do not fit event times.

    A format with names of zones, or together with a unit, is refused, too.
    """
    if event_time is not None and (not isinstance(event_time, str) or not event_time):
        raise DefinitionError(f"event_time: {event_time!r} is not the name of a column")
    if unit is not None:
        check_choice("unit", unit, get_args(Unit))
    if timezone is not None:
        zone(timezone)
    if time_format is not None and (not isinstance(time_format, str) or "%" not in time_format):
        raise DefinitionError(
            f'time_format: {time_format!r} is no format of strptime; write "%d.%m.%Y %H:%M"'
        )
    if time_format is not None and "%Z" in time_format.replace("%%", ""):
        raise DefinitionError(
            f"time_format: {time_format!r} reads names of zones by %Z, and one name is of several zones"
            " (IST); let writers give offsets, "
            f'which %z reads, or write the name itself into the format, as "%H:%M CET" beside'
            f' timezone="Europe/Vienna"'
        )
    if time_format is not None and unit is not None:
        raise DefinitionError(
            f"time_format={time_format!r} is for text and unit={unit!r} for integers; give one of them"
        )


def check_local_times(
    timezone: str | None,
    ambiguous: object,
    nonexistent: object,
    arrival_order: str | None,
    times: Mapping[str, str | None],
) -> None:
    """Refuse arguments that do not fit local times.

    `times`: column with times -> the SQL type that the definition gives it.
    """
    for what, said, choices in (
        ("ambiguous", ambiguous, Ambiguous),
        ("nonexistent", nonexistent, Nonexistent),
    ):
        check_choice(what, said, get_args(choices))
        if timezone is None and said != "quarantine":
            raise DefinitionError(
                f"{what}={said!r} is for local times, and without timezone= times are in UTC; say whose clock"
                " it is"
            )
    if ambiguous == "arrival" and arrival_order is None:
        raise DefinitionError(
            'ambiguous="arrival" goes by the order of rows; name the column that orders them:'
            ' arrival_order="id"'
        )
    for column, kind in times.items():
        if timezone is not None and kind and kind.upper() in _WITH_ZONE:
            raise DefinitionError(
                f"timezone={timezone!r} is for times without a zone, and {column!r} is to be {kind}, which"
                " has one; leave timezone out, "
                f'or say types={{"{column}": "VARCHAR"}} for text of which some has an offset, else'
                ' "TIMESTAMP"'
            )
