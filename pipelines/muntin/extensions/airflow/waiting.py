"""Waiting for a remote Spark (`sc://`) without a worker: a task whose Spark is down, or has no core free, is
deferred.

task         asks Spark for a job that does nothing: answered, it goes on; no answer within PATIENCE_S:
deferred, its slot is free triggerer    asks the same, as long as it takes, and again where no server answers
task         begins once more, and asks again

Nothing is held in between: whatever process is killed, the next one asks anew. Spark may do the job of a
killed process later: nothing.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from airflow.sdk.exceptions import TaskDeferred
from airflow.triggers.base import BaseTrigger, TriggerEvent

from muntin.extensions.airflow.spark import RESUMED, connection, remote_of
from muntin.spark.session import spoken

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from muntin.extensions.airflow.place import Context

PATIENCE_S = 10.0
AGAIN_S = 30.0
log = logging.getLogger("muntin")


def until_free(conn_id: str, context: Context) -> None:
    """Return once a remote Spark has a core free; at once where the connection is to no remote Spark.

    Else `TaskDeferred`: the task begins again after the trigger.
    """
    if (address := remote_of(connection(conn_id))) is None:
        return
    try:
        if asyncio.run(_within_patience(address)):
            return
        why = "nobody answers"
    except TimeoutError:
        why = f"no core is free within {PATIENCE_S:g} s"
    log.info(
        "Spark (%s): %s; the task waits without a worker, and begins again once Spark has run a job",
        spoken(address),
        why,
    )
    raise TaskDeferred(
        trigger=SparkFree(conn_id), method_name=RESUMED, timeout=context["task"].execution_timeout
    )


async def _within_patience(address: str) -> bool:
    from muntin.extensions.airflow.free_core import has_free_core

    return await asyncio.wait_for(has_free_core(address), PATIENCE_S)


class SparkFree(BaseTrigger):  # type: ignore[misc]
    """Fires once the Spark of a connection has run a task.

    Airflow's database holds the connection's name, not the address or its token.
    """

    def __init__(self, conn_id: str) -> None:
        super().__init__()
        self.conn_id = conn_id

    def serialize(self) -> tuple[str, dict[str, Any]]:
        return f"{__name__}.{type(self).__name__}", {"conn_id": self.conn_id}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Ask until Spark has answered. An answer that is an error is for the task to tell."""
        from muntin.extensions.airflow.free_core import has_free_core

        while (address := await asyncio.to_thread(self._address)) and not await has_free_core(address):
            log.info("Spark (%s): nobody answers; asked again in %d s", spoken(address), AGAIN_S)
            await asyncio.sleep(AGAIN_S)
        yield TriggerEvent(None)

    def _address(self) -> str | None:
        """The address as the connection has it now: who mends the connection ends the wait."""
        return remote_of(connection(self.conn_id))
