"""Airflow's settings in the docs are sourced by a shell and read by Airflow; its commands are commands."""

import json
import re
import subprocess
import sys
from pathlib import Path

from tests.docs.test_shell_blocks import BLOCKS, words

KINDS = {"AIRFLOW_CONN_SPARK_DEFAULT": "spark", "AIRFLOW_CONN_ALERTS": "apprise", "AIRFLOW_CONN_KAFKA_DEFAULT": "kafka"}
EXPORT = re.compile(r" *export (?=AIRFLOW)")


def sourced(block: str) -> dict[str, str]:
    """The variables that a shell has after each line of a block that sets some; a later line wins."""
    exports = "\n".join(line for line in block.splitlines() if line.strip().startswith("export"))
    told = subprocess.run(["bash", "-eu", "-c", f"{exports}\nenv -0"], env={}, capture_output=True, text=True, check=True).stdout
    return dict(line.split("=", 1) for line in told.split("\0") if line)


LOOK = """
import json, os, sys
from airflow.configuration import conf
from airflow.sdk import Connection
given = json.load(sys.stdin)
def told(name, value):
    if name.startswith("AIRFLOW_CONN_"):
        id = name.removeprefix("AIRFLOW_CONN_").lower()
        made = Connection.from_json(value, conn_id=id) if value.startswith("{") else Connection.from_uri(value, conn_id=id)
        return made.conn_type
    _, section, option = name.split("__")
    return conf.has_option(section.lower(), option.lower())
print(json.dumps({name: told(name, value) for name, value in given}))
"""


def test_airflow_knows_the_settings(tmp_path: Path) -> None:
    """Connections are read, and options are of Airflow's configuration."""
    lines = [line for _, block in BLOCKS for line in block.splitlines() if EXPORT.match(line)]
    given = [(name, value) for line in lines for name, value in sourced(line).items() if name.startswith("AIRFLOW_")]
    python = sys.executable
    told = subprocess.run(
        [python, "-c", LOOK],
        input=json.dumps(given),
        env={"AIRFLOW_HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(told.stdout.splitlines()[-1])
    assert found == {name: KINDS.get(name, True) for name, _ in given}


def test_airflow_takes_the_commands(tmp_path: Path) -> None:
    python = sys.executable
    parse = "import shlex, sys; from airflow.cli.cli_parser import get_parser; get_parser().parse_args(shlex.split(sys.argv[1]))"
    for line in words("airflow"):
        subprocess.run([python, "-c", parse, line], env={"AIRFLOW_HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}, check=True)
