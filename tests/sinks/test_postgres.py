"""A table of PostgreSQL holds what readers know, exactly once: whatever happens to the windows, to the server and to runs."""

import random
import shutil
import socket
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from threading import Barrier
from time import monotonic
from typing import Any

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from muntin import Pipeline, read, run, sinks, sources, windows
from muntin import aggregates as agg
from muntin.extensions.postgres import sql
from muntin.extensions.postgres import table as sender
from muntin.extensions.postgres.sink import PostgresSink
from muntin.extensions.postgres.table import reported
from muntin.jobs.housekeeping import compact as compaction
from muntin.jobs.sending.notes import standings
from muntin.jobs.sending.send import send
from muntin.jobs.state.bound import bind
from muntin.store.log_append import commits_between
from tests.case_counts import random_seeds
from tests.storage.test_changes_since import Changing, step
from tests.storage.three_batches import HERE, HOUR, START

NOWHERE = "postgresql://muntin@127.0.0.1:9/nowhere"


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two files of a size are many, and rows go three at a time."""
    monkeypatch.setattr(compaction, "MANY", 2)
    monkeypatch.setattr(sender, "CHUNK", 3)


@dataclass(frozen=True)
class Sending(Changing):
    """As `Changing`; each window goes to a table of its own in the database that the variable WAREHOUSE names."""

    sends: bool = True

    @property
    def pipeline(self) -> Pipeline:
        plain = super().pipeline
        to = [sinks.postgres("env:WAREHOUSE", table=name, window=name) for name in plain.windows]
        return replace(plain, to=to if self.sends else ())

    def sent(self, **more: Any) -> tuple[str, ...]:
        return tuple(one.failed for one in send(bind(self.pipeline, self.folder / "state"), **more))


def rows_of(database: str, table: str, names: list[str]) -> list[tuple[Any, ...]]:
    with psycopg.connect(database, options="-c TimeZone=UTC") as connection:
        return sorted(connection.execute(f"SELECT {', '.join(names)} FROM {table}").fetchall(), key=repr)


def is_there(database: str, table: str) -> bool:
    """The first rows make a table: where no window was ever published there is none."""
    with psycopg.connect(database) as connection:
        return connection.execute("SELECT to_regclass(%s)", [table]).fetchone() != (None,)


def readers_know(small: Changing, window: str, names: list[str]) -> list[tuple[Any, ...]]:
    rows = DeltaTable(str(small.table(window))).to_pyarrow_table().to_pylist()
    return sorted((tuple(row.get(name) for name in names) for row in rows), key=repr)


def wrong(small: Changing, database: str) -> list[str]:
    """The windows whose table differs from what readers know."""
    found = []
    for name, kind in small.pipeline.windows.items():
        names = [*dict.fromkeys(["k", "window_start", "window_end", *kind.columns, *small.pipeline.aggregates])]
        rows = rows_of(database, name, names) if is_there(database, name) else []
        found += [name] if rows != readers_know(small, name, names) else []
    return found


@pytest.fixture
def small(tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch) -> Sending:
    monkeypatch.setenv("WAREHOUSE", database)
    small = Sending(tmp_path)
    small.write_all()
    return small


@pytest.mark.parametrize("seed", random_seeds(30))
def test_any_history_with_a_server_that_comes_and_goes(tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    chance, small = random.Random(seed), Sending(tmp_path)
    for at in range(3):
        small.rewrite(at, chance)
    for _ in range(8):
        monkeypatch.setenv("WAREHOUSE", chance.choice([database, database, NOWHERE]))
        small = step(small, chance)  # type: ignore[assignment]
        if not small.table("hours").exists():
            small.ran(0)
    monkeypatch.setenv("WAREHOUSE", database)
    assert small.sent() == ("", "", "")
    assert wrong(small, database) == []
    assert [one.rows for one in send(bind(small.pipeline, small.folder / "state"))] == [0, 0, 0]


def test_a_report_says_what_was_sent_and_the_ledger_how_far_it_is(small: Sending, database: str) -> None:
    small.ran(0, 1)
    report = small.run("state", 2, 2)
    assert report.sinks[0] == "2 changes of hours sent to table hours at env:WAREHOUSE; it is at version 2"
    assert "sinks" in report.to_dict()
    table = DeltaTable(str(small.table("hours")))
    with psycopg.connect(database) as connection:
        found = connection.execute(
            "SELECT pipeline, \"window\", table_name, state, version, rows FROM muntin_ledger WHERE table_name = 'hours'"
        )
        assert found.fetchall() == [("changing", "hours", "hours", str(table.metadata().id), 2, 2)]
    assert rows_of(database, "hours", ["revision"]) == [(0,), (0,), (1,), (1,), (2,), (2,)]


def test_a_rollup_has_a_table_of_its_own_told_apart_by_fewer_columns(small: Sending, database: str) -> None:
    tables = {"hours": "hours", "hours.all": "hours_all"}
    windows_of = {"hours": small.pipeline.windows["hours"]}
    to = [sinks.postgres("env:WAREHOUSE", table=table, window=window) for window, table in tables.items()]
    pipeline = replace(small.pipeline, windows=windows_of, rollups={"all": []}, to=to)
    for _ in range(2):
        run(pipeline, root=small.folder / "state", start=START, end=START + 3 * HOUR, spark=HERE)
        names = ["window_start", "window_end", *pipeline.aggregates]
        assert rows_of(database, "hours_all", names) == readers_know(small, "hours.all", names)
        small.rewrite(1, random.Random(3))
    assert len(rows_of(database, "hours_all", ["window_end"])) < len(rows_of(database, "hours", ["window_end"]))


class TestCrashes:
    """Each change arrives once, wherever a run ends."""

    def test_between_the_rows_and_the_commit(self, small: Sending, database: str, monkeypatch: pytest.MonkeyPatch) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(sender.PostgresTable, "_note", lambda *_: (_ for _ in ()).throw(MemoryError))
            small.ran(0)
        with psycopg.connect(database) as connection:
            assert connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone() == (0,)
        small.ran(1)
        assert wrong(small, database) == []

    def test_between_the_commit_and_its_answer(self, small: Sending, database: str, monkeypatch: pytest.MonkeyPatch) -> None:
        given = sender.PostgresTable.send

        def lost(self: sender.PostgresTable, *more: Any) -> None:
            given(self, *more)
            raise psycopg.OperationalError("server closed the connection unexpectedly")

        with monkeypatch.context() as patch:
            patch.setattr(sender.PostgresTable, "send", lost)
            small.ran(0)
        assert wrong(small, database) == []
        assert [one.rows for one in send(bind(small.pipeline, small.folder / "state"))] == [0, 0, 0]

    def test_two_runs_at_once(self, small: Sending, database: str) -> None:
        replace(small, sends=False).ran(0, 1, 2)
        start = Barrier(4)

        def sent(_: int) -> list[int]:
            start.wait()
            return [one.rows for one in send(bind(small.pipeline, small.folder / "state"))]

        with ThreadPoolExecutor(4) as threads:
            counts = list(threads.map(sent, range(4)))
        whole = [len(readers_know(small, name, ["k"])) for name in small.pipeline.windows]
        assert [sum(of_sink) for of_sink in zip(*counts, strict=True)] == whole
        assert wrong(small, database) == []


class TestServers:
    """A server that is down, silent or busy stops no run; its password is told to nobody."""

    def test_nobody_listens(self, small: Sending, database: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("WAREHOUSE", "postgresql://muntin:geheim@127.0.0.1:9/nowhere")
        report = small.run("state")
        assert len(report.published) == 3
        assert len(report.sinks) == 3
        assert report.sinks[0].startswith("hours not sent to table hours at env:WAREHOUSE (127.0.0.1:9/nowhere: connection ")
        assert report.sinks[0].endswith("see that the server is up and that the address is right); the next run catches up")
        assert "geheim" not in repr(report.to_dict()) + repr(standings(bind(small.pipeline, small.folder / "state")))
        monkeypatch.setenv("WAREHOUSE", database)
        small.ran(2)
        assert wrong(small, database) == []

    def test_a_server_that_says_nothing(self, small: Sending, monkeypatch: pytest.MonkeyPatch) -> None:
        with socket.create_server(("127.0.0.1", 0)) as silent:
            monkeypatch.setenv("WAREHOUSE", f"postgresql://muntin@127.0.0.1:{silent.getsockname()[1]}/db?connect_timeout=60")
            monkeypatch.setattr(PostgresSink, "patience_us", 1_000_000)
            begun = monotonic()
            report = small.run("state")
        assert monotonic() - begun < 10
        assert len(report.sinks) == 3
        assert all("no answer within 1 s" in line for line in report.sinks)
        assert len(report.published) == 3

    def test_another_program_holds_the_table(self, small: Sending, database: str, monkeypatch: pytest.MonkeyPatch) -> None:
        small.ran(0)
        monkeypatch.setattr(sql, "SETTINGS", sql.SETTINGS.replace("5s", "200ms"))
        with psycopg.connect(database) as connection:
            connection.execute("LOCK TABLE hours")
            report = small.run("state", 1, 1)
        (line,) = (line for line in report.sinks if "not sent" in line)
        assert f"({reported(database)}: another run or program holds table hours; the next run looks again)" in line
        small.ran(1)
        assert wrong(small, database) == []

    @pytest.mark.parametrize(
        ("address", "words"),
        [
            (None, "the environment has no WAREHOUSE; set it"),
            ("mysql://muntin:geheim@db/x", "the address in env:WAREHOUSE is not one of PostgreSQL"),
        ],
    )
    def test_an_address_that_is_none(self, small: Sending, monkeypatch: pytest.MonkeyPatch, address: str | None, words: str) -> None:
        monkeypatch.delenv("WAREHOUSE")
        if address:
            monkeypatch.setenv("WAREHOUSE", address)
        lines = small.run("state").sinks
        assert len(lines) == 3
        assert all(words in line and "geheim" not in line for line in lines)


class TestTables:
    """What is in the database already, and what the state was before."""

    def test_rows_of_somebody_else_stay(self, small: Sending, database: str) -> None:
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute("CREATE TABLE hours (k text)")
            connection.execute("INSERT INTO hours VALUES ('ours')")
            assert "has rows that Muntin did not write" in small.run("state").sinks[0]
            assert connection.execute("SELECT k FROM hours").fetchall() == [("ours",)]

    def test_a_table_that_somebody_made_is_filled(self, small: Sending, database: str) -> None:
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute(
                "CREATE TABLE hours (k varchar(9), window_start timestamptz, window_end timestamptz, n int, note text, "
                "PRIMARY KEY (window_end, window_start, k))"
            )
        small.ran(0, 1, 2)
        assert wrong(small, database) == []

    def test_a_state_that_was_put_back_and_went_on_otherwise(self, small: Sending, database: str) -> None:
        """The versions are the same, the commits are others."""
        small.ran(0)
        shutil.copytree(small.folder / "state", small.folder / "kept")
        small.ran(1)
        shutil.rmtree(small.folder / "state")
        (small.folder / "kept").rename(small.folder / "state")
        small.write(1, [75])
        report = small.run("state", 1, 1)
        assert "all windows, since" in report.sinks[0]
        assert "was put back to an earlier state" in report.sinks[0]
        assert wrong(small, database) == []

    def test_a_state_that_is_behind_the_sink(self, small: Sending, database: str) -> None:
        small.ran(0)
        shutil.copytree(small.folder / "state", small.folder / "kept")
        small.ran(1, 2)
        shutil.rmtree(small.folder / "state")
        (small.folder / "kept").rename(small.folder / "state")
        assert small.sent() == ("", "", "")
        assert wrong(small, database) == []

    def test_a_state_that_was_made_anew_is_refused_until_somebody_says_so(self, small: Sending, database: str) -> None:
        small.ran(0, 1)
        shutil.rmtree(small.folder / "state")
        lines = small.run("state", 0, 0).sinks
        assert len(lines) == 3
        assert all("filled from another table of windows" in line for line in lines)
        assert small.sent(anew=True) == ("", "", "")
        assert wrong(small, database) == []

    def test_files_that_are_removed_make_all_windows_go(self, small: Sending, database: str, monkeypatch: pytest.MonkeyPatch) -> None:
        small.ran(0, 1)
        monkeypatch.setenv("WAREHOUSE", NOWHERE)
        small.write(1, [75])
        small.ran(1)
        (commit,) = commits_between(small.table("hours"), 1, 2)
        for path in commit.removes:
            (small.table("hours") / path).unlink()
        monkeypatch.setenv("WAREHOUSE", database)
        assert "all windows, since commits or files since version 1 are removed" in small.run("state", 2, 2).sinks[0]
        assert wrong(small, database) == []


KINDS = {
    "whole": (agg.sum("x::int"), int),
    "mean": (agg.mean("x"), float),
    "some": (agg.collect("k"), list),
    "first": (agg.first("k"), str),
    "when": (agg.max("t"), datetime),
    "exact": (agg.sum("x::decimal(20,3)"), Decimal),
    "yes": (agg.max("x > 3"), bool),
    "nothing": (agg.max("case when false then x end"), type(None)),
    "odd": (agg.max("'nan'::double"), float),
}


def spelled(value: Any) -> str:
    """A value with its type, instants in UTC."""
    return value.astimezone(UTC).isoformat() if isinstance(value, datetime) else repr(value)


def test_values_of_every_type_and_keys_that_are_null(small: Sending, database: str) -> None:
    pipeline = replace(
        small.pipeline,
        keys=["shop", 'a "b".c'],
        source=sources.files(str(small.folder / "data/{start:%H}.parquet"), event_time="t"),
        windows={"hours": windows.tumbling("1h")},
        aggregates={name: aggregate for name, (aggregate, _) in KINDS.items()},
        to=sinks.postgres("env:WAREHOUSE", table="odd.of hours"),
    )
    rows = [
        {"t": START, "k": "ä\\\n\t", "x": 4.5, "shop": None, 'a "b".c': 7},
        {"t": START, "k": "", "x": 1.25, "shop": "", 'a "b".c': None},
    ]
    with psycopg.connect(database, autocommit=True, options="-c TimeZone=UTC") as connection:
        connection.execute("CREATE SCHEMA odd")
        for x in (9.0, 4.5):  # the second time both windows are changed
            rows[0]["x"] = x
            pq.write_table(pa.Table.from_pylist([*rows, {**rows[1], "x": x / 9}]), small.folder / "data/00.parquet")
            run(pipeline, root=small.folder / "state", start=START, end=START + HOUR, spark=HERE)
        found = connection.execute('SELECT * FROM odd."of hours" ORDER BY whole').fetchall()
        names = [column.name for column in connection.execute('SELECT * FROM odd."of hours"').description or ()]
        assert connection.execute("SELECT count(*) FROM odd.muntin_ledger").fetchone() == (1,)
    assert len(found) == 2
    ours = read(pipeline, "hours", root=small.folder / "state").sort_by("whole").to_pylist()
    for theirs, mine in zip((dict(zip(names, row, strict=True)) for row in found), ours, strict=True):
        assert [*map(spelled, theirs.values())] == [spelled(mine.get(name, 1)) for name in names]
        assert [type(theirs[name]) for name in KINDS] == [kind for _, kind in KINDS.values()]
