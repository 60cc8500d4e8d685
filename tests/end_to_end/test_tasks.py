"""Spark as the shell around the jobs: tasks by item, errors by name, and as many jobs for a year as for a day."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import ClassVar

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import PythonException

from muntin import Pipeline, aggregates, run, sources, windows
from muntin.errors import SourceError, StateError
from muntin.spark import session
from muntin.tasks.spark import OnSpark
from tests.connect_process import printed_over_connect

START = datetime(2024, 1, 1, tzinfo=UTC)
STEP = timedelta(minutes=1)


def double(number: int) -> list[int]:
    return [number, 2 * number]


def refuse_three(number: int) -> int:
    if number == 3:
        raise SourceError("three is not possible; take another")
    return number


class Noticed:
    """An item whose process notes that it unpickled it."""

    unpickled: ClassVar[list[int]] = []

    def __init__(self, number: int) -> None:
        self.number = number

    def __setstate__(self, state: dict[str, int]) -> None:
        self.__dict__ |= state
        Noticed.unpickled.append(self.number)


def unpickled_for(item: Noticed) -> list[int]:
    """The item's number, then the numbers of all items that this process unpickled since its last task."""
    found = [item.number, *Noticed.unpickled]
    Noticed.unpickled.clear()
    return found


def test_a_task_receives_its_own_item_only(spark) -> None:
    assert OnSpark(spark).run(unpickled_for, [Noticed(number) for number in range(5)]) == [[n, n] for n in range(5)]


OVER_CONNECT = """
import json, sys
from pyspark.sql import SparkSession
from muntin.errors import SourceError
from muntin.tasks.spark import OnSpark
from tests.end_to_end.test_tasks import Noticed, refuse_three, unpickled_for

spark = SparkSession.builder.remote("local[2]").getOrCreate()
found = OnSpark(spark).run(unpickled_for, [Noticed(number) for number in range(5)])
try:
    OnSpark(spark).run(refuse_three, range(5))
except SourceError as wrong:
    print(json.dumps([type(spark).__module__, found, str(wrong)]))
spark.stop()
"""


def test_over_connect_too_a_task_receives_its_own_item_only(tmp_path: Path) -> None:
    (module, found, refused), _ = printed_over_connect(OVER_CONNECT, home=tmp_path)
    assert module == "pyspark.sql.connect.session"
    assert found == [[n, n] for n in range(5)]
    assert refused == "three is not possible; take another"


def test_each_item_is_a_task_and_results_keep_their_order(spark) -> None:
    assert OnSpark(spark).run(double, range(5)) == [[n, 2 * n] for n in range(5)]


def test_nothing_to_do_starts_no_job(spark) -> None:
    assert OnSpark(spark).run(double, []) == []


def test_an_error_for_the_reader_comes_back_as_it_was_raised(spark) -> None:
    with pytest.raises(SourceError, match=r"^three is not possible; take another$"):
        OnSpark(spark).run(refuse_three, range(5))


def divide(number: int) -> float:
    return 1 / number


def test_any_other_error_tells_where_python_raised_it(spark) -> None:
    with pytest.raises(PythonException, match=r"(?s)in divide.*ZeroDivisionError: division by zero"):
        OnSpark(spark).run(divide, [1, 0])


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
