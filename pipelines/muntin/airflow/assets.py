"""Assets: each window of a pipeline is an asset, and publishing it emits an event with the batch's report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from airflow.sdk import Asset, AssetAlias

    from muntin.definition.pipeline import Pipeline


def window_asset(pipeline: Pipeline | str, window: str) -> Asset:
    """The asset of a window, to schedule other DAGs by: `schedule=[window_asset("flights", "day")]`.

    Its address does not depend on the folder of the state, so that the state can be moved. The folder of its table is in
    each event's `extra["table"]`.
    """
    from airflow.sdk import Asset

    name = pipeline if isinstance(pipeline, str) else pipeline.name
    return Asset(name=f"{name}/{window}", uri=f"muntin://{name}/{window}", group="muntin")


def published_alias(pipeline: Pipeline) -> AssetAlias:
    """The outlet of the task `publish`. Only the windows that the task really published get an event through it."""
    from airflow.sdk import AssetAlias

    return AssetAlias(name=f"{pipeline.name}/published", group="muntin")


def emit(pipeline: Pipeline, outlet_events: Any, extras: Mapping[str, Mapping[str, Any]]) -> None:  # noqa: ANN401 - Airflow's accessors
    """Emit an event for each published window. `extras`: window -> the `extra` of its event."""
    events = outlet_events[published_alias(pipeline)]
    for window, extra in extras.items():
        events.add(window_asset(pipeline, window), extra=dict(extra))
