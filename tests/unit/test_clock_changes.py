"""Local times are read as Python's zoneinfo reads them, both showings of a time that comes twice, in every year."""

import random
from datetime import datetime, timedelta
from itertools import product
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from muntin.sources.new_session import connect
from muntin.sources.reading.local_times import CHANGE, FIRST, SECOND, Fold, changes_before, instants
from tests.case_counts import some


def local(text: str) -> datetime:
    """What a clock shows."""
    return datetime.fromisoformat(text)


EPOCH, MICROSECOND = local("1970-01-01"), timedelta(microseconds=1)
ZONES = {
    "Europe/Vienna": "an hour, and double summer times in wars",
    "Australia/Lord_Howe": "half an hour",
    "America/Sao_Paulo": "midnights that never were",
    "Pacific/Apia": "a day that never was, and one that came twice in 1892",
    "Pacific/Kwajalein": "another one, in 1993",
    "Africa/Freetown": "twice within four days in 1939",
    "Africa/Monrovia": "44 minutes and 30 seconds in 1972",
    "Africa/Casablanca": "back and forth around Ramadan",
    "America/Havana": "midnights that come twice",
    "Europe/Dublin": "winter time that is the exception",
    "Antarctica/Troll": "two hours",
    "Asia/Kathmandu": "a quarter of an hour in 1986, and never since",
    "UTC": "never",
}


def us(shown: datetime) -> int:
    return (shown - EPOCH) // MICROSECOND


def by_python(local_us: int, zone: str, fold: Fold) -> int:
    offset = (EPOCH + timedelta(microseconds=local_us)).replace(fold=fold, tzinfo=ZoneInfo(zone)).utcoffset()
    assert offset is not None
    return local_us - offset // MICROSECOND


def changed(zone: str, first: int, last: int) -> list[datetime]:
    """The local hours of some years in which Python's offsets differ from those before, by asking for each hour."""
    info, begin = ZoneInfo(zone), local(f"{first}-01-01")
    shown = [begin + timedelta(hours=at) for at in range((local(f"{last}-01-01") - begin) // timedelta(hours=1))]
    offsets = [(each.replace(tzinfo=info, fold=fold)).utcoffset() for each in shown for fold in (0, 1)]
    return [each for at, each in enumerate(shown) if at and offsets[2 * at - 2 : 2 * at] != offsets[2 * at : 2 * at + 2]]


@pytest.mark.parametrize(("zone", "fold"), some(product(ZONES, [0, 1]), one_in=8))
def test_each_minute_around_a_change_is_read_as_python_reads_it(zone: str, fold: Fold) -> None:
    years = [(1890, 1894), (1938, 1946), (1971, 1973), (1985, 1987), (1993, 1994), (2010, 2013), (2018, 2019), (2149, 2151), (2800, 2801)]
    found = [each for first, last in years for each in changed(zone, first, last)]
    shown = [us(each + timedelta(minutes=minute)) for each in found for minute in range(-90, 90)]
    shown += [at + step for at in shown[::30] for step in (-1, 1)]
    assert instants(np.array(shown, np.int64), zone, fold).tolist() == [by_python(each, zone, fold) for each in shown]
    assert found or zone == "UTC"


@pytest.mark.parametrize(("zone", "fold"), some(product(ZONES, [0, 1]), one_in=3))
def test_so_is_each_time_of_the_years_1_to_9999(zone: str, fold: Fold) -> None:
    drawn = random.Random(f"{zone} {fold}")
    low, high = us(local("0001-01-02")), us(local("9999-12-31"))
    recent = us(local("1900-01-01")), us(local("2150-01-01"))
    shown = [drawn.randrange(low, high) for _ in range(3_000)] + [drawn.randrange(*recent) for _ in range(3_000)]
    alone = [int(instants(np.array([each]), zone, fold)[0]) for each in shown[:200]]
    assert instants(np.array(shown), zone, fold).tolist() == [by_python(each, zone, fold) for each in shown]
    assert alone == instants(np.array(shown), zone, fold)[:200].tolist()


@pytest.mark.parametrize("year", [2024, 2300])
def test_each_repeated_hour_has_a_number_of_its_own(year: int) -> None:
    twice = [each for at in (year, year + 1) for each in changed("Europe/Vienna", at, at + 1) if each.month == 10]
    begins = [us(each) for each in twice[::2]]  # each has a begin and an end
    number = changes_before(np.array([begins[0], begins[0] + 3_599_999_999, begins[1]]), "Europe/Vienna")
    assert number[0] == number[1] != number[2]


def test_sql_has_these_readings() -> None:
    summer, twice, never = us(local("2024-07-01")), us(local("2024-10-27 02:30")), us(local("2024-03-31 02:30"))
    values = f"(VALUES (1, {summer}), (2, {twice}), (3, {never}), (4, NULL)) AS each(number, t)"
    with connect("Europe/Vienna") as session:
        told = session.execute(f"SELECT {FIRST}(t), {SECOND}(t), {CHANGE}(t) IS NULL FROM {values} ORDER BY number").fetchall()
    wanted = [(by_python(each, "Europe/Vienna", 0), by_python(each, "Europe/Vienna", 1), False) for each in (summer, twice, never)]
    assert told == [*wanted, (None, None, True)]
