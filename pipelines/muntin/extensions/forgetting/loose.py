"""Files of no table: notes of Muntin's own, texts that are overwritten, copies, and whatever else lies below
the folder of a pipeline.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from muntin.definition.pipeline import Pipeline
from muntin.extensions.forgetting.contents import file_says
from muntin.extensions.forgetting.said import says, values_of
from muntin.extensions.forgetting.table_files import footer_of_file, of_rows
from muntin.files.paths import AnyPath, relative
from muntin.jobs.published.mirrors import FOLDER as MIRRORS
from muntin.jobs.published.mirrors import METADATA
from muntin.jobs.published.staged_windows import STAGED_FILE
from muntin.jobs.state.definition_note import described
from muntin.jobs.state.fingerprint import facts_text
from muntin.jobs.state.forgotten_log import is_of_memory
from muntin.states.forgotten_keys import Plain
from muntin.store.paths import NOTES
from muntin.store.state import OWNER_FILE, ROWS, TOPICS

_OF_DEFINITION = re.compile(r"(definition|facts|columns|columns_of_.*)\.json")
_NOTES = re.compile(rf"{_OF_DEFINITION.pattern}|(versions|partitions|announced|upstream|dimensions)\.json")


def words_of(pipeline: Pipeline, states: Sequence[AnyPath]) -> str:
    """The words of a definition, of the definitions that its states were made under, and of the columns of
    its source.

    Who is called like a window or a type is not meant by a note that has this word.
    """
    noted = (path for state in states for path in state.glob("*.json") if _OF_DEFINITION.fullmatch(path.name))
    earlier = [path.read_bytes().decode(errors="replace") for path in noted]
    return "\n".join(
        [
            pipeline.name,
            json.dumps(described(pipeline), default=str),
            facts_text(pipeline),
            *pipeline.windows,
            *earlier,
        ]
    )


def loose_says(home: AnyPath, unsaid: Plain, path: AnyPath, keys: Plain) -> int:
    """How many rows, records or texts of a file say some keys, or its name does.

    Args:
        home: the folder of the pipeline.
        unsaid: the keys that the definition does not say itself, as its words stand in Muntin's own notes and
            in names of files.
        path: of a file of no table.
        keys: the keys.
    """
    parts = relative(path, home).split("/")
    if is_of_memory(path):
        return 0
    if is_of_rows(parts):
        return of_rows("", path, keys) or footer_of_file(path, unsaid)
    if _is_note(parts):
        content = path.read_bytes()
        try:
            note = json.loads(content)
        except ValueError:
            return file_says(path, unsaid)
        return int(says(values_of(note), unsaid, numbers=False))
    named = [part for part in parts if "=" in part or part == path.name]
    return file_says(path, keys) or int(says(named, unsaid, numbers=False))


def is_of_rows(parts: Sequence[str]) -> bool:
    """Whether a file holds rows of states or windows that no table has: what is open of windows, is
    staged, or a function gave.
    """
    return parts[-1].endswith(".parquet") and bool({NOTES, ROWS, "staging"} & {*parts[:-1]})


def _is_note(parts: Sequence[str]) -> bool:
    """Whether a file is one in which Muntin, or the catalog of a mirror, notes facts of the definition, of
    versions and of files.
    """
    name, depth = parts[-1], len(parts)
    of_state = depth == 2 and _NOTES.fullmatch(name) is not None  # noqa: PLR2004 - in the folder of a state
    of_mirror = MIRRORS in parts or (METADATA in parts and name.endswith(".json"))
    return (
        of_state
        or of_mirror
        or name == STAGED_FILE
        or (parts[0] == ROWS and name.endswith(".json"))
        or (parts[0] == TOPICS and "_delta_log" in parts)
        or [*parts] == [OWNER_FILE]
    )
