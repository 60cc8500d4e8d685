"""SQL over published windows: what `read` gives, only what a query names, nothing written and no file read."""

import os
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from muntin import aggregates as agg
from muntin import read, run, sql, windows
from muntin.errors import DefinitionError
from muntin.jobs.inspect import sql as module
from muntin.tasks import Local
from muntin.testing import pipeline_of
from tests.end_to_end.hourly import Hourly, times

# minute   a          b
#    5     1
#   10                2
#  125     4
OTHER: dict[str, Any] = {
    "keys": ["city"],
    "windows": {
        "hour": windows.tumbling("1h", dense=True),
        "busy": windows.tumbling("1h", having="n > 1"),
        "Day-1": windows.tumbling("1d"),
    },
    "rollups": {"all": []},
    "aggregates": {"n": agg.count(), "total": agg.sum("price")},
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Hourly:
    """Three hours that are published; nobody may change them."""
    shop = Hourly(tmp_path_factory.mktemp("shop"), other=OTHER, source={"missing": "empty"})
    shop.write("00.parquet", {"at": times(5, 10), "city": ["a", "b"], "price": [1, 2]})
    shop.write("02.parquet", {"at": times(125), "city": ["a"], "price": [4]})
    shop.run(0, 23)
    return shop


def asked(shop: Hourly, query: str) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in sql(shop.pipeline, query, root=shop.root).to_pylist()]


@pytest.mark.parametrize("window", ["hour", "busy", "Day-1", "hour.all", "busy.all", "Day-1.all"])
def test_a_window_has_the_rows_and_types_of_read(shop: Hourly, window: str) -> None:
    found = sql(shop.pipeline, f'from "{window}"', root=shop.root)
    wanted = read(shop.pipeline, window, root=shop.root)
    assert found.to_pylist() == wanted.to_pylist()
    assert found.schema.field("window_start").type == wanted.schema.field("window_start").type


def test_empty_and_hidden_windows_are_those_of_read(shop: Hourly) -> None:
    assert asked(shop, "select n from hour where city = 'a' order by window_start") == [(1,), (0,), (1,)]
    assert asked(shop, "select count(*) from busy") == [(0,)]


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ('select d.city, a.n from "Day-1" d, "Day-1.all" a order by all', [("a", 3), ("b", 3)]),
        ("with hour as (select 7 as n) select n from hour", [(7,)]),
        ("with few as (from hour where n > 0) select count(*) from few join few as more using (city)", [(5,)]),
        ("select sum(total) from (select * from HOUR) where city in (select city from busy union select 'a')", [(Decimal(5),)]),
        ('select n, n from "hour.all" where n = 2', [(2, 2)]),
        ("select date_trunc('day', window_start) = window_start from \"Day-1.all\"", [(True,)]),
        ("values (1), (2);", [(1,), (2,)]),
        ("select column_name from (describe busy) limit 1", [("city",)]),
        ("select 'a''; drop table hour; --'", [("a'; drop table hour; --",)]),
    ],
)  # fmt: skip
def test_queries(shop: Hourly, query: str, rows: list[tuple[Any, ...]]) -> None:
    found = sql(shop.pipeline, query, root=shop.root)
    assert [tuple(found[at][row].as_py() for at in range(found.num_columns)) for row in range(len(found))] == rows
    assert len({*found.column_names}) == found.num_columns


def test_only_windows_that_a_query_names_are_read(shop: Hourly, monkeypatch: pytest.MonkeyPatch) -> None:
    asked_for: list[str] = []

    def noted(pipeline: Any, window: str, **given: Any) -> Any:
        asked_for.append(window)
        return read(pipeline, window, **given)

    monkeypatch.setattr(module, "read", noted)
    asked(shop, "select 'busy', h.n as \"Day-1\" from hour h join hour using (city) -- busy")
    assert asked_for == ["hour"]


@pytest.mark.parametrize(
    "query",
    [
        "insert into hour select * from hour",
        "with gone as (delete from hour returning *) select * from gone",
        "create table x as select * from hour",
        "drop view hour",
        "copy hour to '{folder}/out.csv'",
        "copy (select 1) to '{folder}/out.csv'",
        "export database '{folder}/out'",
        "attach '{folder}/out.db' as other",
        "install httpfs",
        "load httpfs",
        "set enable_external_access = true",
        "reset lock_configuration",
        "pragma database_list",
        "call pragma_version()",
        "explain analyze select 1",
        "select 1; select 2",
        "",
        "-- nothing",
        "from read_text('{folder}/secret')",
        "from read_csv('{folder}/secret')",
        "from read_parquet('{folder}/data/00.parquet')",
        "from '{folder}/data/00.parquet'",
        "from delta_scan('{folder}/state/hourly/windows/hour')",
        "from glob('{folder}/*')",
        "from query('copy (select 1) to ''{folder}/out.csv''')",
        "from duckdb_secrets",
        "from information_schema.tables",
        "show tables",
        "select current_setting('memory_limit')",
        "select 'TimeZone'.Current_Setting()",
        "select n from hour where getvariable('x') is null",
        "with s as (from duckdb_settings()) select value from s",
        "from DUCKDB_EXTENSIONS()",
        "describe (from duckdb_memory())",
        "from pragma_database_size()",
        "from (show databases)",
        "select (select count(*) from duckdb_functions()) from hour",
    ],
)
def test_nothing_is_written_and_nothing_else_is_read(shop: Hourly, query: str) -> None:
    (shop.folder / "secret").write_text("secret")
    there = {*shop.folder.rglob("*")}
    with pytest.raises(DefinitionError, match="sql: ") as refused:
        asked(shop, query.format(folder=shop.folder))
    assert "secret\n" not in str(refused.value)
    assert {*shop.folder.rglob("*")} == there


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("select * from hours", "no window 'hours' in pipeline 'hourly'; there are hour, hour.all, .*; did you mean 'hour'"),
        ("select * from hour.all", 'write "hour.all", in quotes'),
        ("select totl from hour", "no column \"totl\"; hour has city, window_start, window_end, n, total, batch; did you mean 'total'"),
        ("select h.totl from hour h", "hour has city, .*; did you mean 'total'"),
        ("selec 1", 'syntax error at or near "selec"'),
        ("select sum(city) from hour", "sum"),
        ("select 'x'::int", "Could not convert string 'x' to INT32"),
        ("select $1", "parameters: 1"),
        ("drop table hour", "give one query that reads"),
        ("from read_csv('/etc/passwd')", "reads windows, by their names, and no file"),
    ],
)
def test_errors_say_what_there_is(shop: Hourly, query: str, words: str) -> None:
    with pytest.raises(DefinitionError, match=words) as wrong:
        asked(shop, query)
    assert "LINE 1" not in str(wrong.value)


@pytest.mark.parametrize(
    "query",
    [
        "select count(*) from range(1000000000000)",
        "with recursive t as (select 1 as n union all select n + 1 from t) select max(n) from t",
        "select count(*) from hour a, range(1000000000) b, range(1000000) c where a.n + b.range = -1",
    ],
)
def test_a_query_that_runs_for_ever_is_ended(shop: Hourly, query: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUNTIN_SQL_SECONDS", "0.2")
    with pytest.raises(DefinitionError, match=r"sql: the query takes longer than 0\.2 s; MUNTIN_SQL_SECONDS=0\.4 lets it run longer"):
        asked(shop, query)


DEFINITION = """
from datetime import UTC, datetime
from muntin import Pipeline, aggregates, sources, windows
p = Pipeline(name="p", source=sources.files("{start:%H}.parquet", event_time="at"), schedule="1h", start=datetime(2024, 1, 1, tzinfo=UTC),
    windows={"hour": windows.tumbling("1h")}, aggregates={"n": aggregates.count()})
"""


@pytest.fixture(scope="module")
def defined(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A definition, and beside it an hour of it."""
    file = tmp_path_factory.mktemp("defined") / "p.py"
    file.write_text(DEFINITION, encoding="utf-8")
    hours = Hourly(file.parent)
    hours.write("00.parquet", {"at": times(5)})
    pipeline = replace(pipeline_of(file), source=hours.pipeline.source)
    run(pipeline, root=file.parent, start=pipeline.start, end=pipeline.start + timedelta(hours=1), spark=Local(1))
    return file


@pytest.mark.parametrize(
    ("query", "seconds", "said"),
    [
        ("select length(repeat('x', 3000000000))", "60", "takes more than 190.7 MiB of memory"),
        ("select length(repeat('x', 3000000000))", "0.1", "takes longer than 0.1 s"),
        ("select range(3000000000)", "60", "MUNTIN_SQL_MEMORY"),
    ],
)
def test_a_query_that_fills_the_memory_is_left_behind(query: str, seconds: str, said: str, defined: Path) -> None:
    """In a process of its own: one function of DuckDB fills gigabytes, and listens to nobody. The command ends with a line."""
    surroundings = {**os.environ, "MUNTIN_SQL_SECONDS": seconds, "MUNTIN_SQL_MEMORY": "200MB"}
    command = [sys.executable, "-m", "muntin", "sql", defined, query, "--root", defined.parent]
    done = subprocess.run(command, env=surroundings, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n"), said in done.stderr) == (2, "", 1, True), done.stderr


def test_names_that_sql_does_not_tell_apart(tmp_path: Path) -> None:
    twice = Hourly(tmp_path, other={"windows": {"hour": windows.tumbling("1h"), "Hour": windows.tumbling("2h")}})
    with pytest.raises(DefinitionError, match="the names hour and Hour are one in SQL"):
        asked(twice, "from hour")


def test_before_anything_is_published_windows_are_empty(tmp_path: Path) -> None:
    new = Hourly(tmp_path, other=OTHER)
    assert asked(new, "select count(*), sum(n) from busy") == [(0, None)]


def test_a_definition_that_must_be_rebuilt_fails_as_read_does(tmp_path: Path) -> None:
    mine = Hourly(tmp_path)
    mine.write("00.parquet", {"at": times(5), "city": ["a"]})
    mine.run()
    other = Hourly(tmp_path, other={"keys": ["city"]})
    with pytest.raises(Exception, match="rebuild"):
        sql(other.pipeline, "from hour", root=mine.root)
