"""What the newest batch took beside what is usual, when the next is expected, and whose it is."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from muntin.definition.instants import instant_us
from muntin.definition.schedule import Interval
from muntin.extensions.page.html import page
from muntin.extensions.page.views.held import Around
from muntin.extensions.page.views.overview import Line
from muntin.extensions.page.views.pace import Pace, pace
from muntin.extensions.page.views.trends import Week
from muntin.jobs.records.batch_status import BatchStates
from tests.end_to_end.hourly import Hourly, hour
from tests.page.conftest import client_of
from tests.page.sensors import Sensors
from tests.page.test_pages import words

NONE = np.zeros(0, np.int64)
MINUTE_US = 60_000_000
KEEPS_UP = BatchStates(keeps_up=True, last=(instant_us(hour(3), "last"), instant_us(hour(4), "last")))
FOURTH = Interval(instant_us(hour(4), "next"), instant_us(hour(5), "next"))


def week(*took_s: float, lag_s: float | None = 120) -> Week:
    return Week(NONE, NONE, {}, NONE, len(took_s), np.array(took_s), lag_s)


# the batch of [3, 4) was read in time; batches are usually published two minutes after their end
@pytest.mark.parametrize(
    ("last_week", "states", "wanted"),
    [
        (week(1, 2, 9, 4), KEEPS_UP, Pace(4, 2, FOURTH, FOURTH.end_us + 2 * MINUTE_US)),
        (week(4), KEEPS_UP, Pace(4, None, FOURTH, FOURTH.end_us + 2 * MINUTE_US)),
        (week(4, 4, lag_s=None), KEEPS_UP, Pace(4, 4, FOURTH, FOURTH.end_us)),
        (week(4, 4), replace(KEEPS_UP, keeps_up=False), Pace(4, 4, None, None)),  # it works through the past
        (week(4, 4), None, Pace(4, 4, None, None)),
        (None, KEEPS_UP, None),
    ],
)
def test_pace(tmp_path: Path, last_week: Week | None, states: BatchStates | None, wanted: Pace | None) -> None:
    assert pace(Hourly(tmp_path).pipeline, last_week, states) == wanted


def test_a_batch_that_took_more_than_twice_as_long_is_slow() -> None:
    assert [Pace(took_s, 4, None, None).is_slow for took_s in (8, 8.1)] == [False, True]
    assert not Pace(8, None, None, None).is_slow


def test_now_says_it(made: Sensors) -> None:
    def now(**more: Any) -> str:
        given = {"up": "", "name": "s", "tab": "now", "tabs": (), "line": Line("s"), "batches": [], "dead": (), "pictures": {}}
        return page("now.html", **given | {"now_us": FOURTH.end_us, "owner": None, "paused": False} | more)

    coming = Pace(90, 2, FOURTH, FOURTH.end_us + MINUTE_US)
    said = words(now(pace=coming))
    assert "the newest batch took 1 min 30 s usually 2.0 s" in said
    assert "next expected 2024-01-01 05:01 [2024-01-01 04:00, 2024-01-01 05:00)" in said
    assert "next expected its DAG is paused [" in words(now(pace=coming, paused=True))
    assert now(pace=coming).count('<dd class="warning">') == 1  # it took long
    assert now(pace=coming, now_us=coming.expected_us + 1).count('<dd class="warning">') == 2  # and the next is late
    owned = client_of(made, around=lambda _: Around(in_airflow=True, owners={"sensors": "<b>shop team"})).get("/pipeline/sensors/now").text
    assert "owner <b>shop team" in words(owned).replace("&lt;", "<")
    assert "<b>shop" not in owned
    assert "the newest batch took" in words(owned)
