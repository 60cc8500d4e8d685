"""A query or a function as a dimension and as a table of spans: what files with the same rows give, also after changes."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake

from muntin import aggregates as agg
from muntin import plan, read, sources, windows
from muntin.errors import DefinitionError, SourceError
from tests.end_to_end.hourly import Hourly, hour, times

RATES: dict[str, list[tuple[str, float, float]]] = {}
"""World -> (city, minute from which it holds, rate); a definition must not hold it."""
SHIFTS: dict[str, list[tuple[str, float, float]]] = {}
"""World -> (name, minute from, minute to)."""
FIRST = [("Graz", 0.0, 2.0), ("Graz", 70.0, 3.0), ("Linz", 0.0, 0.5)], [("early", 0.0, 60.0), ("late", 60.0, 120.0), ("all", 0.0, 120.0)]
LATER = [("Graz", 0.0, 4.0), ("Graz", 70.0, 3.0), ("Linz", 0.0, 0.5)], [("early", 0.0, 60.0), ("late", 90.0, 120.0)]


def rates_of(world: str) -> pa.Table:
    cities, minutes, rates = zip(*RATES[world], strict=True) if RATES[world] else ((), (), ())
    return pa.table({"city": pa.array(cities, pa.string()), "since": pa.array(times(*minutes), pa.timestamp("us", "UTC")),
                     "rate": pa.array(rates, pa.float64())})  # fmt: skip


def shifts_of(world: str) -> pa.Table:
    names, starts, ends = zip(*SHIFTS[world], strict=True) if SHIFTS[world] else ((), (), ())
    instant = pa.timestamp("us", "UTC")
    return pa.table({"shift": pa.array(names, pa.string()), "begins": pa.array(times(*starts), instant),
                     "ends": pa.array(times(*ends), instant)})  # fmt: skip


def put(folder: Path, rows: tuple[Sequence[Any], Sequence[Any]]) -> None:
    """The tables hold these rows from now on: in files, in a database, and where functions look."""
    world = str(folder)
    RATES[world], SHIFTS[world] = map(list, rows)  # type: ignore[assignment]
    pq.write_table(rates_of(world), folder / "rates.parquet")
    pq.write_table(shifts_of(world), folder / "shifts.parquet")
    with closing(sqlite3.connect(folder / "shop.db")) as connection, connection:
        for name, columns, table in (
            ("rates", "city TEXT, since TEXT, rate REAL", rates_of),
            ("shifts", "shift TEXT, begins TEXT, ends TEXT", shifts_of),
        ):
            connection.execute(f"DROP TABLE IF EXISTS {name}")
            connection.execute(f"CREATE TABLE {name} ({columns})")
            values = [
                [f"{each:%F %T}" if isinstance(each, datetime) else each for each in row.values()] for row in table(world).to_pylist()
            ]
            connection.executemany(f"INSERT INTO {name} VALUES (?, ?, ?)", values)


def of_files(folder: Path) -> tuple[Any, Any]:
    return sources.files(f"{folder}/rates.parquet"), sources.files(f"{folder}/shifts.parquet")


def of_queries(folder: Path) -> tuple[Any, Any]:
    address = f"sqlite:///{folder}/shop.db"
    return sources.sql(address, "SELECT * FROM rates"), sources.sql(address, "SELECT * FROM shifts;")


def of_functions(folder: Path) -> tuple[Any, Any]:
    world = str(folder)
    return sources.function(lambda: rates_of(world)), sources.function(lambda: shifts_of(world))


def case_of(folder: Path, tables: tuple[Any, Any]) -> Hourly:
    """Two hours of amounts, in the rate of their city, by hour and by shift."""
    rates, shifts = tables
    folder.mkdir(exist_ok=True)
    kind = windows.given(shifts, start="begins", end="ends", columns=["shift"])
    lookups = {"rates": sources.lookup(rates, keys=["city"], since="since")}
    other = {"lookups": lookups, "windows": {"hour": windows.tumbling("1h"), "shift": kind}}
    case = Hourly(folder, other=other | {"aggregates": {"n": agg.count(), "euros": agg.sum("x * rates.rate")}})
    case.write("00.parquet", {"at": times(10, 20), "city": ["Graz", "Linz"], "x": [1.0, 10.0]})
    case.write("01.parquet", {"at": times(75, 110), "city": ["Graz", "Graz"], "x": [100.0, 7.0]})
    return case


def story(folder: Path, tables: Callable[[Path], tuple[Any, Any]]) -> Iterator[Any]:
    """What is published, and what a run would read again, step by step."""
    folder.mkdir()
    put(folder, FIRST)
    case = case_of(folder, tables(folder))
    case.run(0, 1)
    yield published(case)
    yield [each.interval_start.hour for each in plan(case.pipeline, root=case.root, start=hour(1), end=hour(2)).batches]
    put(folder, LATER)
    yield [
        each.interval_start.hour
        for each in plan(case.pipeline, root=case.root, start=hour(1), end=hour(2)).batches
        if each.reading == "changed"
    ]
    case.run(1, 1)
    yield published(case)
    put(folder, (FIRST[0], []))
    case.run(1, 1)
    yield published(case)


def published(case: Hourly) -> list[Any]:
    return [read(case.pipeline, window, root=case.root).to_pylist() for window in ("hour", "shift")]


@pytest.mark.parametrize("tables", [of_queries, of_functions])
def test_a_table_that_is_asked_for_gives_what_files_give(tmp_path: Path, tables: Any) -> None:
    of_asked, right = list(story(tmp_path / "asked", tables)), list(story(tmp_path / "files", of_files))
    assert of_asked == right
    assert right[2] == [0]
    assert right[0] != right[3] != right[4]


def test_a_table_without_a_row_has_nothing_to_find(tmp_path: Path) -> None:
    put(tmp_path, ([], FIRST[1]))
    empty = pd.DataFrame({"city": pd.Series([], dtype="str"), "since": pd.Series([], dtype="object"), "rate": []})
    write_deltalake(tmp_path / "delta", rates_of(str(tmp_path)))
    for name, rates in (
        ("asked", of_queries(tmp_path)[0]),
        ("frame", sources.function(lambda: empty)),
        ("table", sources.table(f"{tmp_path}/delta")),
    ):
        case = case_of(tmp_path / name, (rates, of_files(tmp_path)[1]))
        case.run(0, 1)
        assert case.rows("n", "euros") == [(2, None), (2, None)]


def test_what_cannot_be_a_table() -> None:
    batches = sources.function(print, event_time="at"), sources.sql("env:SHOP", "SELECT {start}, {end}", event_time="at")
    for source in batches:
        with pytest.raises(DefinitionError, match="leave event_time= out"):
            sources.lookup(source, keys=["k"], since="at")
        with pytest.raises(DefinitionError, match="leave event_time= out"):
            windows.given(source, start="a", end="b")
    make: Any = sources.sql
    for more, says in [({"arrival_order": "n"}, "arrival_order: it is for the rows of batches"), ({"changed": "u"}, "changed: it is for")]:
        with pytest.raises(DefinitionError, match=says):
            make("env:SHOP", "SELECT * FROM rates", **more)
    with pytest.raises(DefinitionError, match=r"gives the rows of batches: name the column"):
        sources.sql("env:SHOP", "SELECT * FROM rates WHERE at < {end}")
    with pytest.raises(DefinitionError, match="version: it is for the rows of batches"):
        sources.function(print, version="2")
    assert sources.sql("env:SHOP", "SELECT * FROM rates", id="city", changed="updated", deleted="gone").fetch.id == ("city",)


def test_errors_name_the_function(tmp_path: Path) -> None:
    put(tmp_path, FIRST)

    def broken() -> object:
        raise ValueError("the API is down")

    for give, says in [(broken, r"broken failed: ValueError: the API is down"), (lambda: None, "it gives None, and a table")]:
        case = case_of(tmp_path / "case", (sources.function(give), of_files(tmp_path)[1]))
        with pytest.raises(SourceError, match=says):
            case.run(0)
    case = case_of(tmp_path / "case", (of_files(tmp_path)[0], sources.function(broken)))
    with pytest.raises(SourceError, match=r"windows.given, table sources.function: .+ the API is down"):
        case.run(0)
