"""Tasks of several sources. One task reads all sources of small batches, so that neighbouring batches share a
file of states.

sources   batch 0   batch 1   batch 2
clicks    small     small     large      one task: batches 0 and 1 of both sources, which share a file
orders    small     small     small      other tasks: batch 2, source by source
"""

from __future__ import annotations

from collections import defaultdict
from itertools import chain
from typing import TYPE_CHECKING, Any

from muntin.jobs.accumulate.accumulate_task import accumulate_share
from muntin.jobs.accumulate.gathered_files import put_together
from muntin.jobs.accumulate.shares import Share
from muntin.jobs.schema_check.same_versions import versions_here
from muntin.sources.listing import WORTH_A_TASK, shares
from muntin.store.paths import LOOKED_UP

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from muntin.jobs.accumulate.readings import SourceSplits
    from muntin.jobs.deduplication.earlier import Earlier


def dealt(
    readings: Sequence[SourceSplits], tasks: int, earlier: Earlier | None = None
) -> list[tuple[Share, ...]]:
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
    work = [
        tuple(_share(reading, numbers) for reading in readings if (numbers := _places(reading, starts)))
        for starts in together
    ]
    for reading in readings:  # the batches that are not small, source by source
        left = _places(reading, {*sizes} - {*small})
        dealt_places = shares([reading.splits[at].size for at in left], tasks) if left else ()
        work += [(_share(reading, [left[at] for at in numbers]),) for numbers in dealt_places]
    return work


def _places(reading: SourceSplits, starts: Collection[int]) -> list[int]:
    return [at for at, split in enumerate(reading.splits) if split.batch_us in starts]


def _share(reading: SourceSplits, numbers: Sequence[int], earlier: Earlier | None = None) -> Share:
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
    files = {
        table: [file for each in written_shares for file in each["files"][table]]
        for table in written_shares[0]["files"]
    }
    return {
        "splits": splits,
        "files": {
            table: of_table if table == LOOKED_UP else put_together(parts[0], table, of_table, apart)
            for table, of_table in files.items()
        },
        "versions": written_shares[0]["versions"],
    }
