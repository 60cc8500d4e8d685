"""How many earlier batches a run compares with their files: the newest, and of the others each once a day."""

from datetime import timedelta

import numpy as np
import pytest

from muntin.definition.durations import DAY_US
from muntin.definition.schedule import Interval
from muntin.jobs.inputs.changed_files import NEWEST, turn

BATCHES = 100_000


@pytest.mark.parametrize("every", [timedelta(minutes=1), timedelta(minutes=15), timedelta(hours=1), timedelta(hours=7), timedelta(days=1)])
def test_the_runs_of_a_day_look_at_every_batch_and_each_at_its_part(every: timedelta) -> None:
    length_us = every // timedelta(microseconds=1)
    begin_us = 3 * DAY_US // length_us * length_us
    starts = begin_us - length_us * np.arange(BATCHES, 0, -1)
    runs = [Interval(at, at + length_us) for at in range(begin_us, begin_us + DAY_US, length_us)]
    looked_at = [turn(starts, [run]) for run in runs]
    assert np.logical_or.reduce(looked_at).all()
    assert all(mask[-NEWEST:].all() for mask in looked_at)
    part = min(1.0, length_us / DAY_US)
    assert max(int(mask.sum()) for mask in looked_at) <= (1 + np.ceil(2 * part * BATCHES / NEWEST)) * NEWEST


def test_runs_at_once_look_at_what_each_would() -> None:
    starts = 3_600_000_000 * np.arange(BATCHES)
    hours = [Interval(3_600_000_000 * at, 3_600_000_000 * (at + 1)) for at in range(6)]
    assert (turn(starts, hours) == np.logical_or.reduce([turn(starts, [each]) for each in hours])).all()
    assert turn(starts, []).sum() == NEWEST
