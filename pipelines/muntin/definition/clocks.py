"""Clocks of time zones: their offsets from UTC, and the instants at which a cron string ticks on them.

A clock leaves times out where it is put forward, and shows times twice where it is put back. A cron string of
every hour (`*`) ticks whenever the clock shows one of its times, also twice. Of any other cron string each
time is one tick: the later of two instants; a time that is left out ticks as much later as the clock was put
forward. So do Airflow's timetables.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache, partial
from itertools import pairwise
from operator import sub
from zoneinfo import ZoneInfo, available_timezones

from muntin.definition.durations import UNITS
from muntin.definition.instants import from_us, instant_us
from muntin.definition.spelling import did_you_mean
from muntin.errors import DefinitionError

UTC_NAME = "UTC"


@lru_cache
def zone_info(name: str) -> tzinfo:
    """The time zone of an IANA name. UTC is there without a database of zones."""
    if name == UTC_NAME:
        return UTC
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError, TypeError):
        near = did_you_mean(str(name), available_timezones())
        raise DefinitionError(
            f'timezone: {name!r} is not a time zone; give an IANA name, as "America/New_York"{near}'
        ) from None


def offset_us(info: tzinfo, us: int) -> int:
    """The time that a zone's clock shows at an instant, less UTC; microseconds."""
    return (from_us(us).astimezone(info).utcoffset() or timedelta()) // timedelta(microseconds=1)


def clock_changes(
    info: tzinfo, first: datetime, last: datetime, stride: timedelta
) -> tuple[list[int], list[int]]:
    """The instants between two naive times of UTC at which a zone's clock is changed, and the offsets before,
    between and after; microseconds. Within `stride` no clock is changed twice.
    """
    epoch, second = datetime(1970, 1, 1, tzinfo=info), timedelta(seconds=1)

    def differs(before: timedelta, seconds: int) -> bool:
        moment = epoch + seconds * second
        return info.fromutc(moment) - moment != before

    first, last = first.replace(tzinfo=info), last.replace(tzinfo=info)
    # each command looks its zones through: tens of thousands of instants, without a call of ours
    moments = [*(first + number * stride for number in range(-((first - last) // stride))), last]
    shown = [*map(sub, map(info.fromutc, moments), moments)]
    changes, offsets = list[int](), shown[:1]
    for (low, before), (high, after) in pairwise(zip(moments, shown, strict=True)):
        if before != after:
            seconds = range((low - epoch) // second, (high - epoch) // second)
            at = bisect_left(seconds, 1, key=partial(differs, before))
            changes.append((seconds.start + at) * 1_000_000)
            offsets.append(after)
    return changes, [each // timedelta(microseconds=1) for each in offsets]


_NEAR = 2 * UNITS["d"]
"""Clocks change by a day at most (Samoa left a day out), and since 1970 never twice in four days."""


@lru_cache(
    maxsize=2**16
)  # a job asks for the same borders again and again, and croniter takes a tenth of a millisecond
def tick_after(cron: str, zone: str, us: int) -> int:
    """The first tick after an instant, in microseconds since 1970 UTC."""
    ticks, local = list[int](), us
    times = _times(cron, us + min(_offsets(zone, us)), "get_next")
    while not ticks or local < min(ticks) + max(_offsets(zone, min(ticks))):
        local = next(times)
        ticks += [tick for tick in _instants(cron, zone, local) if tick > us]
    return min(ticks)


def tick_before(cron: str, zone: str, us: int) -> int:
    """The last tick before an instant, in microseconds since 1970 UTC."""
    times = _times(cron, us + min(_offsets(zone, us)), "get_prev")
    tick = next(max(ticks) for local in times if (ticks := _instants(cron, zone, local)))
    while (later := tick_after(cron, zone, tick)) < us:
        tick = later
    return tick


def _times(cron: str, local_us: int, way: str) -> Iterator[int]:
    """The times of a cron string from a time on, in one direction; microseconds of the local clock."""
    from croniter import croniter

    times = croniter(cron, from_us(local_us))
    while True:
        yield instant_us(getattr(times, way)(type(from_us(0))), "tick")


def _instants(cron: str, zone: str, local_us: int) -> list[int]:
    """The ticks at a time of the local clock: one; of a cron string of every hour, none to two."""
    info = zone_info(zone)
    if not _of_every_hour(cron):
        local = from_us(local_us).replace(tzinfo=info)
        return [max(instant_us(local.replace(fold=fold), "tick") for fold in (0, 1))]
    ticks = [local_us - offset for offset in _offsets(zone, local_us)]
    return [tick for tick in ticks if local_us - tick == offset_us(info, tick)]


def _offsets(zone: str, us: int) -> set[int]:
    """The offsets of a zone around an instant, microseconds."""
    return {offset_us(zone_info(zone), us + apart) for apart in (-_NEAR, 0, _NEAR)}


@lru_cache
def _of_every_hour(cron: str) -> bool:
    from croniter import croniter

    hours: list[int | str] = croniter.expand(cron)[0][1]
    return hours == ["*"]
