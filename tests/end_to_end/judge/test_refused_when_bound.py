"""Aggregates that do not fit the source's types are refused before a row is read, with the columns there are."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import Pipeline, sources, windows
from muntin import aggregates as agg
from muntin.aggregates.aggregate import Aggregate
from muntin.errors import DefinitionError
from muntin.jobs.schema_check.source_columns import bound_types
from muntin.jobs.state.bound import bind

COLUMNS = {
    "t": pa.array([0], pa.timestamp("us", tz="UTC")),
    "s": pa.array(["a"]),
    "n": pa.array([1]),
    "b": pa.array([True]),
    "d": pa.array([0], pa.date32()),
    "l": pa.array([[1]]),
    "m": pa.array([{"a": 1}]),
}
SQL, NUMBER, ORDER, CONDITION = r"does not fit the source", r"needs a number", r"needs values that have an order", r"needs a condition"

WRONG: list[tuple[Aggregate, str]] = [
    *((make(x), SQL) for make in (agg.sum, agg.mean, agg.rate) for x in ("s", "t", "l")),
    *((make("s"), f"{SQL}|{NUMBER}") for make in (agg.product, agg.geometric_mean)),
    *(
        (make(x), NUMBER)
        for make in (agg.variance, agg.stddev, agg.skewness, agg.kurtosis, agg.median, agg.time_weighted_mean, agg.counter_rate)
        for x in ("s", "t", "d", "b")
    ),
    *((make(*xs), NUMBER) for make in (agg.covariance, agg.correlation, agg.linear_trend) for xs in (("s", "n"), ("n", "t"))),
    (agg.weighted_mean("n", "s"), NUMBER),
    (agg.candlestick("s", "n"), NUMBER),
    (agg.percentile("s", 0.5), NUMBER),
    (agg.approx_quantiles("s", [0.5]), NUMBER),
    (agg.sum("s", distinct=True), NUMBER),
    (agg.mean("t", distinct=True), NUMBER),
    (agg.histogram("s", [0, 1]), SQL),
    (agg.range("s"), "needs a number, a date or an instant"),
    (agg.range("b"), "needs a number, a date or an instant"),
    *(
        (make(x), ORDER)
        for make in (
            agg.min, agg.max, agg.min_count, agg.max_count, agg.count_distinct, agg.count_by, agg.mode, agg.collect_distinct,
            agg.collect_sorted, agg.time_in_state, agg.approx_count_distinct, agg.approx_top_k, agg.theta,
        )
        for x in ("l", "m")
    ),
    *((make("l", n=2), ORDER) for make in (agg.max, agg.min)),
    *((make("n", "m", ties=ties), ORDER) for make in (agg.min_by, agg.max_by) for ties in (False, True)),
    (agg.to_map("l", "n"), ORDER),
    (agg.by("l", agg.count()), ORDER),
    (agg.by("n", agg.stddev("s")), NUMBER),
    (agg.by("n", agg.sum("s")), SQL),
    (agg.elementwise("n", agg.count()), r"needs a list|does not fit"),
    (agg.elementwise("l", agg.max("m", n=1)), ORDER),
    (agg.elementwise("l", agg.stddev("s")), NUMBER),
    (agg.max("t - t"), ORDER),
    (agg.max("t - t", n=2), ORDER),
    (agg.by("n", agg.count(where="s")), CONDITION),
    (agg.elementwise("l", agg.count(where="s")), CONDITION),
    (agg.count_if("s"), CONDITION),
    (agg.count(where="s"), CONDITION),
    (agg.all_of("s"), SQL),
    (agg.any_of("n"), SQL),
    (agg.sum("nope"), "nope"),
    (agg.first("nope"), "nope"),
    (agg.count(where="nope > 1"), "nope"),
    (agg.apply(len, "nope"), "nope"),
    (agg.sum("sum(n)"), "nested"),
]  # fmt: skip


def bound(aggregate: Aggregate, folder: Path, kind: Any = None) -> None:
    path = folder / "rows.parquet"
    pq.write_table(pa.table(COLUMNS), path)
    flow = Pipeline(
        name="bound",
        source=sources.files(str(path), event_time="t", all_files=True),
        schedule="1h",
        start=datetime(2024, 1, 1, tzinfo=UTC),
        windows={"w": kind or windows.tumbling("1h")},
        aggregates={"it": aggregate},
    )
    bound_types(bind(flow, folder), {}, [[str(path)]])


@pytest.mark.parametrize(("aggregate", "said"), [pytest.param(*each, id=str(each[0])) for each in WRONG])
def test_wrong_types_are_refused_with_the_columns_there_are(aggregate: Aggregate, said: str, tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match=said) as told:
        bound(aggregate, tmp_path)
    assert "aggregates['it']: " in str(told.value)
    assert "The source has: t TIMESTAMP WITH TIME ZONE, s VARCHAR, n BIGINT, b BOOLEAN" in str(told.value)


@pytest.mark.parametrize(
    "aggregate",
    [
        agg.stddev("s::DOUBLE"),
        agg.range("d"),
        agg.min("t"),
        agg.count_if("n"),
        agg.count_by("l::VARCHAR"),
        agg.collect("m"),
        agg.first("l"),
        agg.elementwise("l", agg.stddev("l")),
    ],
    ids=str,
)
def test_what_fits_is_not_refused(aggregate: Aggregate, tmp_path: Path) -> None:
    bound(aggregate, tmp_path)


@pytest.mark.parametrize(
    ("evict", "said"),
    [
        (lambda: windows.by_delta("s", 1.5), "needs a number"),
        (lambda: windows.by_delta("l", 1.5), "needs a number"),
        (lambda: windows.by_delta("d", 1.5), "needs a number"),
        (lambda: windows.by_delta("l", "5m"), "needs an instant"),
        (lambda: windows.by_delta("n", "5m"), "needs an instant"),
        (lambda: windows.by_delta("nope", 1.5), "no column"),
        (lambda: windows.by_punctuation("s"), CONDITION),
        (lambda: windows.by_punctuation("l"), CONDITION),
    ],
)
def test_arguments_of_windows_by_arrival_are_bound_before_a_row_is_read(evict: Callable[[], Any], said: str, tmp_path: Path) -> None:
    refused(windows.arrival(evict()), said, tmp_path)


@pytest.mark.parametrize(
    ("window", "said"),
    [
        (windows.while_("s"), CONDITION),
        (windows.while_("m"), CONDITION),
        (windows.while_("nope > 1"), "no column"),
        (windows.while_same("nope"), "no column"),
        (windows.while_same("l"), ORDER),
        (windows.while_same("m"), ORDER),
        (windows.between("b", "s"), CONDITION),
        (windows.between("count(*) > 1", "b"), "aggregate"),
    ],
    ids=repr,
)
def test_conditions_of_windows_of_adjacent_rows_are_bound_before_a_row_is_read(window: Any, said: str, tmp_path: Path) -> None:
    refused(window, said, tmp_path)


def refused(window: Any, said: str, folder: Path) -> None:
    """By name, with the columns that there are."""
    with pytest.raises(DefinitionError, match=said) as told:
        bound(agg.count(), folder, window)
    assert "windows['w']" in str(told.value)
    assert "The source has: t TIMESTAMP WITH TIME ZONE" in str(told.value)


ARGUMENTS = [
    (windows.by_delta("s", 1), NUMBER),
    (windows.by_delta("b", 1), NUMBER),
    (windows.by_delta("n", "1h"), "needs an instant"),
    (windows.arrival(windows.by_count(3), trigger=windows.by_delta("l", 1)), NUMBER),
    (windows.by_delta("n", "2 * spread", first=1), r"'2 \* spread' does not fit the results of a window"),
    (windows.by_delta("n", "it.a", first=1), r"'it.a' does not fit the results of a window"),
    (windows.by_punctuation("s"), CONDITION),
    (windows.by_punctuation("nope = 1"), "nope"),
    (windows.arrival(windows.by_count(3), group_by=["nope"]), "nope"),
    (windows.arrival(windows.by_count(3), group_by=["m"]), ORDER),
    (windows.progressive_sort(3, by="l"), ORDER),
    (windows.progressive_sort(3, by="nope"), "nope"),
    (windows.session("1m", gap_by="b"), "needs a number of seconds"),
    (windows.session("1m", gap_by="nope"), "nope"),
    (windows.session("1m", until="s"), CONDITION),
    (windows.session("1m", until="nope"), "nope"),
]


@pytest.mark.parametrize(("kind", "said"), [pytest.param(*each, id=str(at)) for at, each in enumerate(ARGUMENTS)])
def test_arguments_of_windows_are_bound_before_a_row_is_read(kind: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match=said) as told:
        bound(agg.count(), tmp_path, kind)
    assert str(told.value).startswith("windows['w']")


def test_conditions_that_fit_are_not_refused(tmp_path: Path) -> None:
    for window in (windows.while_("b"), windows.while_("n"), windows.while_same("s"), windows.between("n > 1", "b or n < 0")):
        bound(agg.count(), tmp_path, window)
