"""Small files of batches that a task read separately become files that the batches share, before they are
committed.

A bulk run over many small batches leaves few files: also of CSV, JSON, windows of an upstream and rows to be
deduplicated, which are not read together. Versions and rows of batches stay; the next vacuum removes the
small files.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from muntin.jobs.accumulate.bundles import MOST_BATCHES, MOST_BYTES, SMALL
from muntin.states.derived_columns import together
from muntin.states.sorted import by_key
from muntin.store.batch_facts import batches_of
from muntin.store.parquet import read_parquet
from muntin.store.paths import StatesPath, parse_states_path
from muntin.store.shared_files import write_shared
from muntin.store.store import File

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from muntin.jobs.accumulate.shares import Share

    # a file: path, size (bytes), rows; wider: whether a type is wider than in the state
    Written = Mapping[str, Any]


def gathered(share: Share, table: str, files: Sequence[Written]) -> list[Written]:
    """The files of a table, batches ascending, with small neighbours put together.

    `table`: of a frame set, or the quarantine.
    """
    alone = {split.batch_us for split in share.splits if split.only}
    return [file for near in _stretches(files, alone) for file in shared(share, table, near)]


def _stretches(files: Sequence[Written], alone: set[int]) -> Iterator[list[Written]]:
    """Files that become one; a large file is a stretch by itself.

    `alone`: starts of the batches whose file stays as it is.
    """
    near: list[Written] = []
    for file in files:
        if near and not _may_follow(near, file, alone):
            yield near
            near = []
        near.append(file)
    if near:
        yield near


def _may_follow(near: Sequence[Written], file: Written, alone: set[int]) -> bool:
    small = _is_small(near[-1], alone) and _is_small(file, alone)
    ascending = parse_states_path(near[-1]["path"]).last_us < parse_states_path(file["path"]).first_us
    return (
        small
        and ascending
        and len(near) < MOST_BATCHES
        and sum(each["size"] for each in near) + file["size"] <= MOST_BYTES
    )


def _is_small(file: Written, alone: set[int]) -> bool:
    path = parse_states_path(file["path"])
    return (
        isinstance(path, StatesPath)
        and path.batch_us in alone
        and file["size"] < SMALL
        and not file.get("wider")
    )


def shared(share: Share, table: str, files: Sequence[Written]) -> Sequence[Written]:
    """One file of a table in the place of several, which hold whole batches, by batch and split."""
    if len(files) == 1:
        return files
    folder, keys = share.bound.table(table), share.bound.pipeline.keys
    rows = together([read_parquet(f"{folder}/{file['path']}") for file in files])
    batches = batches_of(
        folder,
        [File(*(file[name] for name in File.__slots__)) for file in files],
        share.bound.pipeline.intervals.after,
    )
    return [asdict(write_shared(by_key(rows, keys), folder, batches, keys))]
