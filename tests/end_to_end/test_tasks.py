"""Spark as the shell around the jobs: tasks by item, errors by name, and as many jobs for a year as for a day."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipelines import Pipeline, aggregates, run, sources, windows
from pipelines.errors import SourceError, StateError
from pipelines.spark import spark_session as session
from pipelines.spark.tasks import run_tasks

START = datetime(2024, 1, 1, tzinfo=UTC)
STEP = timedelta(minutes=1)


def double(number: int) -> list[int]:
    return [number, 2 * number]


def refuse_three(number: int) -> int:
    if number == 3:
        raise SourceError("three is not possible; take another")
    return number


def test_each_item_is_a_task_and_results_keep_their_order(spark) -> None:
    assert run_tasks(spark, double, range(5)) == [[n, 2 * n] for n in range(5)]


def test_nothing_to_do_starts_no_job(spark) -> None:
    assert run_tasks(spark, double, []) == []


def test_an_error_for_the_reader_comes_back_as_it_was_raised(spark) -> None:
    with pytest.raises(SourceError, match=r"^three is not possible; take another$"):
        run_tasks(spark, refuse_three, range(5))


def pipeline(folder: Path, batches: int) -> Pipeline:
    for batch in range(batches):
        start = START + batch * STEP
        table = pa.table({"k": ["a", "b"], "t": pa.array([start, start + STEP / 2], pa.timestamp("us", tz="UTC"))})
        pq.write_table(table, folder / f"{start:%H%M}.parquet")
    return Pipeline(
        name=f"jobs_{batches}",
        source=sources.files(f"{folder}/{{start:%H%M}}.parquet", event_time="t"),
        schedule=STEP,
        start=START,
        keys=["k"],
        windows={"minute": windows.tumbling("1m"), "quiet": windows.session("10s"), "five": windows.sliding("5m", step="1m")},
        aggregates={"n": aggregates.count()},
    )


def jobs_of(spark, group: str, pipeline: Pipeline, root: Path, batches: int) -> int:
    spark.sparkContext.setJobGroup(group, group)
    report = run(pipeline, root=root, start=START, end=START + batches * STEP, spark=spark)
    assert len(report.batches) == batches
    return len(spark.sparkContext.statusTracker().getJobIdsForGroup(group))


def test_the_number_of_jobs_does_not_grow_with_the_number_of_batches(spark, tmp_path: Path) -> None:
    few = jobs_of(spark, "one batch", pipeline(tmp_path, 1), tmp_path / "root", 1)
    many = jobs_of(spark, "twelve batches", pipeline(tmp_path, 12), tmp_path / "root", 12)
    assert (few, many) == (2, 2)  # one for accumulate, one for finalize


def test_packages_that_overwrite_each_other_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "version", {"pyspark": "4.1.3", "pyspark-client": "4.2.0"}.__getitem__)
    with pytest.raises(StateError, match=r"pyspark is 4\.1\.3 and pyspark-client is 4\.2\.0.*pip install pyspark==4\.1\.3"):
        session.check_packages()
