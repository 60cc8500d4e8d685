"""Histories to run twice and compare: the demo's year, W1 of the benchmarks, the judges' random batches.

`python -m tests.cluster.histories ADDRESS FOLDER ROOT` runs them all on `local[2]`, a cluster, or a Connect server.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.events import event_files
from benchmarks.ours.hour import JOB
from benchmarks.workloads import EPOCH, SLIDING
from examples.flights_log import write_flights_log
from muntin import Pipeline, run
from muntin.cli.place import load_pipeline
from muntin.definition.pipeline import at_home
from tests.cluster.driver import session
from tests.cluster.standalone import CHECKOUT
from tests.end_to_end.judge import user_files
from tests.end_to_end.judge.scenario_on_disk import bench
from tests.end_to_end.judge.scenarios import scenario

SEEDS = range(6)
SCALE = 0.2
"""Of W1: two million events."""


@dataclass(frozen=True)
class History:
    """A pipeline over data on disk, and the range to run."""

    name: str
    pipeline: Pipeline
    start: datetime
    end: datetime


def histories(folder: Path) -> Iterator[History]:
    """All of them; their data are made where they are not there yet."""
    yield flights(folder)
    files = event_files(SLIDING.scaled(SCALE), folder / "w1")
    yield History("W1", JOB.pipeline(files), EPOCH, EPOCH + JOB.schedule)
    for seed in SEEDS:
        case = scenario(seed)
        made = bench(case, folder / f"judge{seed}", None)
        start, end = case.batches[0].start, case.batches[-1].end
        yield History(f"judge{seed}", made.pipeline, user_files.instant(start), user_files.instant(end))


def flights(folder: Path) -> History:
    """The year, in bulk, without the suites."""
    if not (folder / "data/flights").exists():
        write_flights_log(folder / "data/flights")
    pipeline = at_home(load_pipeline(CHECKOUT / "dags/flights.py", None), folder)
    return History("flights", replace(pipeline, expectations={}), datetime(2013, 1, 1, tzinfo=UTC), datetime(2014, 1, 2, tzinfo=UTC))


def main(address: str, folder: str, root: str) -> None:
    spark = session(address)
    for each in histories(Path(folder)):
        report = run(each.pipeline, root=Path(root, each.name), start=each.start, end=each.end, spark=spark)
        print(each.name, sum(batch.rows_read for batch in report.batches), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
