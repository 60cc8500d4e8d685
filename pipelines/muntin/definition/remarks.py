"""Remarks: what a definition may say, and what its author seldom means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from muntin.definition.clocks import UTC_NAME
from muntin.definition.durations import DAY_US, UNITS, spell
from muntin.definition.instants import spell_instant
from muntin.definition.kinds import Kind
from muntin.definition.pipeline import Pipeline
from muntin.definition.rollups import given_windows

_ZONELESS = ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "DATE")
_CALENDAR_UNITS = ("d", "w")


def remarks(pipeline: Pipeline) -> list[str]:
    """Remarks on a definition alone: a start between batches, a day in hours, a number without a unit,
    a week from Thursday, days of another clock than the batches'.
    """
    windows = given_windows(pipeline.windows)
    return [*_of_start(pipeline), *_of_sizes(windows), *_of_clocks(windows, pipeline.timezone)]


def of_naive_times(source: Any, columns: Mapping[str, str], windows: Mapping[str, Kind]) -> str | None:  # noqa: ANN401 - a source of any kind
    """A remark on event times without a zone, which are read as UTC, while windows follow another clock;
    None: no remark.

    `source`: of the rows. `columns`: name -> SQL type of its columns. `windows`: of the pipeline.
    """
    given = given_windows(windows)
    zones = {
        zone.name: name
        for name, window in given.items()
        for part in _parts(window)
        if (zone := getattr(part, "zone", None))
    }
    text = source.time_format if columns.get(source.event_time) == "VARCHAR" else None
    naive = columns.get(source.event_time) in _ZONELESS or (text is not None and "%z" not in text)
    others = [name for name in zones if name != "UTC"]
    if source.timezone or source.unit or not naive or not others:
        return None
    return (
        f"event_time: {source.event_time!r} has no time zone and is read as UTC, and "
        f"windows[{zones[others[0]]!r}] follows the clock of "
        f'{others[0]}; say event_time=sources.at("{source.event_time}", timezone={others[0]!r}) in '
        f'{source.call} if that is the clock of these times, else timezone="UTC"'
    )


def _of_start(pipeline: Pipeline) -> Iterator[str]:
    batches = pipeline.intervals
    if batches.first_border_us != batches.first_us:
        begin, end = (
            spell_instant(batches.first_border_us),
            spell_instant(batches.after(batches.first_border_us)),
        )
        at = spell_instant(batches.first_us)
        yield f"start: {at} is no border of the schedule {batches}; the first batch is [{begin}, {end})"


def _of_sizes(windows: Mapping[str, Kind]) -> Iterator[str]:
    for name, window in windows.items():
        if 0 < window.grace_us < UNITS["s"] and window.even and window.even.size_us >= UNITS["m"]:
            yield (
                f"windows[{name!r}]: a grace of {spell(window.grace_us)}; "
                'write a unit, as grace="1h", since numbers are microseconds'
            )
        for part in _parts(window):
            said, zone = getattr(part, "said", None), getattr(part, "zone", None)
            if said == "" and part.size_us < UNITS["s"]:
                yield (
                    f"windows[{name!r}]: {part.size_us} are microseconds; "
                    f'write a unit, as "{part.size_us}s", if another unit is meant'
                )
            if said and zone is None and part.size_us % (7 * DAY_US) == 0 and part.align_us == 0:
                yield (
                    f"windows[{name!r}]: weeks without timezone begin on Thursday, since borders count from "
                    '1970-01-01; say timezone="UTC" for weeks from Monday'
                )
            if (
                zone
                and zone.shift
                and said
                and part.size_us % DAY_US == 0
                and not said.rstrip().endswith(_CALENDAR_UNITS)
            ):
                yield (
                    f'windows[{name!r}]: "{said}" is counted on the clock of {zone.name}, so it is the same '
                    f'as "{spell(part.size_us)}": '
                    "an hour shorter or longer where the clock changes. Leave timezone out for windows that "
                    f"always last {said}"
                )


def _of_clocks(windows: Mapping[str, Kind], timezone: str) -> Iterator[str]:
    """Days, weeks and months of UTC in a pipeline whose batches follow another clock."""
    for name, window in windows.items() if timezone != UTC_NAME else ():
        if any(
            getattr(part, "zone", timezone) is None and getattr(part, "size_us", DAY_US) % DAY_US == 0
            for part in _parts(window)
        ):
            yield (
                f"windows[{name!r}]: cut by the clock of UTC, while batches follow {timezone}; say "
                f'timezone="{timezone}" in the window, or timezone="UTC" if UTC is meant'
            )


def _parts(window: Any) -> list[Any]:  # noqa: ANN401 - a kind of any class
    """A window and the windows inside it, which have the zone of cumulating and trailing windows."""
    inner = (
        getattr(window, name)
        for name in ("kind", "whole", "step", "stretch")
        if hasattr(getattr(window, name, None), "assign")
    )
    return [window, *(part for each in inner for part in _parts(each))]
