"""Windows over windows close with the batch that the docs name: time is the upstream's watermark less its grace, and its length by starts.

batches    |   0   |   1   |   2   |      of an hour; W is the end of a batch
upstream   (.. 0:30] (0:30 .. 1:00] ...   closed with batch 0: (0:00, 0:30]; (0:30, 1:00] is open, an event may come at 1:00
downstream [0:30, 1:00) holds windows that end before 1:00: no more of them can come, so that batch 0 closes it
"""

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import Pipeline, read, run, sources, windows
from muntin import aggregates as agg
from muntin.jobs.inspect.late import late
from muntin.tasks import Local
from tests.case_counts import at_length, cases

HERE, START, HOUR, MINUTE = Local(1), datetime(2024, 5, 1, tzinfo=UTC), timedelta(hours=1), timedelta(minutes=1)
KINDS: dict[str, tuple[Any, timedelta, timedelta]] = {  # kind, grace, greatest length
    "left": (windows.tumbling("30m"), 0 * HOUR, HOUR / 2),
    "right": (windows.tumbling("30m", closed="right"), 0 * HOUR, HOUR / 2),
    "right, graced": (windows.tumbling("30m", closed="right", grace="20m"), HOUR / 3, HOUR / 2),
    "right, sliding": (windows.sliding("40m", step="20m", closed="right"), 0 * HOUR, 40 * MINUTE),
    "right, so far": (windows.cumulating("1h", step="20m", closed="right"), 0 * HOUR, HOUR),
    "right, days": (windows.tumbling("1d", timezone="Europe/Berlin", closed="right"), 0 * HOUR, 25 * HOUR),
    "visits": (windows.session("20m"), 0 * HOUR, 0 * HOUR),
    "visits that touch": (windows.session("20m", touching="merge"), 0 * HOUR, 0 * HOUR),
}
BATCHES = 6


def judged(folder: Path, kind: str, at: str, seed: int, below: str, *, batches: int = BATCHES) -> None:
    """Compare each closing batch with that of the rule, and the events with the upstream's windows."""
    dice, root = random.Random(seed), folder / "state"
    for number in range(batches):
        begin = START + number * HOUR
        own = [begin + dice.choice((0, 5, 20, 30, 35, 40, 59)) * MINUTE for _ in range(dice.randrange(1, 4))]
        pq.write_table(pa.table({"at": pa.array(own, pa.timestamp("us", "UTC"))}), folder / f"{begin:%d%H}.parquet")
    window, grace, length = KINDS[kind]
    same: dict[str, Any] = {"schedule": "1h", "start": START, "aggregates": {"n": agg.count()}}
    up = Pipeline(name="up", source=sources.files(str(folder / "{start:%d%H}.parquet"), event_time="at"), windows={"u": window}, **same)
    down = Pipeline(name="down", source=sources.windows(up, "u", event_time=f"window_{at}"), windows={"w": windows.tumbling(below)}, **same)  # type: ignore[arg-type]
    for number in range(batches):
        for each in (up, down):
            run(each, root=root, start=START + number * HOUR, end=START + (number + 1) * HOUR, spark=HERE)
    behind = grace + (length if at == "start" else 0 * HOUR)
    ends = [START + (number + 1) * HOUR - behind for number in range(batches)]
    events = Counter[datetime]()
    for row in read(up, "u", root=root).to_pylist():
        events[row[f"window_{at}"]] += 1
    found = read(down, "w", root=root).to_pylist()
    for row in found:
        closing = next(number for number, known in enumerate(ends) if row["window_end"] <= known)
        assert row["batch"] == START + HOUR * closing, (row, ends)
        assert row["n"] == sum(count for when, count in events.items() if row["window_start"] <= when < row["window_end"])
    assert sum(row["n"] for row in found) == sum(
        count for when, count in events.items() if when < max((row["window_end"] for row in found), default=START)
    )
    assert not late(down, root=root)


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_closes_what_nothing_can_come_to(kind: str, tmp_path: Path) -> None:
    judged(tmp_path, kind, "end", 1, "30m", batches=4)


@pytest.mark.parametrize("kind", ["right", "right, graced"])
def test_by_starts_the_length_counts_too(kind: str, tmp_path: Path) -> None:
    judged(tmp_path, kind, "start", 2, "30m", batches=4)


@at_length
@pytest.mark.parametrize("seed", range(cases(400)))
def test_random_stages_close_as_the_rule_says(seed: int, tmp_path: Path) -> None:
    dice = random.Random(seed)
    kind = dice.choice([*KINDS])
    at = "end" if kind.startswith("visits") else dice.choice(["end", "start"])
    judged(tmp_path, kind, at, seed, dice.choice(["10m", "30m", "1h"]), batches=30 if kind == "right, days" else BATCHES)
