"""What gives something else each time is refused when a definition is built; the list is DuckDB's own."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import duckdb
import pytest

from muntin import Pipeline, sources, windows
from muntin import aggregates as agg
from muntin.aggregates.aggregate import Aggregate, Field
from muntin.aggregates.algebra import SUM
from muntin.definition.expressions import BARE, CATALOGUED, OTHERS, expression
from muntin.errors import DefinitionError

CHANGING = "two clean runs would differ"


@pytest.fixture(scope="module")
def duck() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as session:
        yield session


def test_the_list_is_that_of_the_catalogue(duck: duckdb.DuckDBPyConnection) -> None:
    volatile = duck.execute("SELECT function_name FROM duckdb_functions() WHERE stability IN ('VOLATILE', 'CONSISTENT_WITHIN_QUERY')")
    assert {name for (name,) in volatile.fetchall()} - CATALOGUED == {"error"}


def test_macros_that_call_what_is_listed_are_listed(duck: duckdb.DuckDBPyConnection) -> None:
    macros = duck.execute("SELECT function_name, macro_definition FROM duckdb_functions() WHERE macro_definition IS NOT NULL").fetchall()
    calls = re.compile(rf"\b({'|'.join(CATALOGUED | OTHERS)})\(|\b({'|'.join(BARE)})\b|\bpragma_")
    assert {name for name, text in macros if calls.search(text)} <= CATALOGUED | OTHERS


# a list that names what DuckDB does not know would prove nothing
def test_what_is_listed_is_known(duck: duckdb.DuckDBPyConnection) -> None:
    known = {name for (name,) in duck.execute("SELECT function_name FROM duckdb_functions()").fetchall()}
    assert known >= OTHERS


def test_words_that_are_calls_without_brackets(duck: duckdb.DuckDBPyConnection) -> None:
    names = {name for (name,) in duck.execute("SELECT function_name FROM duckdb_functions()").fetchall()} | BARE
    assert {name for name in names if name.isidentifier() and binds(duck, name)} - {
        "user",
        "current_user",
        "session_user",
        "current_role",
    } == BARE


def binds(duck: duckdb.DuckDBPyConnection, word: str) -> bool:
    try:
        duck.execute(f"DESCRIBE SELECT {word}")
    except duckdb.Error:
        return False
    return True


CALLS = [
    "random()", "RANDOM ( ) < 0.5", '"random"() < 0.5', "main.random()", "x + random()", "now()", "Current_Date", "x > current_timestamp",
    "age(at)", "age(greatest(at, at2))", "age([at, at2][1])", "at < today()", "current_localtimestamp()", "ago(INTERVAL 1 DAY)",
    "uuid()", "getvariable('x')", "localtime", "list_transform(l, lambda v: v + random())", "case when x then now() end",
]  # fmt: skip


@pytest.mark.parametrize("sql", CALLS)
def test_what_changes_is_refused(sql: str) -> None:
    with pytest.raises(DefinitionError, match=CHANGING):
        expression(sql, "sum")


STEADY = [
    "now", "random", "today + 1", '"current_date"', "'random()'", "r.current_date", "age(at, at2)", "age(at, least(at2, at3))",
    "randomly()", "error('no')", "uuid", "date_trunc('day', at)", "$$now()$$", "current_dates",
]  # fmt: skip


@pytest.mark.parametrize("sql", STEADY)
def test_what_does_not_is_taken(sql: str) -> None:
    assert expression(sql, "sum") == sql


def pipeline(**other: Any) -> Pipeline:
    right: dict[str, Any] = {
        "name": "p",
        "source": sources.files("{start}.parquet", event_time="at"),
        "schedule": "1h",
        "start": datetime(2024, 1, 1, tzinfo=UTC),
        "windows": {"w": windows.tumbling("1h")},
        "aggregates": {"n": agg.count()},
    }
    return Pipeline(**(right | other))


def own(lift: str) -> Aggregate:
    return Aggregate("own", "x", (Field("own", "x", (("", lift),), SUM),), lambda total: total)


PLACES: dict[str, Callable[[str], Any]] = {
    "where": lambda sql: pipeline(where=f"x > {sql}"),
    "SQL over results": lambda sql: pipeline(aggregates={"n": agg.count(), "a": "n + 1", "b": f"a < {sql}"}),
    "aggregates": lambda sql: pipeline(aggregates={"n": own(f"sum(x + {sql})")}),
    "sum": agg.sum,
    "count": lambda sql: agg.count(where=f"x > {sql}"),
    "only": lambda sql: agg.count().only(f"x > {sql}"),
    "min_by": lambda sql: agg.min_by("x", sql),
    "by": lambda sql: agg.by(sql, agg.count()),
    "apply": lambda sql: agg.apply(len, sql),
    "by_delta": lambda sql: windows.by_delta(sql, 1),
    "by_punctuation": lambda sql: windows.by_punctuation(f"x > {sql}"),
}


@pytest.mark.parametrize("place", PLACES)
def test_wherever_a_user_writes_sql(place: str) -> None:
    PLACES[place]("x")
    with pytest.raises(DefinitionError, match=CHANGING):
        PLACES[place]("random()")


@pytest.mark.parametrize("wrong", ["", "  ", 1, "x > 1; drop table y", "x > 1 -- and so on", "(x > 1", "x, y"])
def test_a_filter_and_a_derived_column_are_one_expression(wrong: object) -> None:
    with pytest.raises(DefinitionError, match=r"^where"):
        pipeline(where=wrong)
    with pytest.raises(DefinitionError, match=r"^aggregates"):
        pipeline(aggregates={"n": agg.count(), "a": wrong})
