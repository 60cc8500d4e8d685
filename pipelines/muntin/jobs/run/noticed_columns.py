"""What is other in the columns of the files that were read than in those of earlier batches, noted and told."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from muntin.jobs.source_note import lacks, note, noted, taken_in
from muntin.store.paths import source_of

if TYPE_CHECKING:
    from muntin.jobs.bound import Bound
    from muntin.jobs.run.read_batches import Read


def noticed_columns(bound: Bound, done: Read) -> dict[int, tuple[str, ...]]:
    """Start of a batch -> what is other in its files than in those before, in words; the columns are noted."""
    if not bound.members:
        return _of_source(bound, done)
    each = [_of_source(member, _own(done, number)) for number, member in enumerate(bound.members.values())]
    return {start: tuple(line for found in each for line in found[start]) for start in done.splits}


def _own(done: Read, number: int) -> Read:
    """What was read of one of several sources."""
    splits = {start: [split for split in of_batch if source_of(split["split"]) == number] for start, of_batch in done.splits.items()}
    return replace(done, splits=splits)


def _of_source(bound: Bound, done: Read) -> dict[int, tuple[str, ...]]:
    known, found = noted(bound.folder, bound.source.member), dict[int, tuple[str, ...]]()
    for start, splits in sorted(done.splits.items()):
        told = lacks(split["lacks"] for split in splits if split.get("lacks"))
        for split in sorted(splits, key=lambda one: one["split"]):
            if split.get("columns"):
                path, columns = split["columns"]
                known, new = taken_in(known, dict(columns), path, ordered=bound.source.format != "json")
                told += new
        found[start] = tuple(told)
    note(bound.folder, known, bound.source.member)
    return found
