"""Ranges of columns in Delta's log: readers skip files by them, and no row that they ask for is lost."""

import json
import math
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest
from deltalake import DeltaTable

from muntin import aggregates as agg
from muntin import read
from muntin.states.column_ranges import named_without_nan, ranges_of
from tests.case_counts import some
from tests.end_to_end.hourly import HOUR, START, Hourly

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EARLY, LATE = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
NAN, LONG = math.nan, "ü" * 40
#                 hour 0            1                2               3                4
COLUMNS: dict[str, tuple[pa.DataType, list[list[Any]]]] = {
    "f": (pa.float64(), [[1.5, -0.0], [NAN, 2.0], [None, None], [0.0, 1e300], [3.0, None]]),
    "g": (pa.float64(), [[1.0, 2.0], [3.0, 4.0], [math.inf, 0.0], [-1e-300, 0.0], [-0.0, -0.0]]),
    "n": (pa.int64(), [[2**63 - 1, -(2**63)], [2**53 + 1, 2**53], [0, None], [5, 6], [7, 8]]),
    "e": (pa.string(), [["", "a"], [LONG, LONG + "a"], ["\x00", None], ["\U0010ffff", "a\x85b\u2028c"], ["Z", "é"]]),
    "t": (
        pa.timestamp("us", "UTC"),
        [[EARLY, LATE], [START + timedelta(microseconds=1), None], [START, START], [LATE, LATE], [EARLY, None]],
    ),
    "day": (
        pa.date32(),
        [[date(1, 1, 1), None], [date(9999, 12, 31), None], [date(2024, 1, 1)] * 2, [None, None], [date(1969, 12, 31)] * 2],
    ),
    "flag": (pa.bool_(), [[True, False], [True, True], [None, None], [False, None], [True, None]]),
    "d": (
        pa.decimal128(20, 2),
        [[Decimal("1.10"), Decimal("-0.01")], [None, Decimal("0.10")], [Decimal("2.20"), None], [None, None], [Decimal(7)] * 2],
    ),
    "wide": (
        pa.decimal128(30, 2),
        [[None, None], [Decimal("1.00"), None], [None, Decimal("2.00")], [None, None], [Decimal("12345678901234567890.12")] * 2],
    ),
}
PAIRS = [[{"x": 1.0}, {"x": NAN}], [None, None], [None, {"x": None}], [{"x": None}, {"x": 2.0}], [None, None], [None, {"x": 1.0}]]
NESTED = ("keys", "pair")


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Hourly:
    """A pipeline that has published six files, one of each hour; the last has the columns of hour 0 once more."""
    case = Hourly(tmp_path_factory.mktemp("ranges"), other={"keys": ["k"], "aggregates": {
        **{name: agg.first(name) for name in COLUMNS}, "keys": agg.collect("k"), "pair": agg.first("pair"),
    }})  # fmt: skip
    for hour in range(6):
        rows: dict[str, Any] = {"at": [START + hour * HOUR] * 2, "k": pa.array(["a", "b"])}
        rows["pair"] = pa.array(PAIRS[hour], pa.struct([("x", pa.float64())]))
        rows |= {name: pa.array(values[hour % 5], kind) for name, (kind, values) in COLUMNS.items()}
        case.write(f"{hour:02}.parquet", rows)
        case.run(hour, hour)
    return case


@pytest.fixture(scope="module")
def table(case: Hourly) -> Path:
    return case.root / "hourly" / "windows" / "hour"


def asked(name: str) -> Iterator[tuple[str, ds.Expression]]:
    """Questions about a column: is it null, is it NaN, and how does it compare with each of its values."""
    kind, values = COLUMNS[name]
    column = ds.field(name)
    yield f"{name} is null", column.is_null()
    yield f"{name} is not null", column.is_valid()
    for value in {repr(value): value for hour in values for value in hour if value is not None}.values():
        other = pa.scalar(value, kind)
        for sign, found in (("=", column == other), ("<", column < other), (">=", column >= other), (">", column > other)):
            yield f"{name} {sign} {value!r}", found


QUESTIONS = {text: found for name in COLUMNS for text, found in asked(name)}
QUESTIONS |= {f"{name} is null": ds.field(name).is_null() for name in NESTED}
QUESTIONS |= {f"{name} is not null": ds.field(name).is_valid() for name in NESTED}


def whole(table: Path) -> ds.Dataset:
    """The files of the newest version, of which nothing is skipped."""
    return ds.dataset(DeltaTable(table).file_uris(), format="parquet")


def stats(table: Path) -> list[dict[str, Any]]:
    added = DeltaTable(table).get_add_actions(flatten=False)
    log = sorted((table / "_delta_log").glob("*.json"))
    told = [json.loads(line)["add"]["stats"] for path in log for line in path.read_bytes().splitlines() if b'"add"' in line]
    assert len(told) >= len(added)
    return [json.loads(each) for each in told if json.loads(each)["numRecords"]]


def test_files_say_ranges_of_all_columns_or_of_none(table: Path) -> None:
    said = [sorted(each.get("nullCount", {})) for each in stats(table)]
    every = sorted([*COLUMNS, "k", "window_start", "window_end", "batch"])
    assert said == [every, [], [], every, [], []], "NaN, an infinity, a decimal of 22 digits and a struct that is null have no range"


def test_more_than_a_hundred_questions_are_asked() -> None:
    assert len(QUESTIONS) > 100


def test_changes_are_read_past_line_separators_in_the_log(case: Hourly, table: Path) -> None:
    since = read(case.pipeline, "hour", root=case.root, changes_since=0)
    rows = read(case.pipeline, "hour", root=case.root).filter(pc.field("window_start") > START)
    assert sorted(map(repr, since["e"].to_pylist())) == sorted(map(repr, rows["e"].to_pylist())), "all but those of the first commit"
    assert "a\x85b\u2028c" in since["e"].to_pylist()


def test_deltalake_finds_what_a_full_scan_finds(table: Path) -> None:
    skipping, full = DeltaTable(table).to_pyarrow_dataset(), whole(table)
    found = {text: (skipping.count_rows(question), full.count_rows(question)) for text, question in QUESTIONS.items()}
    assert {text: counts for text, counts in found.items() if counts[0] != counts[1]} == {}


def test_polars_finds_what_a_full_scan_finds(table: Path) -> None:
    rows = pl.from_arrow(whole(table).to_table())
    assert isinstance(rows, pl.DataFrame)
    for name, (kind, values) in COLUMNS.items():
        for value in (value for hour in values for value in hour if value is not None):
            literal = pl.lit(value, dtype=rows.schema[name]) if pa.types.is_decimal(kind) else value
            for question in (pl.col(name) == literal, pl.col(name) > literal, pl.col(name) <= literal, pl.col(name).is_null()):
                assert pl.scan_delta(str(table)).filter(question).collect().height == rows.filter(question).height, question


@pytest.mark.spark
def test_spark_finds_what_a_full_scan_finds(spark: "SparkSession", table: Path) -> None:
    if "delta-spark" not in spark.conf.get("spark.jars", ""):
        pytest.skip("no jar of Delta: bash setup/jars.sh fetches it where Maven is")
    spark.conf.set("spark.databricks.delta.requiredSparkConfsCheck.enabled", "false")
    spark.conf.set("spark.databricks.delta.snapshotPartitions", 1)  # 50 unless said, for each question anew
    spark.read.format("delta").load(str(table)).createOrReplaceTempView("skipping")
    spark.read.parquet(*DeltaTable(table).file_uris()).createOrReplaceTempView("whole")
    questions = [f"{name} {sign} {text}" for name in COLUMNS for text in some(in_spark(name)) for sign in ("=", ">")]
    questions += [f"{name} IS NULL" for name in COLUMNS]
    counts = ", ".join(f"count_if({question})" for question in questions)
    full = spark.sql(f"SELECT {counts} FROM whole").first()
    found = [spark.sql(f"SELECT count(*) FROM skipping WHERE {question}").first()[0] for question in questions]  # type: ignore[index]
    assert dict(zip(questions, found, strict=True)) == dict(zip(questions, full or (), strict=True))


def in_spark(name: str) -> list[str]:
    """Some of a column's values as Spark's SQL has them."""
    return {
        "f": ["double('NaN')", "0D", "2D"],
        "g": ["double('Infinity')", "0D", "-1E-300D"],
        "n": ["9223372036854775807L", "9007199254740993L"],
        "e": [f"'{LONG}a'", "''", "'Z'"],
        "t": ["timestamp'2024-01-01 00:00:00.000001Z'", "timestamp'9999-12-31 23:59:59.999999Z'"],
        "day": ["date'1969-12-31'"],
        "flag": ["true"],
        "d": ["0.10BD"],
        "wide": ["12345678901234567890.12BD"],
    }[name]


def test_a_question_about_one_hour_opens_one_file(table: Path) -> None:
    start = pa.scalar(START, pa.timestamp("us", "UTC"))
    opened = list(DeltaTable(table).to_pyarrow_dataset().get_fragments(filter=ds.field("window_start") == start))
    files = len(list(whole(table).get_fragments()))
    assert len(opened) == files - 1, "hour 3 is skipped; hours 1, 2, 4 and 5 say no ranges"


@pytest.mark.parametrize(
    ("values", "least", "greatest"),
    [
        (pa.array(["b" * 33, "a"]), "a", "b" * 32 + "\U0010ffff"),
        (pa.array([-1, None], pa.int32()), -1, -1),
        (pa.array([0.0, -0.0]), -0.0, 0.0),
        (pa.array([datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)]), "1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"),
        (pa.array([datetime(2024, 1, 1)]), "2024-01-01 00:00:00.000", "2024-01-01 00:00:00.000"),  # noqa: DTZ001 - as some results are
        (pa.array([Decimal("-0.10"), Decimal("999999999999999.0")]), -0.1, 999999999999999.0),
    ],
)
def test_what_a_column_says(values: pa.Array, least: Any, greatest: Any) -> None:
    told = json.loads(ranges_of(pa.table({"x": values})))
    assert (repr(told["minValues"]["x"]), repr(told["maxValues"]["x"])) == (repr(least), repr(greatest))


@pytest.mark.parametrize(
    "values",
    [
        pa.array([math.nan, 1.0]),
        pa.array([math.inf, 1.0]),
        pa.array([None, -math.inf, 1.0], pa.float32()),
        pa.chunked_array([[1.0], [None, math.nan]]),
        pa.array([Decimal(1234567890123456)]),
        pa.array(["a" * 32 + "\U0010ffff" * 2]),
        pa.array([2**62], pa.timestamp("us", "UTC")),
        pa.array([{"a": 1}, None]),
    ],
)
def test_what_has_no_range_takes_all_ranges_away(values: pa.Array | pa.ChunkedArray) -> None:
    assert ranges_of(pa.table({"x": values, "y": pa.array(range(len(values)))})) == b""


def test_a_footer_has_no_range_of_a_column_with_nan() -> None:
    odd, plain = pa.array([1.0, NAN]), pa.array([1.0, 2.0])
    table = pa.table({"x": odd, "y": plain, "s": pa.StructArray.from_arrays([plain, odd], ["a", "b"]), "l": [[NAN], []]})
    assert named_without_nan(table) == ["y", "l"]
    assert named_without_nan(table.select(["y", "l"])) is None


def test_columns_without_order_have_none_and_take_none_away() -> None:
    table = pa.table({"x": [1], "l": [[1]], "b": [b"a"], "s": [{"a": 1}]})
    assert json.loads(ranges_of(table))["nullCount"] == {"x": 0}
