"""Asset events of a run: the windows that were published and no run has announced, its own and windows of
runs that ended before.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, Any

from muntin.definition.instants import from_us
from muntin.definition.spelling import many
from muntin.extensions.airflow.assets.partitions import MOST, announced_keys, key_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muntin.extensions.airflow.assets.announcements import Announcement, Announcer
    from muntin.extensions.airflow.assets.partitions import Partitions
    from muntin.extensions.airflow.place import Context, Place

CALLED_BACK_US = 60_000_000
"""So long after a run took its part Airflow may count the run as well and not yet have called back that its
events are emitted.
"""
log = logging.getLogger("muntin")


def announcer_of(context: Context) -> Announcer:
    """A run of Airflow that announces, which asks Airflow about other runs: a run that failed announces
    nothing any more.
    """
    from muntin.extensions.airflow.assets.announcements import Announcer

    run, ti = context["dag_run"], context["ti"]

    def is_going(other: str, age_us: int) -> bool:
        states = ["queued", "running", *(["success"] if age_us < CALLED_BACK_US else [])]
        return bool(ti.get_dr_count(dag_id=run.dag_id, run_ids=[other], states=states))

    return Announcer(run.run_id, is_going)


def spelled(starts: Sequence[int]) -> list[str]:
    """Starts of batches as ISO text."""
    return [from_us(start).isoformat() for start in starts]


def announced(
    place: Place,
    own: Mapping[str, Sequence[int]],
    partitions: Partitions | None = None,
    announcer: Announcer | None = None,
) -> dict[str, Any]:
    """The announcement of each window, JSON-able: `published`, starts of batches; `name`, to acknowledge it
    by.

    What another run publishes meanwhile is announced by the run that comes first, and by no other. `own`:
    window -> starts of the batches that the run itself published. With `partitions` there are `keys`, also of
    windows of which nothing was published, where earlier runs left keys.
    """
    from muntin.extensions.airflow.assets.announcements import Announcer, announce

    keys_of = partial(announced_keys, place.bound, partitions) if partitions else None
    parts = announce(place.bound, announcer or Announcer(), keys_of, MOST)
    for window, starts in own.items():
        if others := {*starts}.difference(parts[window].starts if window in parts else ()):
            log.info(
                "window %s: %s announced by another run, which came first", window, many(len(others), "batch")
            )
    for window, each in parts.items():
        if each.left:
            log.warning("window %s: %d partition keys are left for the runs after this", window, each.left)
    return {window: _told(each, with_keys=partitions is not None) for window, each in parts.items()}


def _told(part: Announcement, *, with_keys: bool) -> dict[str, Any]:
    keys = {"keys": [key_of(start) for start in part.keys]} if with_keys else {}
    return {"published": spelled(part.starts), "name": part.name, **keys}


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
            "revised": result["changed"].get(window),
        }
        for window, each in result["announced"].items()
    }


def keys_of(result: Mapping[str, Any]) -> dict[str, list[str]]:
    """Window -> the partition keys of its events. `result`: what the task publish returns."""
    return {window: each.get("keys", []) for window, each in result["announced"].items()}


def acknowledge(place: Place, result: Mapping[str, Any]) -> None:
    """Note that the events were emitted.

    Only to be called when Airflow has them. `result`: what the task publish returned.
    """
    from muntin.extensions.airflow.assets.announcements import acknowledge as note

    note(place.bound, {window: each["name"] for window, each in result["announced"].items()})
