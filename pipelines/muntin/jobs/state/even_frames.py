"""Even frames: a definition that lost its other windows, and could have longer frames, goes on with the
frames of its state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.definition.frame_sets import frame_sets
from muntin.jobs.state.definition_note import noted_facts
from muntin.jobs.state.fingerprint import fingerprint
from muntin.store.state import states_of

if TYPE_CHECKING:
    from muntin.definition.pipeline import Pipeline
    from muntin.files.paths import AnyPath


def keeps_even_frames(pipeline: Pipeline, home: AnyPath) -> bool:
    """Whether the frames of a pipeline keep one width: a state of it has such frames, and no state has the
    longer frames.

    Else the whole source would be read again, which may be gone.

    Args:
        pipeline: the definition.
        home: the folder of its states.
    """
    even = {frames.table for frames in frame_sets(pipeline, even=True)}
    longer = {frames.table for frames in frame_sets(pipeline)} - even
    if not longer or (home / fingerprint(pipeline)).is_dir():
        return False
    tables_of_states = {state.name: _tables(state) for state in states_of(home)}
    before = fingerprint(pipeline, even=True) in tables_of_states or any(
        even <= tables for tables in tables_of_states.values()
    )
    return before and not any(longer & tables for tables in tables_of_states.values())


def _tables(state: AnyPath) -> set[str]:
    """The tables of frames of a state; none where no note has them."""
    return {table for table, *_ in (noted_facts(state) or {}).get("frames", ())}
