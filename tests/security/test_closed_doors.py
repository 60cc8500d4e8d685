"""SQL of a definition looks at rows. Whatever else it asks for is refused, and nothing of it has happened then."""

import socket
import time
from pathlib import Path
from typing import Any

import duckdb
import pytest

from muntin import aggregates as agg
from muntin.errors import DefinitionError, OutOfMemoryError, SourceError
from muntin.jobs.schema_check.source_columns import check_sql
from muntin.sources import new_session
from muntin.sources.new_session import connect
from muntin.sources.sessions.duckdb_session import any_session, closed_session, kept_session
from muntin.sources.sessions.single_expressions import check_expression, check_type
from muntin.sources.sessions.time_limit import in_time
from tests.case_counts import paired
from tests.end_to_end.hourly import Hourly
from tests.properties.laws.saved import PLAIN
from tests.security.doors import ATTACKS, PLACES, READS, STATEMENTS, TABLE, filled


def hourly(folder: Path, **other: Any) -> Hourly:
    """Three rows in an hour."""
    types = {"unit": "s", "types": other.pop("types", {})}
    made = Hourly(folder, "{start:%H}.parquet", types, other)
    made.write("00.parquet", {"at": [1704067201, 1704067202, 1704067203], "v": [1, 5, 50], "vs": [[1], [2, 3], []]})
    return made


@pytest.mark.parametrize(("place", "attack"), paired(PLACES, ATTACKS))
def test_every_place_is_closed_to_every_attack(place: str, attack: str, tmp_path: Path) -> None:
    sql = filled(ATTACKS[attack], tmp_path)
    with pytest.raises(DefinitionError):
        hourly(tmp_path, **PLACES[place](sql)).run()
    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.glob("state/**/windows*/**/*.parquet"))


@pytest.mark.parametrize("place", [place for place in PLACES if not place.startswith("a type")])
def test_every_place_is_open_to_an_expression(place: str, tmp_path: Path) -> None:
    hourly(tmp_path, **PLACES[place]("(SELECT 40 + sum(x) FROM range(3) AS numbers(x))")).run()


@pytest.mark.parametrize("kind", ["VARCHAR", "DECIMAL(9, 2)", "STRUCT(a BIGINT, b VARCHAR[])", "ENUM('a', 'b')", "MAP(VARCHAR, DATE)"])
def test_a_type_may_be_any(kind: str) -> None:
    check_type(kind, "types")


@pytest.mark.parametrize("kind", ["", " ", "VARCHAR, 1", "VARCHAR + 1", "VARCHAR AS x FROM y", "1"])
def test_a_type_is_a_type(kind: str) -> None:
    with pytest.raises(DefinitionError, match="is not a SQL type"):
        check_type(kind, "types")


# what is asked before anything is bound; each also of SQL that no other check has seen
@pytest.mark.parametrize("attack", [name for name in ATTACKS if name != "the environment"])
def test_the_parser_refuses_every_attack(attack: str, tmp_path: Path) -> None:
    with pytest.raises(DefinitionError):
        check_expression(filled(ATTACKS[attack], tmp_path), "here")


@pytest.mark.parametrize(
    "rest", ["WHERE v", "GROUP BY ALL", "GROUP BY v", "HAVING v", "QUALIFY v", "ORDER BY v", "LIMIT 1", "USING SAMPLE 1", "FROM v"]
)
def test_nothing_follows_an_expression(rest: str) -> None:
    with pytest.raises(DefinitionError, match="is not a single SQL expression"):
        check_expression(f"v {rest}", "here")


def test_the_catalogue_is_made_of_expressions(tmp_path: Path) -> None:
    class Every:
        source, windows, aggregates = hourly(tmp_path).pipeline.source, {}, PLAIN
        pipeline = hourly(tmp_path).pipeline

    check_sql(Every())  # type: ignore[arg-type]


BARE = {**STATEMENTS, **{name: f"SELECT {read}" for name, read in READS.items()}}
WITHIN = {  # what looks at the session alone, or changes it
    "open one in memory",
    "another meaning of a word",
    "the settings",
    "the settings as a table",
    "what DuckDB can tell of tables",
    "a file behind a name of its own",
}
FOR_EVERY_SESSION = {  # and what DuckDB says: an attack that fails for want of a network has met no door
    "variables of Python": "HIDDEN does not exist",
    "the network": "requires the extension httpfs to be loaded",
    "a bucket": "requires the extension httpfs to be loaded",
    "fetch an extension": 'create directory "/dev/null"',
    "load an extension": '"/dev/null/[^"]*" not found',
    "load code": "loading different files is not possible",
    "a setting": "the configuration has been locked",
    "the lock": "the configuration has been locked",
    "a pragma": "the configuration has been locked",
}


@pytest.mark.parametrize("attack", [name for name in BARE if name not in WITHIN])
def test_the_session_of_finished_windows_is_closed_by_itself(attack: str, tmp_path: Path) -> None:
    """Even to SQL that nobody has looked at."""
    sql, HIDDEN = filled(BARE[attack], tmp_path).replace("v IN", "1 IN"), TABLE  # noqa: F841, N806 - an attack looks for it
    with pytest.raises(duckdb.Error):
        connect().execute(sql).fetchall()
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("attack", "said"), FOR_EVERY_SESSION.items())
def test_the_session_that_reads_files_gets_no_code_and_keeps_its_settings(attack: str, said: str, tmp_path: Path) -> None:
    sql, HIDDEN = filled(BARE[attack], tmp_path), TABLE  # noqa: F841, N806 - an attack looks for it
    with pytest.raises(duckdb.Error, match=said):
        connect(files=True).execute(sql).fetchall()


@pytest.mark.parametrize("files", [False, True])
def test_no_session_gets_code_by_itself(files: bool) -> None:
    session = connect(files=files)
    found = dict(session.execute("SELECT name, value FROM duckdb_settings()").fetchall())
    names = ("autoinstall_known_extensions", "autoload_known_extensions", "allow_community_extensions")
    assert {found[name] for name in names} == {"false"}


def test_every_session_of_the_product_is_made_in_one_place() -> None:
    product = Path(new_session.__file__).parents[1]
    assert [path.name for path in product.rglob("*.py") if "duckdb.connect(" in path.read_text(encoding="utf-8")] == ["new_session.py"]


def test_a_plain_session_sees_variables_of_python() -> None:
    HIDDEN = TABLE  # noqa: F841, N806 - it is found by its name
    assert duckdb.connect().execute(f"SELECT {READS['variables of Python']}").fetchall() == [(1,)]


def test_nobody_calls_a_server(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.01)
        sql = filled(READS["the network"], tmp_path, f"127.0.0.1:{server.getsockname()[1]}")
        for session in (connect(), connect(files=True)):
            with pytest.raises(duckdb.Error):
                session.execute(f"SELECT {sql}").fetchall()
        with pytest.raises(TimeoutError):
            server.accept()


def test_sessions_are_kept() -> None:
    """A pipeline with thousands of batches opens two."""
    assert kept_session(None) is kept_session(None)
    assert closed_session() is closed_session()
    assert kept_session(None) is not closed_session()


def test_sql_has_as_much_memory_as_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUNTIN_SQL_MEMORY", "64MB")
    greedy = hourly(tmp_path, aggregates={"n": agg.max("(SELECT len(list(x)) FROM range(50000000) AS numbers(x))")})
    with pytest.raises(OutOfMemoryError, match="SQL reached the limit of its memory, which MUNTIN_SQL_MEMORY sets"):
        greedy.run()


# a row of a batch would count to a thousand million
LONG = "(SELECT sum(sin(x + {}::DOUBLE)) FROM range(1000000000) AS numbers(x))"


@pytest.mark.parametrize(
    "definition",
    [
        {"where": f"{LONG.format('x')} > 0"},
        {"aggregates": {"n": agg.max(LONG.format("x"))}},
        {"aggregates": {"n": agg.count(), "far": LONG.format("n")}},
    ],
)
def test_sql_ends_when_its_time_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, definition: dict[str, Any]) -> None:
    monkeypatch.setenv("MUNTIN_SQL_SECONDS", "0.2")
    with pytest.raises(SourceError, match=r"SQL of the definition ran longer than 0\.2 s; MUNTIN_SQL_SECONDS=7200 lets it run longer"):
        hourly(tmp_path, **definition).run()


def test_a_limit_of_time_that_is_over_between_two_statements_ends_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUNTIN_SQL_SECONDS", "0.01")
    session = connect()

    def after_a_while() -> None:
        with in_time(session, ["a file"]):
            time.sleep(0.05)
            session.execute(f"SELECT {LONG.format(1)}")

    with pytest.raises(SourceError, match=r"a file: SQL of the definition ran longer than 0\.01 s"):
        after_a_while()
    assert session.execute("SELECT 1").fetchall() == [(1,)]


def test_a_limit_of_time_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUNTIN_SQL_SECONDS", "long")
    with pytest.raises(SourceError, match="'long' is no number of seconds"):
        hourly(tmp_path).run()


def test_an_amount_of_memory_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUNTIN_SQL_MEMORY", "much")
    with pytest.raises(SourceError, match="'much' is no amount of memory"):
        hourly(tmp_path).run()


def test_a_question_about_sql_leaves_the_session_free() -> None:
    """An answer that nobody fetches would keep the session from the next relation."""
    for asked in (lambda: check_type("DECIMAL(17, 3)", "x"), lambda: check_expression("x + 17", "x")):
        asked()
        assert any_session().sql("SELECT 1").fetchall() == [(1,)]
