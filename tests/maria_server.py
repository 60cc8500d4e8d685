"""A MariaDB of its own for the tests of a session."""

import getpass
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.servers import free_port, wait_for

USER, PASSWORD = "muntin", "geheim"
PATIENCE_S = 60
FOLDERS = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"])
_TABLES = ("mysql_system_tables.sql", "mysql_system_tables_data.sql")
_QUICK = ("--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=64M", "--performance-schema=off", "--max-allowed-packet=1M")


@pytest.fixture(scope="session")
def maria(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server without the name of a database."""
    if not (found := program()):
        pytest.skip("no MariaDB: bash setup/stores.sh fetches it where apt-get or brew may")
    with started(found, tmp_path_factory.mktemp("maria")) as address:
        yield address


@pytest.fixture
def shop_database(maria: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of an empty database, by the clock of the server's own zone."""
    name = f"test_{abs(hash(request.node.nodeid)):x}"
    with connected(maria) as connection:
        connection.cursor().execute(f"CREATE DATABASE {name}")
        yield f"{maria}/{name}"
        connection.cursor().execute(f"DROP DATABASE {name}")


def program() -> str:
    """The path of a server; "": there is none."""
    return shutil.which("mariadbd", path=FOLDERS) or ""


@contextmanager
def connected(address: str, **more: Any) -> Iterator[Any]:
    """A connection of the tests' own."""
    from urllib.parse import urlsplit

    import pymysql

    parts = urlsplit(address)
    where = {"host": parts.hostname, "port": parts.port, "user": USER, "password": PASSWORD}
    with pymysql.connect(**where, database=parts.path.strip("/") or None, autocommit=True, **more) as connection:
        yield connection


@contextmanager
def started(server: str, folder: Path, *settings: str) -> Iterator[str]:
    """A server in another zone than UTC, with settings of a test's own. The path of its socket has to be short: it lies elsewhere."""
    data, log = folder / "data", (folder / "log").open("wb")
    data.mkdir()
    plain = [server, "--no-defaults", f"--datadir={data}", f"--tmpdir={folder}", f"--user={getpass.getuser()}"]
    tables = _share(Path(server))
    first = "\n".join(["CREATE DATABASE mysql;", "USE mysql;", *((tables / name).read_text(encoding="utf-8") for name in _TABLES)])
    subprocess.run([*plain, "--bootstrap"], input=first.encode(), stdout=log, stderr=log, check=True)
    account = f"'{USER}'@'127.0.0.1'"
    begin = folder / "begin.sql"
    begin.write_text(f"CREATE USER {account} IDENTIFIED BY '{PASSWORD}';\nGRANT ALL ON *.* TO {account};\n", encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="muntin-maria-") as short:
        where = [f"--port={(port := free_port())}", "--bind-address=127.0.0.1", f"--socket={short}/s", f"--pid-file={short}/pid"]
        more = [f"--init-file={begin}", "--default-time-zone=+05:30", *_QUICK, *settings]
        with log, subprocess.Popen([*plain, *where, *more], stdout=log, stderr=log) as running:
            try:
                wait_for(port, seconds=PATIENCE_S)
                yield f"mysql://{USER}:{PASSWORD}@127.0.0.1:{port}"
            finally:
                running.kill()


def _share(program: Path) -> Path:
    """The folder with the statements that make the server's own tables."""
    roots = (program.resolve().parents[1] / "share", Path("/usr/share"))
    folders = [root / name for root in roots for name in ("mysql", "mariadb")]
    return next(folder for folder in folders if (folder / _TABLES[0]).exists())
