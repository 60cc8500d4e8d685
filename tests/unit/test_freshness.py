"""How fresh a definition asks windows to be: what can be asked, and that it is no part of states and results."""

from dataclasses import replace
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from muntin import Limits, sources
from muntin.definition.durations import spell
from muntin.definition.time_limits import Freshness, freshness
from muntin.errors import DefinitionError
from muntin.jobs.state.fingerprint import derivation, fingerprint
from tests.end_to_end.hourly import Hourly, hour

HOUR_US = 3_600_000_000


def pipeline(tmp_path: Any, **other: Any) -> Any:
    return Hourly(tmp_path, other=other).pipeline


@pytest.mark.parametrize(("asked", "us"), [(None, None), ("2h", 2 * HOUR_US), ("61m", 61 * 60_000_000), (2 * HOUR_US, 2 * HOUR_US)])
def test_what_can_be_asked(tmp_path: Any, asked: Any, us: int | None) -> None:
    assert pipeline(tmp_path, limits=Limits(fresh_within=asked)).fresh_within_us == us


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ("0", "longer than 0"),
        ("2 hours", "not a duration"),
        (True, "not a duration"),
    ],
)
def test_what_cannot(tmp_path: Any, asked: Any, says: str) -> None:
    with pytest.raises(DefinitionError, match=says):
        pipeline(tmp_path, limits=Limits(fresh_within=asked))


def test_it_changes_neither_states_nor_windows(tmp_path: Any) -> None:
    plain, fresh = pipeline(tmp_path), pipeline(tmp_path, limits=Limits(fresh_within="2h"))
    assert fingerprint(fresh) == fingerprint(plain)
    assert derivation(fresh, "hour") == derivation(plain, "hour")


@pytest.mark.parametrize(
    ("now", "late_us", "met", "says"),
    [
        (3, -HOUR_US, True, "every interval that has ended is published"),
        (5, HOUR_US, True, "an interval that ended 1h ago is not published"),
        (6, 2 * HOUR_US, True, "an interval that ended 2h ago is not published"),
        (6.5, 2.5 * HOUR_US, False, "an interval that ended 150m ago is not published"),
    ],
)
def test_each_batch_is_published_soon_after_its_interval(now: float, late_us: int, met: bool, says: str, tmp_path: Any) -> None:
    """Hours 0 to 2 are published of one window, and hour 3 of another, too: hour 3 is due at 04:00 + 2h."""
    hourly = pipeline(tmp_path, limits=Limits(fresh_within="2h"))
    starts = [int(hour(2).timestamp() * 1e6), int(hour(3).timestamp() * 1e6)]
    fresh = freshness(hourly.fresh_within_us, starts, hourly.intervals, int(hour(now).timestamp() * 1e6))
    assert fresh == Freshness(2 * HOUR_US, int(late_us))
    assert (fresh.met, fresh.in_words(spell)) == (met, says)
    assert not freshness(2 * HOUR_US, [*starts, None], hourly.intervals, 0).met  # type: ignore[union-attr]


def test_a_daily_batch_is_due_some_hours_after_midnight_of_its_clock(tmp_path: Any) -> None:
    """The day of 31 March has 23 hours in Berlin, and is due at three in the morning all the same."""
    berlin = ZoneInfo("Europe/Berlin")
    daily = replace(
        pipeline(tmp_path), schedule="@daily", timezone="Europe/Berlin", start=datetime(2024, 3, 1, tzinfo=berlin),
        source=sources.files("{start:%Y-%m-%d}.parquet", event_time="at"), limits=Limits(fresh_within="3h"),
    )  # fmt: skip
    newest = int(datetime(2024, 3, 30, tzinfo=berlin).timestamp() * 1e6)
    for minutes, met in ((0, True), (1, False)):
        now_us = int(datetime(2024, 4, 1, 3, minutes, tzinfo=berlin).timestamp() * 1e6)
        assert freshness(daily.fresh_within_us, [newest], daily.intervals, now_us).met is met  # type: ignore[union-attr]
