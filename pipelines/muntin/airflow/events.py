"""Asset events of a run: the windows that it published, and windows of an earlier run that ended before it reported them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from muntin.definition.instants import from_us

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muntin.airflow.place import Place


def spelled(starts: Sequence[int]) -> list[str]:
    """Starts of batches as ISO text."""
    return [from_us(start).isoformat() for start in starts]


def announced(place: Place, own: Mapping[str, Sequence[int]]) -> dict[str, Any]:
    """The announcement of each window, JSON-able: `published`, starts of batches; `table` and `number`, to acknowledge it by.

    `own`: window -> starts of the batches that the run itself published.
    """
    from muntin.jobs.records.announcements import unreported

    return {
        window: {"published": spelled(each.starts), "table": each.table, "number": each.number}
        for window, each in unreported(place.bound, own).items()
    }


def extras(place: Place, result: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Window -> the `extra` of its asset event. `result`: what the task publish returns."""
    from muntin.jobs.published.window_tables import table_of

    return {
        window: {
            "pipeline": place.bound.pipeline.name,
            "window": window,
            "table": table_of(place.bound, window),
            "published": each["published"],
            "report": result["report"],
            "waiting_for": result["waiting_for"],
            "quality": result["quality"].get(window),
        }
        for window, each in result["announced"].items()
    }


def acknowledge(place: Place, result: Mapping[str, Any]) -> None:
    """Note that the events were emitted. Only to be called when Airflow has them. `result`: what the task publish returned."""
    from muntin.jobs.records.announcements import acknowledge as note

    note(place.bound, {window: {name: each[name] for name in ("table", "number")} for window, each in result["announced"].items()})
