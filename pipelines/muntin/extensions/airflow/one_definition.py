"""A run is of one definition: the task accumulate names it, and a later task that finds
another one refuses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from muntin.errors import DefinitionError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muntin.extensions.airflow.place import Place
    from muntin.jobs.state.bound import Bound

KEY = "definition"


def definition_of(bound: Bound) -> dict[str, Any]:
    """Names of a definition: `state`, the fingerprint, and `windows`, window -> derivation. JSON-able."""
    return {"state": bound.state, "windows": {window: bound.derivation(window) for window in bound.windows}}


def check_same(place: Place, accumulated: Mapping[str, Any]) -> None:
    """Refuse to go on with a run under another definition than it began with.

    `accumulated`: what the task accumulate returned.
    """
    begun, now = accumulated[KEY], definition_of(place.bound)
    if begun == now:
        return
    raise DefinitionError(
        f"{place.bound.pipeline.name}: the definition changed while the run of {place.interval} was going:"
        f" {_difference(begun, now)}. Clear the run from the task accumulate on, and all of it runs under the"
        " definition as it is now; or put the earlier definition back and clear this task"
    )


def _difference(begun: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    if begun["state"] != now["state"]:
        return f"the task accumulate wrote the state {begun['state']}, and this task would use {now['state']}"
    windows = {**begun["windows"], **now["windows"]}
    other = [name for name in windows if begun["windows"].get(name) != now["windows"].get(name)]
    return (
        f"since the task accumulate ran, {', '.join(map(repr, other))} is another window, is new or is gone"
    )
