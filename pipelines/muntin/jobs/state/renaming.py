"""Renaming: a pipeline or a window with another name keeps its state and its table.

Even frames: a definition that lost its other windows, and could have longer frames, goes on with the
frames of its state.
"""

from __future__ import annotations

from muntin.definition.frame_sets import frame_sets
from muntin.definition.pipeline import Pipeline
from muntin.files.paths import AnyPath, folders_in, move_folder
from muntin.jobs.state.definition_note import noted_facts
from muntin.jobs.state.fingerprint import fingerprint
from muntin.store.disk import refused
from muntin.store.state import OWNER_FILE, WINDOWS, give_to, states_of


def name_of_state(pipeline: Pipeline, root: AnyPath) -> str:
    """The present name of a pipeline's state: the name before, until the first run has taken it over."""
    before, here = pipeline.renamed.pipeline, root / pipeline.name
    return (
        before if before and not here.exists() and (root / before / OWNER_FILE).is_file() else pipeline.name
    )


def take_over(pipeline: Pipeline, home: AnyPath) -> None:
    """Give the state and the tables of the names before the names of today. What has its name already stays.

    Raises:
        StateError: the disk refuses.
    """
    try:
        if (before := name_of_state(pipeline, home.parent)) != pipeline.name:
            move_folder(home.with_name(before), home)
        if pipeline.renamed.pipeline:
            give_to(home, pipeline.name, pipeline.renamed.pipeline)
        for window, old in pipeline.renamed_tables.items():
            for folder in (home, *folders_in(home)):
                table = folder / WINDOWS / old
                if table.is_dir() and not (folder / WINDOWS / window).exists():
                    move_folder(table, folder / WINDOWS / window)
    except OSError as wrong:
        raise refused(str(home), wrong) from wrong


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
    tables_of_states = {
        state.name: {table for table, *_ in (noted_facts(state) or {}).get("frames", ())}
        for state in states_of(home)
    }
    before = fingerprint(pipeline, even=True) in tables_of_states or any(
        even <= tables for tables in tables_of_states.values()
    )
    return before and not any(longer & tables for tables in tables_of_states.values())
