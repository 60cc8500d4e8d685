"""The error that Spark's workers run another Python than this process: which Python each runs, and what to
set.
"""

from __future__ import annotations

import platform
import re
import sys
from typing import TYPE_CHECKING

from muntin.errors import StateError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MISSING = re.compile(r"ModuleNotFoundError: No module named '?([\w.]+)")
_OTHER = re.compile(r"Python in worker has different version: (\S+?) than that in driver: (\S+?)[,.]?\s")
_NO_PROGRAM = re.compile(r'Cannot run program "([^"]+)"')


def about_python(spark: SparkSession, wrong: Exception) -> StateError | None:
    """The error to raise if workers run a Python that does not do; None if `wrong` is
    about something else.
    """
    path = getattr(getattr(spark, "sparkContext", None), "pythonExec", None)
    text, runs = str(wrong), f" at {path}" if isinstance(path, str) else ""
    if match := _OTHER.search(text):
        problem = f"Spark's workers run Python {match[1]}{runs}"
    elif match := _NO_PROGRAM.search(text):
        problem = f"Spark's workers cannot start {match[1]}"
    elif match := _MISSING.search(text):
        problem = f"Spark's workers run a Python{runs} that has no module {match[1]!r}"
    else:
        return None
    return StateError(
        f"{problem}; this process runs Python {platform.python_version()} at {sys.executable}. Let workers"
        " run a Python of the same minor version with the same packages: set PYSPARK_PYTHON before the"
        " session starts (in Airflow spark.pyspark.python in the connection does it too), with Spark Connect"
        " before the server starts. Nothing was changed; run again"
    )
