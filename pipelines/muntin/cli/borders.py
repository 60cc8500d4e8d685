"""Starts and ends of ranges by the clock of a pipeline's schedule."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from muntin.definition.clocks import zone_info
from muntin.errors import DefinitionError

if TYPE_CHECKING:
    from muntin.definition.pipeline import Pipeline


def borders(pipeline: Pipeline, start: datetime, end: datetime) -> tuple[datetime, datetime]:
    """Start and end as instants: what says no offset is a time of the clock of the pipeline's schedule.

    A time that the clock never shows, or shows twice, is refused.
    """
    return _on_clock(start, pipeline.timezone), _on_clock(end, pipeline.timezone)


def _on_clock(given: datetime, timezone: str) -> datetime:
    if given.tzinfo:
        return given
    where = zone_info(timezone)
    first, second = (given.replace(tzinfo=where, fold=fold) for fold in (0, 1))
    if first.utcoffset() == second.utcoffset():
        return first
    shown = f"the clock of {timezone}, which the schedule is by,"
    moved = first.astimezone(UTC).astimezone(where)
    if moved.replace(tzinfo=None) != given:
        raise DefinitionError(
            f"{shown} never shows {_spelled(given)}, as it is put forward; write {_spelled(moved)}"
        )
    raise DefinitionError(
        f"{shown} shows {_spelled(given)} twice; write {_spelled(first)} or {_spelled(second)}"
    )


def _spelled(moment: datetime) -> str:
    return moment.isoformat(timespec="auto" if moment.second or moment.microsecond else "minutes")
