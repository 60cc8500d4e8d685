"""What needs a person, and what does not: by table, over statuses made up for it."""

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from muntin.definition.instants import instant_us
from muntin.jobs.inspect.status import PipelineStatus, WindowStatus
from muntin.jobs.sending.standing import SinkStanding
from muntin.page.installation import Known
from muntin.page.views.overview import _of_silence, _of_sinks, _of_unpublished
from tests.end_to_end.hourly import Hourly, hour

MINUTE = timedelta(minutes=1)


def status(last: datetime | None, run: datetime | None, *, unpublished: int = 0, waiting: int = 0) -> PipelineStatus:
    window = WindowStatus("hour", last, last, 1, 1, None, None, None, 0, 0, unpublished)
    return PipelineStatus("hourly", "0", 1, 0, (window,), tuple(hour(n) for n in range(waiting)), (), (), run)


# batches of an hour; the last one [3, 4)
#   read at 4:05, and it is 4:30, 6:00          on time, the next is not due for two intervals: nobody is called
#   read at 4:05, and it is 6:01                two intervals without a batch: somebody is
#   read a day later                            it works through the past: nobody
@pytest.mark.parametrize(
    ("last", "run", "now", "called"),
    [
        (hour(3), hour(4) + 5 * MINUTE, hour(4.5), False),
        (hour(3), hour(4) + 5 * MINUTE, hour(6), False),
        (hour(3), hour(4) + 5 * MINUTE, hour(6) + MINUTE, True),
        (hour(3), hour(28), hour(29), False),
        (hour(3), hour(28), hour(99), False),
        (hour(3), None, hour(99), False),
        (None, hour(4), hour(99), False),
    ],
)
def test_silence(tmp_path: Path, last: datetime | None, run: datetime | None, now: datetime, called: bool) -> None:
    calls = _of_silence(Hourly(tmp_path).pipeline, status(last, run), instant_us(now, "now"))
    assert [call.what for call in calls] == (["no batch since 2024-01-01T03:00"] if called else [])


@pytest.mark.parametrize(("unpublished", "waiting", "left"), [(0, 0, 0), (2, 2, 0), (2, 0, 2), (3, 2, 1)])
def test_batches_that_wait_for_a_hole_are_no_failure(unpublished: int, waiting: int, left: int) -> None:
    calls = _of_unpublished(status(hour(3), None, unpublished=unpublished, waiting=waiting))
    assert [call.what.partition(" ")[0] for call in calls] == ([str(left)] if left else [])


def test_a_sink_that_is_down_calls_with_its_reason() -> None:
    down, behind = (
        SinkStanding("topic t at b:9092", "hour", 3, 2, None, "b:9092: refused"),
        SinkStanding("table t at w", "hour", 3, 2, None, ""),
    )
    known = Known("hourly", Path("state"), None, Path("dags/hourly.py"))
    (call,) = _of_sinks(known, replace(status(hour(3), None), sinks=(down, behind)))
    assert call.what == "hour was not sent to topic t at b:9092: b:9092: refused"
    assert call.command == "muntin sinks dags/hourly.py --root state --send"
