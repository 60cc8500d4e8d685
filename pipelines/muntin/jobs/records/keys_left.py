"""Partition keys of a window's asset that are still to be emitted, and up to which batch keys were emitted before.

<state>/partitions.json     {"hour": {"last": start of a batch, "left": [starts of windows or batches]}}, in microseconds
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from muntin.store.disk import write_whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muntin.jobs.state.bound import Bound

NOTE = "partitions.json"


@dataclass(frozen=True, slots=True)
class KeysLeft:
    """The note of a window.

    Attributes:
        last_us: the newest batch of which keys were emitted; None: of no batch. What is published up to it again is a correction.
        left_us: keys that no run has emitted yet.
    """

    last_us: int | None = None
    left_us: Sequence[int] = ()


def keys_left(bound: Bound) -> dict[str, KeysLeft]:
    """Window -> its note; {} where it is missing or damaged: then no publication is taken for a correction."""
    try:
        found = json.loads((bound.folder / NOTE).read_text(encoding="utf-8"))
        return {window: KeysLeft(int(note["last"]), [int(key) for key in note["left"]]) for window, note in found.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def note_keys(bound: Bound, emitted: Mapping[str, Mapping[str, Any]]) -> None:
    """Note that keys were emitted. `emitted`: window -> `last` and `left` as they are now.

    Raises:
        StateError: the disk refuses.
    """
    before = {window: {"last": note.last_us, "left": [*note.left_us]} for window, note in keys_left(bound).items()}
    if emitted:
        write_whole(bound.folder / NOTE, json.dumps({**before, **emitted}).encode())
