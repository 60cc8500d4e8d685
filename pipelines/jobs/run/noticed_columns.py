"""What is other in the columns of the files that were read than in those of earlier batches, noted and told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.jobs.source_note import lacks, note, noted, taken_in

if TYPE_CHECKING:
    from pipelines.jobs.bound import Bound
    from pipelines.jobs.run.read_batches import Read


def noticed_columns(bound: Bound, done: Read) -> dict[int, tuple[str, ...]]:
    """Start of a batch -> what is other in its files than in those before, in words; the columns are noted."""
    known, found = noted(bound.folder), dict[int, tuple[str, ...]]()
    for start, splits in sorted(done.splits.items()):
        told = lacks(split["lacks"] for split in splits if split.get("lacks"))
        for split in sorted(splits, key=lambda one: one["split"]):
            if split.get("columns"):
                path, columns = split["columns"]
                known, new = taken_in(known, dict(columns), path, ordered=bound.source.format != "json")
                told += new
        found[start] = tuple(told)
    note(bound.folder, known)
    return found
