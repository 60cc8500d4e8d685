"""The arguments on event times in a definition, the same for every kind of source."""

from __future__ import annotations

from typing import Literal, get_args

from muntin.definition.checks import check_choice
from muntin.errors import DefinitionError
from muntin.windows.clock.zones import zone

Unit = Literal["s", "ms", "us", "ns"]


def check_time_arguments(event_time: object, unit: object, timezone: str | None, time_format: object) -> None:
    """Refuse arguments that do not fit event times.

    Raises:
        DefinitionError: no name of a column, an unknown unit or zone, no format, or a format together with a unit.
    """
    if not isinstance(event_time, str) or not event_time:
        raise DefinitionError(f"event_time: {event_time!r} is not the name of a column")
    if unit is not None:
        check_choice("unit", unit, get_args(Unit))
    if timezone is not None:
        zone(timezone)
    if time_format is not None and (not isinstance(time_format, str) or "%" not in time_format):
        raise DefinitionError(f'time_format: {time_format!r} is no format of strptime; write "%d.%m.%Y %H:%M"')
    if time_format is not None and unit is not None:
        raise DefinitionError(f"time_format={time_format!r} is for text and unit={unit!r} for integers; give one of them")
