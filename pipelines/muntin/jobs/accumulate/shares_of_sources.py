"""Tasks of several sources. One task reads all sources of small batches, so that neighbouring batches share a
file of states.

sources   batch 0   batch 1   batch 2
clicks    small     small     large      one task: batches 0 and 1 of both sources, which share a file
orders    small     small     small      other tasks: batch 2, source by source
"""

from __future__ import annotations

from collections import defaultdict
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any

from muntin.jobs.accumulate.accumulate_task import accumulate_share
from muntin.jobs.accumulate.bundles import MOST_BATCHES, MOST_BYTES, SMALL
from muntin.jobs.accumulate.gathered_files import shared
from muntin.jobs.accumulate.shares import Share
from muntin.jobs.schema_check.same_versions import versions_here
from muntin.sources.listing import WORTH_A_TASK, shares
from muntin.store.paths import QUARANTINE, parse_states_path

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from muntin.jobs.accumulate.readings import Reading
    from muntin.jobs.deduplication.earlier import Earlier

    # a file: path, size (bytes), rows; wider: whether a type is wider than in the state
    Written = Mapping[str, Any]


def dealt(readings: Sequence[Reading], tasks: int, earlier: Earlier | None = None) -> list[tuple[Share, ...]]:
    """The work of each task: a single source as its files are dealt; with several, all sources of small
    batches together.

    `tasks`: about how many there shall be for each source. `earlier`: as in `Share`; of several sources
    batches are not compared.
    """
    if len(readings) == 1 and readings[0].bound.source.member is None:
        return [
            (_share(readings[0], numbers, earlier),)
            for numbers in shares([split.size for split in readings[0].splits], tasks)
        ]
    sizes: dict[int, int] = defaultdict(int)
    for split in chain.from_iterable(reading.splits for reading in readings):
        sizes[split.batch_us] += 2 * WORTH_A_TASK if split.part else split.size
    small = sorted(start for start, size in sizes.items() if size < 2 * WORTH_A_TASK)
    together = (
        [{small[at] for at in numbers} for numbers in shares([sizes[start] for start in small], tasks)]
        if small
        else []
    )
    return [*(_of_batches(readings, starts) for starts in together), *_apart(readings, {*small}, tasks)]


def _of_batches(readings: Sequence[Reading], starts: Collection[int]) -> tuple[Share, ...]:
    """All sources of some batches."""
    chosen = (
        [at for at, split in enumerate(reading.splits) if split.batch_us in starts] for reading in readings
    )
    return tuple(
        _share(reading, numbers) for reading, numbers in zip(readings, chosen, strict=True) if numbers
    )


def _apart(
    readings: Sequence[Reading], small_batches: Collection[int], tasks: int
) -> Iterator[tuple[Share, ...]]:
    """The batches that are not small, source by source."""
    for reading in readings:
        left = [at for at, split in enumerate(reading.splits) if split.batch_us not in small_batches]
        for numbers in shares([reading.splits[at].size for at in left], tasks) if left else ():
            yield (_share(reading, [left[at] for at in numbers]),)


def _share(reading: Reading, numbers: Sequence[int], earlier: Earlier | None = None) -> Share:
    return Share(
        reading.bound,
        [reading.splits[at] for at in numbers],
        reading.types,
        reading.columns,
        versions_here(),
        earlier,
    )


def accumulate_shares(parts: Sequence[Share]) -> dict[str, Any]:
    """Accumulate each share as `accumulate_share` does; small files of several sources are put together."""
    written_shares = [accumulate_share(part) for part in parts]
    if len(written_shares) == 1:
        return written_shares[0]
    splits = [split for each in written_shares for split in each["splits"]]
    apart = {split["batch"] for split in splits if split.get("waits")}
    states = {
        table: _gathered(
            parts[0], table, [file for each in written_shares for file in each["states"][table]], apart
        )
        for table in written_shares[0]["states"]
    }
    met = [file for each in written_shares for file in each["met"]]
    refused = _gathered(
        parts[0], QUARANTINE, [file for each in written_shares for file in each["refused"]], apart
    )
    return {
        "splits": splits,
        "states": states,
        "refused": refused,
        "ids": [],
        "met": met,
        "versions": written_shares[0]["versions"],
    }


def _gathered(share: Share, table: str, files: Sequence[Written], apart: Collection[int]) -> list[Written]:
    """The files of whole batches, neighbours put together.

    `apart`: starts of batches whose files stay as they are.
    """
    ascending = sorted(files, key=_place)
    batches = [list(files_of_batch) for _, files_of_batch in groupby(ascending, lambda file: _place(file)[0])]
    return [file for near in _stretches(batches, apart) for file in shared(share, table, near)]


def _stretches(batches: Sequence[list[Written]], apart: Collection[int]) -> Iterator[list[Written]]:
    """Files that become one; files of the same batch stay together."""
    near: list[list[Written]] = []
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


def _place(file: Written) -> tuple[int, str]:
    path = parse_states_path(file["path"])
    return path.first_us, file["path"]
