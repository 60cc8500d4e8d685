"""Rows that Spark reads: the same files however Spark cuts them, the windows that files give, and nothing left behind."""

import os
import random
import subprocess
import sys
import time
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake

from muntin import Pipeline, aggregates, run, sources
from muntin.errors import SourceError
from muntin.files.paths import sizes_below
from muntin.jobs.accumulate.accumulate import accumulate
from muntin.jobs.inputs.materialised import materialise as module
from muntin.jobs.inputs.materialised.materialise import materialise
from muntin.jobs.inspect.plan import plan
from muntin.jobs.state.bound import Bound, bind
from muntin.jobs.state.fingerprint import fingerprint
from muntin.jobs.upkeep.outdated import outdated
from muntin.jobs.upkeep.vacuum import vacuum
from muntin.tasks.spark import OnSpark
from muntin.testing import run_here
from tests.case_counts import at_length
from tests.connect_process import printed_over_connect
from tests.materialised.frames import HOUR, START, Reading, at, hourly, windows_in

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CITIES = ("Graz", "Linz", None)
HOURS = 3


def rows(seed: int = 1) -> pa.Table:
    """Rows of three hours and their times, some far late; `seen` says in which batch they are."""
    dice = random.Random(seed)
    seen = sorted(START + timedelta(seconds=dice.randrange(HOURS * 3600)) for _ in range(600))
    columns = {
        "at": pa.array([each - timedelta(seconds=dice.randrange(4000)) for each in seen], pa.timestamp("us", "UTC")),
        "seen": pa.array(seen, pa.timestamp("us", "UTC")),
        "city": pa.array([dice.choice(CITIES) for _ in seen]),
        "x": [dice.randrange(-800, 800) / 8 for _ in seen],
    }
    return pa.table(columns)


def folder_of(form: str, spark: "SparkSession", folder: Path) -> Path:
    if form == "delta":
        write_deltalake(folder / form, rows())
    else:
        spark.createDataFrame(rows()).write.format(form).save(str(folder / form))
    return folder / form


def from_files(folder: Path) -> Pipeline:
    """The same rows, a file for each hour."""
    table = rows()
    for hour in range(HOURS):
        begin = pa.scalar(START + hour * HOUR, pa.timestamp("us", "UTC"))
        end = pa.scalar(START + (hour + 1) * HOUR, pa.timestamp("us", "UTC"))
        inside = pa.compute.and_(pa.compute.greater_equal(table["seen"], begin), pa.compute.less(table["seen"], end))
        pq.write_table(table.filter(inside), folder / f"{hour:02d}.parquet")
    of_spark = hourly(at("orc", folder), name="files")
    parts = {name: getattr(of_spark, name) for name in ("name", "schedule", "start", "keys", "windows", "aggregates")}
    return Pipeline(source=sources.files(f"{folder}/{{start:%H}}.parquet", event_time="at"), **parts)


def ran(pipeline: Pipeline, root: Path, spark: "SparkSession", first: int = 0, last: int = HOURS) -> Any:
    return run(pipeline, root=root, start=START + first * HOUR, end=START + last * HOUR, spark=spark, validate=False)


@pytest.mark.parametrize("form", ["orc", "delta"])
def test_windows_of_what_spark_reads_are_those_of_the_same_rows_in_files(spark: "SparkSession", tmp_path: Path, form: str) -> None:
    if form == "delta":
        if "delta-spark" not in spark.conf.get("spark.jars", ""):
            pytest.skip("no jar of Delta: bash setup/jars.sh fetches it where Maven is")
        spark.conf.set("spark.databricks.delta.requiredSparkConfsCheck.enabled", "false")  # which only writing needs
    pipeline, files = hourly(at(form, folder_of(form, spark, tmp_path))), from_files(tmp_path)
    run_here(files, root=tmp_path / "state", start=START, end=START + HOURS * HOUR)
    for hour in (2, 0, 1):
        ran(pipeline, tmp_path / "state", spark, hour, hour + 1)
    found = windows_in(tmp_path / "state", pipeline)
    assert found == windows_in(tmp_path / "state", files)
    assert sum(window["n"] for window in found) > 300
    assert not sizes_below(Path(bind(pipeline, tmp_path / "state").folder, "materialised"))


def test_what_spark_reads_beside_files(spark: "SparkSession", tmp_path: Path) -> None:
    """Counted of the files, summed of what Spark reads, which are the same rows."""
    of_spark, files = hourly(at("orc", folder_of("orc", spark, tmp_path))), from_files(tmp_path)
    parts: dict[str, Any] = {name: getattr(files, name) for name in ("schedule", "start", "keys", "windows")}
    aggregated = {"n": aggregates.count(source="files"), "total": aggregates.sum("x", source="read")}
    both = Pipeline(name="both", source={"files": files.source, "read": of_spark.source}, aggregates=aggregated, **parts)
    run_here(files, root=tmp_path / "state", start=START, end=START + HOURS * HOUR)
    (report, *_) = ran(both, tmp_path / "state", spark).batches
    assert windows_in(tmp_path / "state", both) == windows_in(tmp_path / "state", files)
    assert report.sources["files"].read == report.sources["read"].read > 0
    assert not sizes_below(Path(bind(both, tmp_path / "state").folder, "materialised"))
    planned = plan(both, root=tmp_path / "state", start=START, end=START + HOURS * HOUR)
    assert {batch.reading for batch in planned.batches} == {"unknown"}


def test_files_do_not_depend_on_how_spark_cut_the_rows(spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TOGETHER", 2)
    whole = folder_of("orc", spark, tmp_path)
    intervals = hourly(at("orc", whole)).intervals.intervals(*(round((START + h * HOUR).timestamp()) * 10**6 for h in (0, HOURS)))

    def one(spark: "SparkSession", start: datetime, end: datetime) -> "DataFrame":
        return at("orc", whole)(spark, start, end).repartition(1)

    def seven(spark: "SparkSession", start: datetime, end: datetime) -> "DataFrame":
        return at("orc", whole)(spark, start, end).repartition(7, "x")

    def backwards(spark: "SparkSession", start: datetime, end: datetime) -> "DataFrame":
        return at("orc", whole)(spark, start, end).orderBy("x", ascending=False)

    found = []
    for number, (reading, settings) in enumerate(
        [(one, {}), (seven, {"spark.sql.shuffle.partitions": "5"}), (backwards, {"spark.sql.session.timeZone": "America/New_York"})]
    ):
        before = {name: spark.conf.get(name) for name in settings}
        for name, value in settings.items():
            spark.conf.set(name, value)
        bound = Bound(hourly(reading), tmp_path / str(number))
        files = materialise(bound, spark, intervals)
        found.append({each: [(file.path.replace(str(bound.folder), ""), file.size) for file in files[each]] for each in files})
        for name, value in before.items():
            spark.conf.set(name, value)
    assert found[0] == found[1] == found[2]
    assert all(len(files) > 1 for files in found[0].values())


def typed(spark: "SparkSession", start: datetime, _end: datetime) -> "DataFrame":
    """A row with a value of each type."""
    return spark.sql(
        f"""SELECT timestamp_micros({round(start.timestamp()) * 10**6}) AS at, timestamp_ntz'2024-05-01 00:30:00' AS local,
        date'2024-02-29' AS day, 12.50BD AS money, cast(12345678901234567890.123456789 AS decimal(38, 9)) AS large, X'00FF' AS bytes,
        array(named_struct('t', timestamp_micros(0), 'n', 1S)) AS nested, map('a', 1) AS mapped, 7Y AS small, -0.0D AS x, 'Graz' AS city,
        1 AS `a column`"""
    )


def test_types_arrive_unchanged(spark: "SparkSession", tmp_path: Path) -> None:
    interval = hourly(typed).intervals.around(round(START.timestamp()) * 10**6)
    [file] = materialise(Bound(hourly(typed), tmp_path), spark, [interval])[interval]
    [row] = pq.read_table(file.path).to_pylist()
    assert row == {
        "at": START,
        "local": datetime(2024, 5, 1, 0, 30),  # noqa: DTZ001 - it has no zone
        "day": date(2024, 2, 29),
        "money": Decimal("12.50"),
        "large": Decimal("12345678901234567890.123456789"),
        "bytes": b"\x00\xff",
        "nested": [{"t": datetime(1970, 1, 1, tzinfo=UTC), "n": 1}],
        "mapped": [("a", 1)],
        "small": 7,
        "x": -0.0,
        "city": "Graz",
        "a column": 1,
    }
    assert str(row["x"]) == "-0.0"
    schema = pq.read_schema(file.path)
    assert (schema.field("money").type, schema.field("small").type) == (pa.decimal128(4, 2), pa.int8())


def test_only_the_columns_that_are_asked_for_are_read(spark: "SparkSession", tmp_path: Path) -> None:
    pipeline = hourly(typed, source={"columns": ["city"], "dedupe": "small"})
    interval = pipeline.intervals.around(round(START.timestamp()) * 10**6)
    [file] = materialise(Bound(pipeline, tmp_path), spark, [interval])[interval]
    assert pq.read_schema(file.path).names == ["city", "at", "small"]


def test_the_order_of_arrival_is_what_the_source_says(spark: "SparkSession", tmp_path: Path) -> None:
    def numbered(spark: "SparkSession", start: datetime, _end: datetime) -> "DataFrame":
        found = [(start, "Graz", float(number), -number) for number in range(50)]
        return spark.createDataFrame(found, "at timestamp, city string, x double, no int")

    pipeline = hourly(numbered, source={"arrival_order": "no"}, aggregates={"n": aggregates.count(), "list": aggregates.collect("x")})
    ran(pipeline, tmp_path, spark, 0, 1)
    assert windows_in(tmp_path, pipeline)[0]["list"] == [float(number) for number in reversed(range(50))]


def test_without_spark_nothing_is_guessed(spark: "SparkSession", tmp_path: Path) -> None:
    pipeline, root = hourly(at("orc", folder_of("orc", spark, tmp_path))), tmp_path / "state"
    ran(pipeline, root, spark, 0, 2)
    planned = plan(pipeline, root=root, start=START, end=START + 3 * HOUR)
    assert [batch.reading for batch in planned.batches] == ["unknown", "unknown", "new"]
    assert planned.batches[0].why == "only Spark can tell what rows there are, and it was not started"
    assert [each.reason for each in outdated(pipeline, root=root, start=START, end=START + 3 * HOUR)] == ["missing"]
    report = ran(pipeline, root, spark)
    assert [batch.source_changed for batch in report.batches] == [False, False, False]


def test_rows_that_are_gone_are_an_error_unless_they_shall_go(spark: "SparkSession", tmp_path: Path) -> None:
    from pyspark.sql import functions as f

    pipeline, root = hourly(at("orc", folder_of("orc", spark, tmp_path))), tmp_path / "state"
    ran(pipeline, root, spark, 0, 1)
    left = at("orc", tmp_path / "orc")

    def none(spark: "SparkSession", start: datetime, end: datetime) -> "DataFrame":
        return left(spark, start, end).where(f.lit(col=False))

    state = bind(pipeline, root).folder
    interval = pipeline.intervals.around(pipeline.intervals.first_us)
    with pytest.raises(SourceError, match="rows were read before, and there is no row any more"):
        accumulate(Bound(hourly(none), state), OnSpark(spark), [interval])
    assert accumulate(Bound(hourly(none), state), OnSpark(spark), [interval], allow_missing=True)[0].counts.read == 0


def test_another_function_is_another_state() -> None:
    def three(spark: "SparkSession", start: datetime, end: datetime) -> "DataFrame":
        return typed(spark, start, end).limit(3)

    def four(spark: "SparkSession", start: datetime, end: datetime) -> "DataFrame":
        return typed(spark, start, end).limit(4)

    assert len({fingerprint(hourly(each)) for each in (three, four, typed)}) == 3


def test_what_a_killed_run_left_is_swept(spark: "SparkSession", tmp_path: Path) -> None:
    pipeline = hourly(typed)
    ran(pipeline, tmp_path, spark, 0, 1)
    bound = bind(pipeline, tmp_path)
    materialise(bound, spark, [pipeline.intervals.around(pipeline.intervals.first_us)])
    later = datetime.now(UTC) + timedelta(days=9)
    removed = [each for each in vacuum(tmp_path, older_than_us=86_400_000_000, now=later) if each.what == "rows of killed runs"]
    assert [each.files for each in removed] == [1]


def no_table(spark: "SparkSession", _start: datetime, _end: datetime) -> "DataFrame":
    return spark.table("nowhere")


def no_frame(_spark: "SparkSession", _start: datetime, _end: datetime) -> Any:
    return [1, 2]


def fails_late(spark: "SparkSession", start: datetime, end: datetime) -> "DataFrame":
    return typed(spark, start, end).selectExpr("*", "raise_error('the disk is on fire') AS never")


@pytest.mark.parametrize(
    ("reading", "more", "said"),
    [
        (no_table, {}, r"no_table\(spark, 2024-05-01, 2024-05-01T01:00\) failed: \[TABLE_OR_VIEW_NOT_FOUND\] .*`nowhere`.*; mend"),
        (no_frame, {}, r"no_frame\(spark, .+ gives no DataFrame of Spark; let it return one"),
        (fails_late, {}, r"fails_late\(spark, .+: the rows cannot be read: .*the disk is on fire.*; mend the function"),
        (typed, {"columns": ["ctiy"]}, r"typed\(spark, .+: no column 'ctiy' in its rows; there are at, local, .+; mend the function, or"),
        (typed, {"event_time": "when"}, r"typed\(spark, .+: no column 'when' in its rows; there are at, local"),
    ],
)
def test_one_sentence_within_seconds_and_nothing_is_written(
    spark: "SparkSession", tmp_path: Path, reading: Reading, more: dict[str, Any], said: str
) -> None:
    pipeline, begun = hourly(reading, source=more), time.monotonic()
    with pytest.raises(SourceError, match=f"sources.spark: {said}") as told:
        ran(pipeline, tmp_path, spark, 0, 1)
    assert told.value.exit_status == 3
    assert "\n" not in str(told.value)
    assert reading is fails_late or time.monotonic() - begun < 10  # where rows must be read first, it takes as long as that
    assert not [path for path, _, _ in sizes_below(Path(bind(pipeline, tmp_path).folder)) if path.suffix == ".parquet"]


def test_without_spark_a_definition_is_read_without_spark(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom muntin import sources\nfrom tests.materialised.frames import hourly, at\n"
        "hourly(at('orc', 'x'))\nsources.table('x', event_time='t')\n"
        "print([name for name in ('pyspark', 'deltalake', 'airflow', 'py4j') if name in sys.modules])"
    )
    home = {"PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=os.environ | home, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[]", done.stderr


OVER_CONNECT = """
import json, sys
from pathlib import Path
from pyspark.sql import SparkSession
from tests.materialised.test_on_spark import at, hourly, ran, windows_in

spark = SparkSession.builder.remote("local[2]").getOrCreate()
pipeline = hourly(at("parquet", sys.argv[1]))
ran(pipeline, Path(sys.argv[2]), spark)
found = windows_in(sys.argv[2], pipeline)
print(json.dumps([type(spark).__module__, len(found), sum(window["total"] for window in found)]))
spark.stop()
"""


@at_length
def test_over_connect(spark: "SparkSession", tmp_path: Path) -> None:
    files = from_files(tmp_path)
    run_here(files, root=tmp_path, start=START, end=START + HOURS * HOUR)
    expected = windows_in(tmp_path, files)
    folder_of("parquet", spark, tmp_path)
    found, _ = printed_over_connect(OVER_CONNECT, tmp_path / "parquet", tmp_path / "state", home=tmp_path / "home", TZ="Asia/Tokyo")
    assert found == ["pyspark.sql.connect.session", len(expected), sum(window["total"] for window in expected)]
