"""Windows that end together are read in the order of their starts and keys, however their pipeline was cut into shards and files.

minute   0   1   2       4        9
a        *---------------*--------)     a and d begin and end together: a before d
b            *-----------*--------)     b begins later: behind d
c                *-------*--------)     and then c
d        *---------------*--------)
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import Pipeline, read, run, sources, windows
from muntin import aggregates as agg
from muntin.jobs.finalize import shard
from tests.storage.three_batches import HERE

BEGIN, STEP, BATCHES = datetime(2024, 1, 1, tzinfo=UTC), timedelta(minutes=10), 3
BEGINS = {f"k{number:02}": number % 3 for number in range(40)}
"""Key -> the minute in which its session of a batch begins; all end together."""
ORDER = sorted(BEGINS, key=lambda key: (BEGINS[key], key))


def over(folder: Path) -> tuple[Pipeline, Pipeline]:
    """Sessions of each key; hours of these, and windows of three that come one after the other."""
    upstream = Pipeline(
        name="sessions", source=sources.files(str(folder / "{start:%H%M}.parquet"), event_time="t"), schedule="10m", start=BEGIN,
        keys=["k"], windows={"visit": windows.session("5m")}, aggregates={"n": agg.count()},
    )  # fmt: skip
    downstream = Pipeline(
        name="over", source=sources.windows(upstream, "visit"), schedule="10m", start=BEGIN,
        windows={"hour": windows.tumbling("1h"), "three": windows.arrival(windows.by_count(3))},
        aggregates={"keys": agg.collect("k"), "first": agg.first("k"), "last": agg.last("k")},
    )  # fmt: skip
    return upstream, downstream


@pytest.mark.parametrize("at_once", [True, False], ids=["in bulk", "one by one"])
def test_shards_of_the_upstream_change_nothing(at_once: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").mkdir()
    for number in range(BATCHES):
        times = [BEGIN + number * STEP + timedelta(minutes=minute) for minute in (*BEGINS.values(), *[4] * len(BEGINS))]
        table = pa.table({"t": pa.array(times, pa.timestamp("us", "UTC")), "k": [*BEGINS, *BEGINS]})
        pq.write_table(table, tmp_path / f"data/{BEGIN + number * STEP:%H%M}.parquet")
    upstream, downstream = over(tmp_path / "data")
    for root, rows in (("whole", shard.SHARD_ROWS), ("cut", 10)):
        monkeypatch.setattr(shard, "SHARD_ROWS", rows)
        pieces = [(0, BATCHES)] if at_once else [(number, number + 1) for number in range(BATCHES)]
        for pipeline in (upstream, downstream):
            for first, behind in pieces:
                run(pipeline, root=tmp_path / root, start=BEGIN + first * STEP, end=BEGIN + behind * STEP, spark=HERE)
    assert len({*(tmp_path / "cut/sessions/windows/visit").rglob("*.parquet")}) > BATCHES, "the upstream is in several files"
    whole, cut = ({name: read(downstream, name, root=tmp_path / root) for name in downstream.windows} for root in ("whole", "cut"))
    came = ORDER * BATCHES
    assert cut["three"]["keys"].to_pylist() == [came[at : at + 3] for at in range(0, len(came), 3)]
    assert cut == whole
