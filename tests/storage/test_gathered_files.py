"""A bulk run leaves few files, also of sources whose batches are read one by one; each batch keeps its version and can be replaced."""

from datetime import timedelta
from pathlib import Path

import pytest

from muntin import Pipeline, read, run, sources, windows
from muntin import aggregates as agg
from muntin.jobs.inspect.late import quarantined
from muntin.jobs.published.pending import accumulated
from muntin.jobs.state.bound import bind
from muntin.store.paths import QUARANTINE
from tests.made_once import made_once
from tests.properties.equal_values import bitwise
from tests.storage.three_batches import HERE, HOUR, START

HOURS = 16


def texts(folder: Path) -> Pipeline:
    """Files of CSV: three rows an hour, and a row without a time."""
    return Pipeline(
        name="texts",
        source=sources.files(str(folder / "{start:%d%H}.csv"), event_time="t"),
        schedule="1h",
        start=START,
        keys=["k"],
        windows={"hours": windows.sliding("2h", step="1h", grace="30m"), "threes": windows.arrival(windows.by_count(3))},
        aggregates={"n": agg.count(), "total": agg.sum("x")},
    )


def write(folder: Path, at: int, value: int) -> None:
    moment = START + at * HOUR
    rows = [f"{(moment + timedelta(minutes=minute)).isoformat()},{'ab'[minute % 2]},{value + minute / 7}" for minute in (59, 3, 20)]
    (folder / f"{moment:%d%H}.csv").write_text("\n".join(["t,k,x", *rows, ",a,1.0", ""]))


def over(below: Pipeline) -> Pipeline:
    """A pipeline over windows."""
    return Pipeline(
        name="over",
        source=sources.windows(below, "hours"),
        schedule="1h",
        start=START,
        windows={"days": windows.tumbling("6h")},
        aggregates={"n": agg.sum("n"), "most": agg.max("total")},
    )


def ran(pipeline: Pipeline, root: Path, first: int, end: int) -> None:
    run(pipeline, root=root, start=START + first * HOUR, end=START + end * HOUR, spark=HERE)


@pytest.fixture
def bulk(tmp_path: Path) -> tuple[Pipeline, Path]:
    """The pipeline, and its state after a bulk run."""
    made_once(tmp_path, _both)
    return texts(tmp_path / "data"), tmp_path / "bulk"


def _both(folder: Path) -> None:
    (folder / "data").mkdir()
    for at in range(HOURS):
        write(folder / "data", at, at)
    pipeline = texts(folder / "data")
    ran(pipeline, folder / "bulk", 0, HOURS)
    for at in range(HOURS):
        ran(pipeline, folder / "single", at, at + 1)


@pytest.fixture
def both(bulk: tuple[Pipeline, Path], tmp_path: Path) -> tuple[Pipeline, Path, Path]:
    """The same, and its state after runs of one batch each."""
    return *bulk, tmp_path / "single"


def test_few_files_and_the_same_batches(both: tuple[Pipeline, Path, Path]) -> None:
    pipeline, bulk, single = both
    in_bulk, one_by_one = bind(pipeline, bulk), bind(pipeline, single)
    for table in (*(frames.table for frames in in_bulk.frame_sets), QUARANTINE):
        files, known = in_bulk.store.snapshot(table), one_by_one.store.snapshot(table)
        assert len(files.files) <= 4  # of two cores with two shares each
        assert accumulated(in_bulk, table, files).version.tolist() == accumulated(one_by_one, table, known).version.tolist()
    for window in pipeline.windows:
        assert bitwise(*(read(pipeline, window, root=root) for root in (bulk, single)))
    assert quarantined(pipeline, root=bulk).equals(quarantined(pipeline, root=single))


def test_each_batch_can_be_replaced(bulk: tuple[Pipeline, Path], tmp_path: Path) -> None:
    pipeline, replaced = bulk
    write(tmp_path / "data", 7, 1000)
    ran(pipeline, replaced, 7, 8)
    ran(pipeline, tmp_path / "clean", 0, HOURS)
    for window in pipeline.windows:
        assert bitwise(*(read(pipeline, window, root=root) for root in (replaced, tmp_path / "clean")))


def test_windows_over_windows_too(both: tuple[Pipeline, Path, Path]) -> None:
    pipeline, bulk, single = both
    above = over(pipeline)
    ran(above, bulk, 0, HOURS)
    for at in range(HOURS):
        ran(above, single, at, at + 1)
    bound = bind(above, bulk)
    assert len(bound.store.snapshot(bound.frame_sets[0].table).files) <= 5  # one of the first batch, which closed no window
    assert bitwise(*(read(above, "days", root=root) for root in (bulk, single)))
