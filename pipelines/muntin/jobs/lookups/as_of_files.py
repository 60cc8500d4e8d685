"""Look-ups from Parquet files to Parquet files: a task for each file, a piece of its rows at a time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from muntin.definition.relative_paths import is_object_store
from muntin.errors import DefinitionError, SourceError
from muntin.files.paths import path_of, relative
from muntin.jobs.lookups.as_of import answers_for, found_for
from muntin.jobs.lookups.asked_rows import parquet_files

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from muntin.definition.pipeline import Pipeline
    from muntin.tasks.runner import Runner


_FORM: Mapping[str, Any] = {
    "compression": "zstd",
    "write_page_checksum": True,
    "dictionary_pagesize_limit": 2**17,
}
"""Of files written: dictionaries of many values, as columns of numbers have them, take half of the time to
write and save little.
"""


@dataclass(frozen=True, slots=True)
class FileToFile:
    """A file of rows, and the file that is written of it; both paths as text."""

    rows: str
    out: str


def as_of_files(
    runner: Runner,
    pipeline: Pipeline,
    window: str,
    rows: str,
    out: str,
    *,
    at: str,
    prefix: str,
    **how: Any,  # noqa: ANN401 - see `answers_for`
) -> int:
    """Write what `as_of` gives for a Parquet file, or for each below a folder, to a file or below a folder;
    the number of rows written.

    A file is there once it is whole. Memory is that of the windows and of a few pieces of rows, whatever the
    files hold. `rows`, `out`: both of a file, or both of a folder; `out` lies neither in an object store nor
    among the rows. `how`: root, known, within and provisional; see `as_of`.
    """
    answers_for(pipeline, window, **how)  # wrong arguments are refused before a task begins
    place, target = path_of(rows).absolute(), path_of(out).absolute()
    if is_object_store(str(target)):
        raise DefinitionError(
            f"out: {target} lies in an object store; write to a file or folder of this machine, and copy it"
            " from there"
        )
    if f"{target}/".startswith(f"{place}/"):
        raise DefinitionError(f"out: {target} is where the rows lie; write to another place")
    files = [
        FileToFile(str(file), str(target if file == place else target / relative(file, place)))
        for file in parquet_files(place)
    ]
    return sum(runner.run(partial(_written, pipeline, window, at, prefix, how), files))


def _written(
    pipeline: Pipeline, window: str, at: str, prefix: str, how: dict[str, Any], file: FileToFile
) -> int:
    """Write the answers for one file, and return their number."""
    out, count = Path(file.out), 0
    tables = found_for(answers_for(pipeline, window, **how), file.rows, at, prefix)
    first, draft = next(tables), out.with_name(f".{out.name}.draft")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with draft.open("wb") as target, pq.ParquetWriter(target, first.schema, **_FORM) as writer:
            for piece in chain([first], tables):
                writer.write_table(piece)
                count += len(piece)
        draft.rename(out)
    except OSError as wrong:
        raise SourceError(f"out: {out} cannot be written: {wrong}") from wrong
    finally:
        draft.unlink(missing_ok=True)
    return count
