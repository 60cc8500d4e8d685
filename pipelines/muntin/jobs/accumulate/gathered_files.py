"""Small files of batches that a task read separately become files that the batches share, before they are
committed.

A bulk run over many small batches leaves few files: also of CSV, JSON, windows of an upstream and rows to be
deduplicated, which are not read together. Versions and rows of batches stay; the next vacuum removes the
small files.
"""

from __future__ import annotations

from dataclasses import asdict
from itertools import chain, groupby
from typing import TYPE_CHECKING

from muntin.jobs.accumulate.bundles import MOST_BATCHES, MOST_BYTES, SMALL
from muntin.states.derived_columns import together
from muntin.states.sorted import by_key
from muntin.store.batch_facts import batches_of
from muntin.store.parquet import read_parquet
from muntin.store.paths import StatesPath, parse_states_path
from muntin.store.shared_files import write_shared
from muntin.store.store import File

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from muntin.jobs.accumulate.shares import Share, WrittenFile


def gathered(share: Share, table: str, files: Sequence[WrittenFile]) -> list[WrittenFile]:
    """The files of a table, batches ascending, with small neighbours put together.

    `table`: of a frame set, or the quarantine.
    """
    whole = {split.batch_us for split in share.splits if split.only}
    alone = {
        path.first_us
        for file in files
        if not isinstance(path := parse_states_path(file["path"]), StatesPath) or path.batch_us not in whole
    }
    return put_together(share, table, files, alone)


def put_together(
    share: Share, table: str, files: Sequence[WrittenFile], apart: Collection[int]
) -> list[WrittenFile]:
    """The files of whole batches by batch and split, small neighbours as one file.

    `apart`: first batches of files that stay as they are.
    """
    ascending = sorted(files, key=_place)
    batches = [[*of_batch] for _, of_batch in groupby(ascending, lambda file: _place(file)[0])]
    return [file for near in _stretches(batches, apart) for file in _shared(share, table, near)]


def _place(file: WrittenFile) -> tuple[int, str]:
    return parse_states_path(file["path"]).first_us, file["path"]


def _stretches(batches: Sequence[list[WrittenFile]], apart: Collection[int]) -> Iterator[list[WrittenFile]]:
    """Files that become one; files of the same batch stay together."""
    near: list[list[WrittenFile]] = []
    for files in batches:
        small = _place(files[0])[0] not in apart and all(
            file["size"] < SMALL and not file.get("wider") for file in files
        )
        full = len(near) == MOST_BATCHES or sum(file["size"] for file in chain(*near, files)) > MOST_BYTES
        if near and (full or not small):
            yield [*chain(*near)]
            near = []
        if small:
            near.append(files)
        else:
            yield from ([file] for file in files)
    if near:
        yield [*chain(*near)]


def _shared(share: Share, table: str, files: Sequence[WrittenFile]) -> Sequence[WrittenFile]:
    """One file of a table in the place of several."""
    if len(files) == 1:
        return files
    folder, pipeline = share.bound.table(table), share.bound.pipeline
    rows = together([read_parquet(f"{folder}/{file['path']}") for file in files])
    written = [File(file["path"], file["size"], file["rows"]) for file in files]
    batches = batches_of(folder, written, pipeline.intervals.after)
    return [asdict(write_shared(by_key(rows, pipeline.keys), folder, batches, pipeline.keys))]
