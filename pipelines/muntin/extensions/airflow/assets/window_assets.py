"""Assets: each window of a pipeline is an asset, and publishing it emits an event with the batch's report,
and one for each key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from airflow.sdk import Asset, Context

    from muntin.definition.pipeline import Pipeline


def window_asset(pipeline: Pipeline | str, window: str) -> Asset:
    """The asset of a window, to schedule other DAGs by: `schedule=[window_asset("flights", "day")]`.

    Its address does not depend on the folder of the state, so that the state can be moved. The folder of its
    table is in each event's `extra["table"]`.
    """
    from airflow.sdk import Asset

    name = pipeline if isinstance(pipeline, str) else pipeline.name
    return Asset(name=f"{name}/{window}", uri=f"muntin://{name}/{window}", group="muntin")


def window_assets(pipeline: Pipeline) -> list[Asset]:
    """The outlets of the task `publish`:

    Airflow makes these assets when it reads the DAG, so that no two runs make one at once.
    """
    return [window_asset(pipeline, window) for window in pipeline.windows]


def emit(
    pipeline: Pipeline,
    context: Context,
    extras: Mapping[str, Mapping[str, Any]],
    keys: Mapping[str, Sequence[str]],
) -> None:
    """Emit an event for each published window, for no other, and an event for each of its keys.

    Airflow emits an event for each outlet that the task has when it ends: from now on it has the published
    windows only. `extras`: window
    -> the `extra` of its events. A DAG that is scheduled by the asset as a whole takes no event with a key,
      so there is one without.
    """
    published = {window: window_asset(pipeline, window) for window in extras}
    context["task"].outlets = [*published.values()]
    for window, asset in published.items():
        event = context["outlet_events"][asset]
        event.extra = dict(extras[window])
        if keys.get(window):
            event.add_partitions([*keys[window]])
            if extras[window]["published"]:
                event.partition_keys.add(None)  # type: ignore[arg-type]  # an event without a key
