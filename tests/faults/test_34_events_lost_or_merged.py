"""Fault 34: asset events that come late, twice, merged or never. A run over another pipeline's windows reads all that it has not read."""

from pathlib import Path
from typing import Any

import pytest

from muntin import Pipeline, read, sources, windows
from muntin import aggregates as agg
from tests.end_to_end.hourly import START, Hourly, hour, times
from tests.faults.steps_of_a_run import Steps


def over(hours: Pipeline) -> Pipeline:
    return Pipeline(
        name="over",
        source=sources.windows(hours, "hour", event_time="window_start"),
        schedule="1h",
        start=START,
        windows={"two": windows.tumbling("2h")},
        aggregates={"n": agg.sum("n")},
    )


@pytest.fixture
def upstream(tmp_path: Path) -> Hourly:
    made = Hourly(tmp_path)
    for at in range(6):
        made.write(f"0{at}.parquet", {"at": times(*(60 * at + minute for minute in range(at + 1)))})
    return made


def published(upstream: Hourly) -> list[tuple[Any, Any]]:
    table = read(over(upstream.pipeline), "two", root=upstream.root)
    return list(zip(table["window_start"].to_pylist(), table["n"].to_pylist(), strict=True))


# upstream   0  1  2  3   2 again, 4  5
# told of             3                  5     or some twice, or in another order
@pytest.mark.parametrize("told", [[[3], [5]], [[0], [3], [3], [5, 5]], [[2], [1], [4]]])
def test_a_run_reads_all_that_is_new(told: list[list[int]], upstream: Hourly) -> None:
    downstream = Steps(upstream, over(upstream.pipeline))
    upstream.run(0, 3)
    for batches in told[:-1]:
        downstream.run(max(batches))
    upstream.write("02.parquet", {"at": times(*range(121, 151))})
    upstream.run(2, 5)
    downstream.run(max(told[-1]))
    assert published(upstream) == [(hour(0), 1 + 2), (hour(2), 30 + 4)]
