"""Frames of several lengths: windows of a time zone begin at their borders, and numbers, starts and SQL agree on them.

New York      |==== 23 h ====|1h|==== 23 h ====|1h|====      frames of days: midnight is at 4:00 or 5:00 of UTC
            5:00           4:00 5:00         4:00 5:00
"""

from itertools import pairwise

import duckdb
import numpy as np
import pytest

from muntin import windows
from muntin.definition.durations import UNITS
from muntin.definition.frame_sets import FrameSet
from muntin.definition.kinds import Cycle
from muntin.sources.reading.lift import frame_start
from muntin.sources.reading.refused_rows import BEYOND, EARLIEST
from muntin.states.frames import frame_numbers, frame_starts

HOUR, DAY = UNITS["h"], UNITS["d"]
ZONES = [
    "America/New_York",
    "America/Sao_Paulo",  # midnight was left out
    "America/St_Johns",  # changed its clocks at a minute past midnight, once by two hours
    "Africa/Monrovia",  # 44 minutes and 30 seconds behind UTC until 1972
    "Asia/Kathmandu",
    "Asia/Gaza",
    "Asia/Tehran",
    "Australia/Lord_Howe",  # by half an hour
    "Antarctica/Troll",  # by two hours
    "Pacific/Apia",  # a day was left out
    "Pacific/Kiritimati",
]
SIZES = [
    ("1d", None),
    ("1d", "23:59"),
    ("12h", "07:30"),
    ("6h", None),
    ("45m", None),
    ("36h", None),
    ("1w", "monday"),
    ("1mo", None),
    ("1q", "06:00"),
]


@pytest.mark.parametrize("name", ZONES)
def test_windows_of_a_zone_begin_where_frames_begin(name: str) -> None:
    dice = np.random.default_rng(0)
    for size, align in SIZES:
        window = windows.tumbling(size, align_to=align, timezone=name)
        changes = np.array(window.zone.changes[1:], np.int64)
        near = [changes + off for off in (-12 * HOUR, -HOUR, -1, 0, 1, HOUR, 12 * HOUR)]
        for border in window.bounds(np.concatenate([dice.integers(-(10**16), 6 * 10**15, 300), *near])):
            assert np.isin(border % window.cycle.width_us, window.cycle.cuts_us).all(), (size, align)


CYCLES = [Cycle(10, (0,)), Cycle(10, (3,)), Cycle(10, (3, 4)), Cycle(24 * HOUR, (4 * HOUR, 5 * HOUR)), Cycle(7, (0, 2, 6))]


@pytest.mark.parametrize("cycle", CYCLES, ids=str)
def test_numbers_starts_and_sql_say_the_same(cycle: Cycle) -> None:
    at = np.array(sorted([*range(-25, 25), EARLIEST, BEYOND - 1, *(5 * HOUR * turn + off for turn in range(-9, 9) for off in (-1, 0, 1))]))
    borders = [turn * cycle.width_us + cut for turn in range(-5, 5) for cut in cycle.cuts_us]
    number = frame_numbers(at, cycle)
    start = frame_starts(number, cycle)
    assert (frame_starts(frame_numbers(start, cycle), cycle) == start).all()
    assert (start <= at).all()
    assert (at < frame_starts(number + 1, cycle)).all()
    for low, high in pairwise(borders):
        inside = at[(at >= low) & (at < high)]
        assert set(frame_starts(frame_numbers(inside, cycle), cycle).tolist()) <= {low}
    sql = frame_start(FrameSet(cycle.width_us, (), event_times=False, cuts_us=cycle.cuts_us))
    with duckdb.connect() as session:
        session.register("given", {"muntin_time": at})
        assert [row[0] for row in session.sql(f"SELECT {sql} FROM given").fetchall()] == start.tolist()


REFINED = [
    (Cycle(24, (4, 5)), Cycle(24, (4, 5)), True),
    (Cycle(24, (4, 5)), Cycle(24, (5,)), True),
    (Cycle(24, (5,)), Cycle(24, (4, 5)), False),
    (Cycle(24, (4, 5)), Cycle(168, (100, 101)), True),  # 100 is 4 and 101 is 5 after whole days
    (Cycle(24, (4, 5)), Cycle(168, (99,)), False),
    (Cycle(6, (4, 5)), Cycle(24, (4, 5)), True),
    (Cycle(24, (4, 5)), Cycle(6, (4, 5)), False),
    (Cycle(10, (0,)), Cycle(25, (0,)), False),  # 25 is no border
    (Cycle(5, (0,)), Cycle(25, (0, 10)), True),
    (Cycle(1, (0,)), Cycle(24, (4, 5)), True),
]


@pytest.mark.parametrize(("fine", "coarse", "does"), REFINED)
def test_which_cycle_refines_another(fine: Cycle, coarse: Cycle, *, does: bool) -> None:
    assert fine.refines(coarse) == does
    naive = {turn * coarse.width_us + cut for turn in range(50) for cut in coarse.cuts_us}
    assert naive <= {turn * fine.width_us + cut for turn in range(1500) for cut in fine.cuts_us} or not does
