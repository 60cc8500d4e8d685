"""Code over Spark Connect in a process of its own: classic and Connect sessions cannot share a process."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

CHECKOUT = str(Path(__file__).parents[1])
FREE_PORT = {"SPARK_TESTING": "1"}  # the server of `remote("local[2]")` takes port 15002 otherwise, and tests run beside each other


def printed_over_connect(code: str, *arguments: object, home: Path, **env: str) -> tuple[Any, str]:
    """The first line of JSON (a list) that the code printed, and all that it printed.

    Raises:
        AssertionError: the code failed; with the causes that Java or Python named.
    """
    home.mkdir(exist_ok=True)
    command = [sys.executable, "-c", code, *map(str, arguments)]
    paths = {"PYTHONPATH": CHECKOUT, "HOME": str(home), "PYSPARK_PYTHON": sys.executable}
    ran = subprocess.run(
        command, cwd=home, env=os.environ | FREE_PORT | paths | env, capture_output=True, text=True, check=False, timeout=400
    )
    assert ran.returncode == 0, "\n".join(line for line in ran.stderr.splitlines() if "\tat " not in line)[-4000:]
    return json.loads(next(line for line in ran.stdout.splitlines() if line.startswith("["))), ran.stdout
