"""Each window of a pipeline is an asset; publishing it is an event that carries the batch's report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from airflow.sdk import Asset, AssetAlias

    from pipelines.definition.pipeline import Pipeline


def window_asset(pipeline: Pipeline | str, window: str) -> Asset:
    """The asset of a window, to schedule other DAGs by: `schedule=[window_asset("flights", "day")]`.

    Its address names the window wherever the state is, so that moving the state wakes or orphans nobody; where its table
    is now stands in each event's `extra["table"]`.
    """
    from airflow.sdk import Asset

    name = pipeline if isinstance(pipeline, str) else pipeline.name
    return Asset(name=f"{name}/{window}", uri=f"muntin://{name}/{window}", group="muntin")


def published_alias(pipeline: Pipeline) -> AssetAlias:
    """What the task `publish` declares: of its windows, those it really published get an event."""
    from airflow.sdk import AssetAlias

    return AssetAlias(name=f"{pipeline.name}/published", group="muntin")


def emit(pipeline: Pipeline, outlet_events: Any, extras: Mapping[str, Mapping[str, Any]]) -> None:  # noqa: ANN401 - Airflow's accessors
    """One event for each window that was published, by name with its `extra`."""
    events = outlet_events[published_alias(pipeline)]
    for window, extra in extras.items():
        events.add(window_asset(pipeline, window), extra=dict(extra))
