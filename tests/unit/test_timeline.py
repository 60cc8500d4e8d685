"""Watermarks, closing, history, schedules, durations: tables of examples."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import numpy as np
import pytest

from muntin.definition.durations import UNITS, microseconds, not_negative, positive, spell
from muntin.definition.instants import BEFORE_ALL, from_us, instant_us
from muntin.definition.schedule import Interval, Schedule, schedule_of
from muntin.definition.several_sources import Watermarking
from muntin.errors import DefinitionError
from muntin.timeline.batches import Batches
from muntin.timeline.closing import closing, watermarks
from muntin.timeline.history import history
from muntin.windows.kind import Window
from muntin.windows.kinds.session import Session
from muntin.windows.kinds.tumbling import Tumbling

DAY = UNITS["d"]
BY_TEN = Schedule(None, 10, 0, 0)


def batches(*starts: int, newest: Sequence[int | None] = ()) -> Batches:
    seen = [BEFORE_ALL if us is None else us for us in newest] or [BEFORE_ALL] * len(starts)
    return Batches.of((start, start + 10, 1000 + start, us, start, start + 9, 1) for start, us in zip(starts, seen, strict=True))


@pytest.mark.parametrize(
    ("policy", "newest", "expected"),
    [
        ("interval", [None, 99, 3], [10, 20, 30]),
        ("events", [None, 7, 3, 12], [BEFORE_ALL, 7, 7, 12]),
        ("events", [None, None], [BEFORE_ALL, BEFORE_ALL]),
        ("events", [-5, -9], [-5, -5]),
        ("events", [], []),
    ],
)
def test_the_watermark_never_moves_back(policy: str, newest: list[int | None], expected: list[int]) -> None:
    assert watermarks(batches(*range(0, 10 * len(newest), 10), newest=newest), Watermarking(policy)).tolist() == expected


# W after batches 0, 1, 2:   10   20   21
@pytest.mark.parametrize(
    ("window", "end", "closes"),
    [
        (Tumbling(10), 20, 1),
        (Tumbling(10), 21, 2),
        (Tumbling(10), 22, 3),
        (Tumbling(10, 0, None, 1), 20, 2),
        (Session(5), 20, 2),
        (Session(5), 19, 1),
        (Session(5, "split"), 20, 1),
        (Session(5, "merge", 1), 19, 2),
    ],
)
def test_at_the_end_or_behind_it(window: Window, end: int, closes: int) -> None:
    when = closing(window, np.array([10, 20, 21]))
    assert when.batch_of(np.array([end])).tolist() == [closes]
    assert [bool(end <= floor) for floor in when.floor] == [at > closes for at in range(4)]


def test_before_any_event_nothing_is_closed() -> None:
    assert closing(Tumbling(10, 0, None, 5), np.array([BEFORE_ALL, 3])).floor.tolist() == [BEFORE_ALL, BEFORE_ALL, -2]


# intervals  0  1  2  .  4  .  6
RUNS = batches(0, 10, 20, 40, 60)
NONE = np.empty(0, np.int64)


@pytest.mark.parametrize(
    ("published", "asked", "chosen"),
    [([], [], [0, 10, 20]), ([], [40], [40]), ([40], [0], [40]), ([0, 10], [60], [0, 10, 20]), ([], [60, 40], [40])],
)
def test_history_is_one_run(published: list[int], asked: list[int], chosen: list[int]) -> None:
    found = history(RUNS, np.array(published, np.int64), np.array(asked, np.int64), BY_TEN)
    assert found.batches.start_us.tolist() == chosen
    assert Batches.joined([found.batches, found.waiting]).version.tolist() == RUNS.version.tolist()
    assert found.missing == (Interval(30, 40), Interval(50, 60))


def borders(schedule: object, start: datetime, end: datetime) -> list[str]:
    first = instant_us(start, "start")
    found = schedule_of(schedule, first).intervals(first, instant_us(end, "end"))
    assert all(one.end_us == other.start_us for one, other in pairwise(found))
    return [f"{from_us(one.start_us):%m-%dT%H:%M}" for one in found]


def at(month: int, day: int, hour: int = 0, minute: int = 0) -> datetime:
    return datetime(2024, month, day, hour, minute, tzinfo=UTC)


@pytest.mark.parametrize(
    ("schedule", "start", "end", "starts"),
    [
        ("@daily", at(2, 28), at(3, 1), ["02-28T00:00", "02-29T00:00"]),
        ("@monthly", at(1, 1), at(3, 1), ["01-01T00:00", "02-01T00:00"]),
        ("@weekly", at(1, 7), at(1, 21), ["01-07T00:00", "01-14T00:00"]),
        ("0 6 * * 1", at(1, 1, 6), at(1, 15, 6), ["01-01T06:00", "01-08T06:00"]),
        ("*/30 9-10 * * *", at(1, 1, 10), at(1, 2, 9, 30), ["01-01T10:00", "01-01T10:30", "01-02T09:00"]),
        ("7m", at(1, 1, 0, 3), at(1, 1, 0, 17), ["01-01T00:03", "01-01T00:10"]),
        (timedelta(hours=12), at(1, 1), at(1, 1), []),
    ],
)
def test_a_schedule_cuts_time(schedule: object, start: datetime, end: datetime, starts: list[str]) -> None:
    assert borders(schedule, start, end) == starts


@pytest.mark.parametrize(
    ("schedule", "start", "end", "said"),
    [
        ("@daily", at(1, 1, 5), at(1, 2), "take 2024-01-01 or 2024-01-02"),
        ("1h", at(1, 1), at(1, 1, 1, 30), "T01:00 or 2024-01-01T02:00"),
        ("0 6 * * *", at(1, 1, 6), at(1, 2), "not a border"),
        ("1h", at(1, 2), at(1, 1), "before"),
    ],
)
def test_what_is_not_of_the_schedule_is_refused(schedule: str, start: datetime, end: datetime, said: str) -> None:
    with pytest.raises(DefinitionError, match=said):
        borders(schedule, start, end)


@pytest.mark.parametrize("schedule", ["61 * * * *", "daily", "0 0 * *", "-1h", 0, None, "@never"])
def test_no_schedule(schedule: object) -> None:
    with pytest.raises(DefinitionError, match="schedule"):
        schedule_of(schedule, 0)


@pytest.mark.parametrize(
    ("text", "us"),
    [("90s", 90_000_000), (" 6 h ", 6 * UNITS["h"]), ("1w", 7 * DAY), ("0", 0), (timedelta(days=1), DAY), (5, 5), ("-1s", -1_000_000)],
)
def test_durations(text: str, us: int) -> None:
    assert microseconds(text, "size") == us
    assert us <= 0 or microseconds(spell(us), "size") == us


@pytest.mark.parametrize("text", ["1.5h", "1 fortnight", "", "h", True, None, 1.5, "1h30m"])
def test_no_duration(text: object) -> None:
    with pytest.raises(DefinitionError, match=r"size.*is not a duration"):
        microseconds(text, "size")


def test_too_short() -> None:
    for refused in (lambda: positive(0, "gap"), lambda: positive("-1s", "gap"), lambda: not_negative(-1, "gap")):
        with pytest.raises(DefinitionError, match="gap"):
            refused()


@pytest.mark.parametrize("value", [datetime(2024, 1, 1), "2024-01-01", 5])  # noqa: DTZ001 - naive on purpose
def test_only_aware_datetimes_are_instants(value: object) -> None:
    with pytest.raises(DefinitionError, match="start"):
        instant_us(value, "start")
