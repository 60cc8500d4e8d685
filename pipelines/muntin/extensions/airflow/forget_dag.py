"""The DAG that forgets keys of a pipeline.

Rights on this DAG are the rights to forget, and to see on the page what was forgotten.
"""

from __future__ import annotations

import logging
import sys
from datetime import UTC
from typing import TYPE_CHECKING, Any, Literal

from muntin.definition.extras import need
from muntin.definition.spelling import many
from muntin.errors import StateError
from muntin.store.state import DAG_ENDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from airflow.sdk import DAG

    from muntin.definition.pipeline import Pipeline
    from muntin.files.paths import AnyPath

log = logging.getLogger("muntin")


def forget_dag(
    pipeline: Pipeline,
    requests: Callable[[], Iterable[Mapping[str, Any]]],
    *,
    root: str | AnyPath | None = None,
    totals: Literal["keep", "redo"] = "keep",
    schedule: Any = "@daily",  # noqa: ANN401 - whatever airflow.sdk.DAG takes
    **options: Any,  # noqa: ANN401 - whatever airflow.sdk.DAG takes
) -> DAG:
    """The DAG that forgets keys, named as `visits.forget_keys`. Assign it to a global name in the file of the
    pipeline's own DAG.

    Each run asks for the keys that are to be forgotten, and forgets the keys that it never forgot, or of
    which something may be left. It fails until nothing is left. Keys that count again by `undo` or `until`
    are passed over: the command forgets a key that is asked for twice.

    Args:
        pipeline: the definition.
        requests: a function that gives all keys ever asked for, as from a table: of each some columns of the
            pipeline's keys.
        root: as `airflow_dag` has it.
        totals: as `forget` has it.
        schedule: when to look for new requests; None: only when somebody triggers the DAG.
        **options: further arguments of `airflow.sdk.DAG`: access_control, default_args,
            on_failure_callback...
    """
    need("airflow")
    from airflow.sdk import DAG, task

    from muntin.extensions.airflow.tasks import begin

    dag = DAG(
        dag_id=f"{pipeline.name}{DAG_ENDS}",
        schedule=schedule,
        start_date=pipeline.start.astimezone(UTC),
        catchup=False,
        max_active_runs=1,
        **{"tags": ["muntin"], **options},
    )
    dag.fileloc = sys._getframe(1).f_code.co_filename  # noqa: SLF001 - as `airflow_dag` does

    def forget_keys(**context: Any) -> dict[str, Any] | None:  # noqa: ANN401 - Airflow's
        """Forget what is asked for, and was not forgotten before."""
        from muntin.extensions.airflow.place import located
        from muntin.extensions.airflow.publishing import connections_of
        from muntin.registry import extension
        from muntin.sinks.delivery import Reach

        here, place = located(pipeline, context, root)
        asked = list(requests())
        keys = extension("forgetting", "new_keys")(here, asked, root=place)
        log.info("%s asked for, %d to forget", many(len(asked), "key"), len(keys))
        if not keys:
            return None
        forgetting = extension("muntin", "forget")(
            here, keys, root=place, totals=totals, progress=log.info, reach=Reach(connections_of(here.to))
        )
        if not forgetting.done:
            left = [f"{each.said} in {each.place}" for each in forgetting.left]
            raise StateError(
                f"{pipeline.name}: not everything is forgotten: {'; '.join([*left, *forgetting.sinks])}. "
                f"{forgetting.mend or 'The next run tries again'}"
            )
        return forgetting.register()

    task(dag=dag, pre_execute=begin, multiple_outputs=False)(forget_keys)()
    return dag
