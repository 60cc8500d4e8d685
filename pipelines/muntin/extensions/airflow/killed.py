"""A task that Airflow ends (cleared, marked by hand, timed out, taken for dead) stops Spark's jobs and leaves
with a line.

Airflow sends SIGTERM, calls the task's `on_kill`, and waits some seconds before it ends the process for good.
"""

from __future__ import annotations

import logging
import sys
from threading import Thread
from typing import TYPE_CHECKING, Any

from muntin.spark.stopping import stop_jobs

if TYPE_CHECKING:
    from collections.abc import Mapping

log = logging.getLogger("muntin")
STATUS = 143  # as shells tell of SIGTERM
_PATIENCE_S = 5.0


def end_when_killed(context: Mapping[str, Any]) -> None:
    """A `pre_execute`: from now on the task ends when Airflow says so."""
    context["task"].on_kill = on_kill


def on_kill() -> None:
    """Stop Spark's jobs, say what that means, and leave. While a time limit raises its own error, that goes
    on instead.

    The status is 143, which Airflow tells in a line.
    """
    stopping = Thread(target=stop_jobs, daemon=True)  # the main thread may be in the middle of a call to Java
    stopping.start()
    stopping.join(_PATIENCE_S)
    log.warning("Airflow ended this task; what was committed before is whole; the next run goes on")
    if sys.exc_info()[0] is None:
        sys.exit(STATUS)
