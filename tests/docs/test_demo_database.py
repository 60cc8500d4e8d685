"""The demo's PostgreSQL: on a socket only, whatever the machine's locale, and gone at the end."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg2
import pytest

from examples.demo.background import family_of
from examples.demo.database import answers_queries, database
from examples.demo.home import LONGEST_SOCKET, Home, make_home
from examples.demo.waiting import until


@contextmanager
def session(home: Home, kept: Path) -> Iterator[psycopg2.extensions.cursor]:
    with database(home, kept=kept) as server:
        until(lambda: answers_queries(home), "the database", [server], home.folder)
        connection = psycopg2.connect(f"postgresql://postgres@/postgres?host={home.database}")
        connection.autocommit = True
        yield connection.cursor()
        connection.close()
    assert not family_of(server.process.pid)
    assert not home.database.parent.exists()


@pytest.fixture
def kept() -> Iterator[Path]:
    """A folder outside of pytest's own. Whatever pytest starts next closes that to PostgreSQL, which is another user for root."""
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o711)
        yield Path(folder) / "kept"


def test_kept_data_stay_and_everything_else_goes(tmp_path: Path, kept: Path):
    home = make_home(tmp_path / "home", state=tmp_path / "state")
    home = replace(home, env=home.env | {"LANG": "xx_YY.UTF-8"})
    with session(home, kept) as cursor:
        cursor.execute("show listen_addresses")
        assert cursor.fetchall() == [("",)]
        cursor.execute("create table runs as select 7 as days")
    with session(home, kept) as cursor:
        cursor.execute("select days from runs")
        assert cursor.fetchall() == [(7,)]


@pytest.mark.parametrize("length", [10, 50, 90, 200])
def test_the_socket_s_path_is_short_enough_wherever_temporary_files_are(length: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tempfile.tempdir", "/" + "x" * length)
    home = make_home(tmp_path / "home", state=tmp_path / "state")
    assert len(str(home.database / ".s.PGSQL.5432")) <= LONGEST_SOCKET
    assert str(home.database) in home.env["AIRFLOW__DATABASE__SQL_ALCHEMY_CONN"]
