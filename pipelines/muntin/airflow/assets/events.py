"""Asset events of a run: the windows that it published, and windows of an earlier run that ended before it reported them."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from muntin.definition.instants import from_us

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muntin.airflow.assets.partitions import Partitions
    from muntin.airflow.place import Place

log = logging.getLogger("muntin")


def spelled(starts: Sequence[int]) -> list[str]:
    """Starts of batches as ISO text."""
    return [from_us(start).isoformat() for start in starts]


def announced(place: Place, own: Mapping[str, Sequence[int]], partitions: Partitions | None = None) -> dict[str, Any]:
    """The announcement of each window, JSON-able: `published`, starts of batches; `table` and `number`, to acknowledge it by.

    Args:
        place: of the run.
        own: window -> starts of the batches that the run itself published.
        partitions: what the keys of events are: then there are `keys`, and `left` and `last` to note; also of windows of which nothing was
            published, where earlier runs left keys.
    """
    from muntin.jobs.records.announcements import unreported

    told = unreported(place.bound, own)
    found: dict[str, Any] = {
        window: {"published": spelled(each.starts), "table": each.table, "number": each.number} for window, each in told.items()
    }
    if partitions is None:
        return found
    from muntin.airflow.assets.partitions import MOST, announced_keys
    from muntin.jobs.records.keys_left import KeysLeft, keys_left

    noted = keys_left(place.bound)
    windows = [window for window in place.bound.windows if window in told or noted.get(window, KeysLeft()).left_us]
    for window in windows:
        batches = told[window].starts if window in told else ()
        keys = announced_keys(place.bound, window, partitions, batches, noted.get(window, KeysLeft()), max(MOST // len(windows), 1))
        found[window] = {"published": [], **found.get(window, {}), **keys}
        if left := keys["left"]:
            log.warning("window %s: %d partition keys are left for the runs after this", window, len(left))
    return found


def extras(place: Place, result: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Window -> the `extra` of its asset events. `result`: what the task publish returns."""
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


def keys_of(result: Mapping[str, Any]) -> dict[str, list[str]]:
    """Window -> the partition keys of its events. `result`: what the task publish returns."""
    return {window: each.get("keys", []) for window, each in result["announced"].items()}


def acknowledge(place: Place, result: Mapping[str, Any]) -> None:
    """Note that the events were emitted. Only to be called when Airflow has them. `result`: what the task publish returned."""
    from muntin.jobs.records.announcements import acknowledge as note
    from muntin.jobs.records.keys_left import note_keys

    told = result["announced"]
    note_keys(place.bound, {window: {name: each[name] for name in ("last", "left")} for window, each in told.items() if "keys" in each})
    note(place.bound, {window: {name: each[name] for name in ("table", "number")} for window, each in told.items() if "table" in each})
