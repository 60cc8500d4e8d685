"""A private Airflow home for one person on one machine: its settings, its password, its Spark."""

import json
import os
import secrets
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from examples.demo.background import free_ports

PROJECT = Path(__file__).resolve().parents[2]
TOKEN = "SPARK_CONNECT_AUTHENTICATE_TOKEN"  # noqa: S105 - the name of a variable
LONGEST_SOCKET = 103  # bytes, on macOS; Linux takes 107
SPARK_SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"


@dataclass(frozen=True, slots=True)
class Home:
    """Where Airflow lives, and how to reach it and Spark. Everything listens on 127.0.0.1 only, the database on no port at all.

    Spark answers whoever has the token in `env`: a client on this machine, which is `localhost` by name, sends it.
    """

    folder: Path
    state: Path
    database: Path
    password: str
    port: int
    spark_port: int
    env: dict[str, str]

    @property
    def url(self) -> str:
        """Of the web page and the API."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def spark(self) -> str:
        """Of the Spark Connect server, with its token."""
        return f"sc://localhost:{self.spark_port}/;token={self.env[TOKEN]}"

    @property
    def logs(self) -> Path:
        """Of the programs; Airflow's tasks log below `airflow/logs`."""
        return self.folder / "logs"


def make_home(folder: Path, *, state: Path, port: int | None = None) -> Home:
    """Write what Airflow needs into `folder` and say how to start it."""
    folder.mkdir(parents=True, exist_ok=True)
    password = _kept(folder / "passwords.json", "admin", 12)
    api, spark = free_ports(2)
    database = _short_folder() / "data"
    env = program_env()
    env |= {"AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"postgresql+psycopg2://postgres@/postgres?host={database}"}
    env |= _airflow_settings(folder, port or api)
    env |= {"MUNTIN_HOME": str(PROJECT), "MUNTIN_ROOT": str(state), "AIRFLOW_CONN_SPARK_DEFAULT": f"spark-connect://localhost:{spark}"}
    env |= {TOKEN: secrets.token_urlsafe(32)}
    return Home(folder, state, database, password, port or api, spark, env)


def program_env() -> dict[str, str]:
    """This program's environment, for programs of the same virtual environment."""
    env = {key: value for key, value in os.environ.items() if not key.startswith(("AIRFLOW_", "PYTHONDONTWRITE"))}
    java = Path(sys.prefix, "java-home")
    if "JAVA_HOME" not in env and java.exists():
        env["JAVA_HOME"] = java.read_text(encoding="utf-8").strip()
    paths = [str(PROJECT), *env.get("PYTHONPATH", "").split(os.pathsep)]
    return env | {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), env.get("PATH", os.defpath)]),
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }


def _airflow_settings(folder: Path, port: int) -> dict[str, str]:
    return {
        "AIRFLOW_HOME": str(folder / "airflow"),
        "AIRFLOW__CORE__DAGS_FOLDER": str(PROJECT / "dags"),
        "AIRFLOW__CORE__PLUGINS_FOLDER": str(PROJECT / "plugins"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__EXECUTOR": "muntin.extensions.airflow.executor.ReadyLocalExecutor",
        "AIRFLOW__CORE__PARALLELISM": "4",
        "AIRFLOW__CORE__DEFAULT_TASK_RETRIES": "1",
        "AIRFLOW__CORE__DEFAULT_TASK_RETRY_DELAY": "5",
        "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "False",
        # 2013 lies far in the past: without this, catching up would begin thousands of runs. Backfills run all the same.
        "AIRFLOW__SCHEDULER__USE_JOB_SCHEDULE": "False",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": "admin:admin",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(folder / "passwords.json"),
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"http://127.0.0.1:{port}/execution/",
        "AIRFLOW__CORE__FERNET_KEY": _kept(folder / "fernet.json", "key", 32) + "=",
        "AIRFLOW__API__HOST": "127.0.0.1",
        "AIRFLOW__API__PORT": str(port),
        "AIRFLOW__API__BASE_URL": f"http://127.0.0.1:{port}",
        "AIRFLOW__API__WORKERS": "1",
        "AIRFLOW__API__SECRET_KEY": secrets.token_urlsafe(64),
        "AIRFLOW__API_AUTH__JWT_SECRET": secrets.token_urlsafe(64),
        "AIRFLOW__DAG_PROCESSOR__REFRESH_INTERVAL": "15",
        "AIRFLOW__DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL": "15",
        "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED": "False",
    }


def _short_folder() -> Path:
    """A name that nobody uses, short enough for a socket in a folder below."""
    folder = Path(tempfile.gettempdir(), f"muntin-{secrets.token_hex(4)}")
    fits = len(os.fsencode(folder / "data/.s.PGSQL.5432")) <= LONGEST_SOCKET
    return folder if fits else Path("/tmp", folder.name)  # noqa: S108 - made by mkdir, which refuses what is there


def _kept(file: Path, name: str, size: int) -> str:
    """A secret that is made once; its file is for its owner only."""
    if not file.exists():
        file.touch(mode=0o600)
        file.write_text(json.dumps({name: secrets.token_urlsafe(size)}), encoding="utf-8")
    return str(json.loads(file.read_text(encoding="utf-8"))[name])


def airflow(*arguments: str) -> list[str]:
    """A command of Airflow's."""
    return [sys.executable, "-m", "airflow", *arguments]


def spark_server(port: int) -> list[str]:
    """A Spark Connect server: one JVM for all tasks, instead of one each."""
    import pyspark

    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.ui.enabled": "false",
        "spark.authenticate": "true",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.log.level": "ERROR",
        "spark.python.daemon.module": "muntin.extensions.zygote.daemon",
        "spark.sql.shuffle.partitions": "4",
    }
    chosen = [part for key, value in settings.items() for part in ("--conf", f"{key}={value}")]
    submit = str(Path(pyspark.__file__).parent / "bin/spark-submit")
    return [submit, "--class", SPARK_SERVER, "--master", "local[*]", "--driver-memory", "1g", *chosen, "spark-internal"]
