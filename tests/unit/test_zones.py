"""Local windows: days of 23 and 25 hours, half hours, zones that changed their rules or lost a day."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from muntin.definition.clocks import offset_us, zone_info
from muntin.definition.durations import DAY_US
from muntin.definition.instants import from_us, instant_us
from muntin.errors import DefinitionError
from muntin.windows import tumbling
from muntin.windows.clock import zone

HOUR = timedelta(hours=1)
HALF = HOUR / 2


def window(local: str, name: str, size: str = "1d", align: str | None = None) -> tuple[datetime, datetime]:
    """The window that holds a local time, in UTC."""
    at = datetime.fromisoformat(local).replace(tzinfo=ZoneInfo(name))
    [(start, end)] = tumbling(size, align_to=align, timezone=name).windows_for(instant_us(at, "at"))
    return from_us(start), from_us(end)


DAYS = [
    ("America/New_York", "2024-03-10T12:00", 23 * HOUR),
    ("America/New_York", "2024-11-03T12:00", 25 * HOUR),
    ("America/New_York", "2024-07-04T12:00", 24 * HOUR),
    ("Australia/Lord_Howe", "2024-04-07T12:00", 24 * HOUR + HALF),
    ("Australia/Lord_Howe", "2024-10-06T12:00", 24 * HOUR - HALF),
    ("Asia/Kathmandu", "2024-01-01T12:00", 24 * HOUR),
    ("Asia/Kathmandu", "1985-12-31T12:00", 24 * HOUR),  # +5:30 until midnight
    ("Asia/Kathmandu", "1986-01-01T12:00", 24 * HOUR - HALF / 2),  # 00:00 became 00:15
    ("Europe/Moscow", "2011-03-27T12:00", 23 * HOUR),  # summer time for good
    ("Europe/Moscow", "2014-10-26T12:00", 25 * HOUR),  # winter time for good
    ("Europe/Moscow", "2014-03-30T12:00", 24 * HOUR),  # none of either in between
    ("Pacific/Apia", "2011-12-29T12:00", 24 * HOUR),  # the 30th never was
    ("Pacific/Apia", "2011-12-31T12:00", 24 * HOUR),
    ("America/Sao_Paulo", "2018-11-04T12:00", 23 * HOUR),  # midnight does not exist
    ("America/Sao_Paulo", "2018-02-17T12:00", 25 * HOUR),  # 23:00 comes twice
]


@pytest.mark.parametrize(("name", "local", "length"), DAYS, ids=lambda value: str(value)[:20])
def test_a_local_day_is_as_long_as_it_was(name: str, local: str, length: timedelta) -> None:
    start, end = window(local, name)
    assert end - start == length
    assert start.astimezone(ZoneInfo(name)).date() == datetime.fromisoformat(local).date()


@pytest.mark.parametrize("name", ["UTC", "Africa/Casablanca", "Africa/Monrovia", *dict.fromkeys(name for name, *_ in DAYS)])
def test_a_zone_is_its_clock_at_each_day_and_change(name: str) -> None:
    where, info = zone(name), zone_info(name)
    days = range(instant_us(datetime(1970, 1, 1, tzinfo=UTC), "at"), instant_us(datetime(2150, 1, 1, tzinfo=UTC), "at"), DAY_US)
    around = [change + apart for change in where.changes[1:] for apart in (-1_000_000, 0)]
    for at in [*days, *around]:
        assert where.local(at) == at + offset_us(info, at)
    assert all(before != after for before, after in pairwise(where.offsets))


# New York, 23:59 to 23:59:   03-09 |----- 23 h -----| 03-10          11-02 |------ 25 h ------| 11-03
def test_every_day_at_one_to_midnight() -> None:
    assert window("2024-03-10T12:00", "America/New_York", align="23:59") == (
        datetime(2024, 3, 10, 4, 59, tzinfo=UTC),
        datetime(2024, 3, 11, 3, 59, tzinfo=UTC),
    )
    start, end = window("2024-11-03T12:00", "America/New_York", align="23:59")
    assert end - start == 25 * HOUR


# a border that the clock skips is the moment of the change
def test_a_border_in_a_gap() -> None:
    start, end = window("2024-03-10T12:00", "America/New_York", align="02:30")
    assert (start, end) == (datetime(2024, 3, 10, 7, tzinfo=UTC), datetime(2024, 3, 11, 6, 30, tzinfo=UTC))


@pytest.mark.parametrize("name", ["America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia", "America/St_Johns", "UTC"])
@pytest.mark.parametrize("size", ["15m", "1h", "2h", "6h", "1d", "1w"])
def test_windows_tile_time_and_no_frame_lies_in_two(name: str, size: str) -> None:
    kind = tumbling(size, align_to="01:00", timezone=name)
    width, dice = kind.frame_us(0), np.random.default_rng(7)
    changes = np.array([change for change in zone(name).changes if 0 < change < 2**61] or [0])
    instants = dice.choice(changes, 300) + dice.integers(-3 * 86_400_000_000, 3 * 86_400_000_000, 300)
    start, end = kind.bounds(instants)
    assert bool(np.all((start <= instants) & (instants < end)))
    assert bool(np.all((start % width == 0) & (end % width == 0)))
    after, before = kind.bounds(end)[0], kind.bounds(start - 1)[1]
    assert bool(np.all((after == end) & (before == start)))


@pytest.mark.parametrize("name", ["Mars/Olympus", "", "New York", "../etc/passwd"])
def test_no_such_zone(name: str) -> None:
    with pytest.raises(DefinitionError, match="time zone"):
        zone(name)
