"""Paths of files. A path tells the batch and the content of its file: equal content, equal path.

A path has no colon, which Spark's Delta reader dies on, and no `key=value`, which Polars would read as a
column.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING

from blake3 import blake3

from muntin.definition.instants import label, of_label
from muntin.errors import StateError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from muntin.files.paths import AnyPath

_STATES = re.compile(
    r"(?P<batch>[^/_]+)/(?P<split>\d{5,6})_(?P<newest>[^/_]+)_(?P<low>[^/_]+)_(?P<high>[^/_]+)"
    r"(_(?P<decided>[0-9a-f]{16}))?_(?P<digest>[0-9a-f]{16})\.parquet"
)
_SHARED = re.compile(
    r"(?P<first>[^/_]+)_(?P<last>[^/_]+)/(?P<batches>\d+)_(?P<low>[^/_]+)_(?P<high>[^/_]+)"
    r"_(?P<digest>[0-9a-f]{16})\.parquet"
)
_NEVER = "never"
OF_SOURCE = 100_000  # splits of one of several sources; a number of a split below it is of the only source
DIGEST_BYTES = 8
NOTES = "carry"  # the folder of notes, below the state
GIVEN = "given"  # the folder of the tables that windows were published by, below the state
MATERIALISED = "materialised"  # the folder of rows that Spark read, below the state, while a run needs them
TIERS = "tiers"  # the folder of the tables of tiers, below the state
QUARANTINE = "quarantine"  # the table of refused rows
LOOKED_UP = "looked_up"  # the table of what the events of batches looked up
DIMENSIONS = "dimensions"  # the folder of the versions of dimensions, below the state
IDS = "ids"  # the table of the ids of events, where batches are compared


@dataclass(frozen=True, slots=True)
class StatesPath:
    """The facts in the path of a states file. Instants in microseconds.

    Attributes:
        batch_us: start of the batch's interval.
        split: the number of the split that it came from; of one of several sources behind the number of the
            source, from 1.
        newest_us: the largest event time of the split, also of rows that `where` leaves out; None without
            rows.
        low_us, high_us: starts of its first and last frame; None without states.
        decided: as in `Batches`.
    """

    batch_us: int
    split: int
    newest_us: int | None
    low_us: int | None = None
    high_us: int | None = None
    decided: int = 0

    batches = 1

    @property
    def source(self) -> int | None:
        """The number of the source among several, from 0; None: it is the only one."""
        return source_of(self.split)

    @property
    def first_us(self) -> int:
        return self.batch_us

    @property
    def last_us(self) -> int:
        return self.batch_us

    def named(self, digest: str) -> str:
        """The path, given the digest of the file's content."""
        times = "_".join(_spelled(us) for us in (self.newest_us, self.low_us, self.high_us))
        decided = f"_{self.decided:016x}" if self.decided else ""
        return f"{label(self.batch_us)}/{self.split:05d}_{times}{decided}_{digest}.parquet"


@dataclass(frozen=True, slots=True)
class SharedPath:
    """The facts in the path of a states file that several batches share. Its footer has the facts of each
    batch.

    Attributes:
        first_us, last_us: starts of the intervals of the first and the last batch.
        batches: their number.
        low_us, high_us: starts of their first and last frame; None without states.
    """

    first_us: int
    last_us: int
    batches: int
    low_us: int | None = None
    high_us: int | None = None

    def named(self, digest: str) -> str:
        frames = f"{_spelled(self.low_us)}_{_spelled(self.high_us)}"
        return f"{label(self.first_us)}_{label(self.last_us)}/{self.batches:05d}_{frames}_{digest}.parquet"


def folder_of(state: AnyPath, table: str) -> AnyPath:
    """The folder of a table, which lies below a state or, with `../`, beside it: an object store knows no
    `..` in a path.

    >>> from pathlib import PurePosixPath
    >>> folder_of(PurePosixPath("root/hourly/4711"), "../windows/day")
    PurePosixPath('root/hourly/windows/day')
    """
    while table.startswith("../"):
        state = state.parent
        table = table.removeprefix("../")
    return state / table


def source_of(split: int) -> int | None:
    """The number of the source of a split, among several, from 0; None: it is the only one.

    >>> source_of(3), source_of(100_003), source_of(200_000)
    (None, 0, 1)
    """
    return split // OF_SOURCE - 1 if split >= OF_SOURCE else None


def digest_of(content: bytes | memoryview) -> str:
    """Sixteen hexadecimal digits that name the content of a file.

    Why BLAKE3: docs/adr/0001-one-path-per-content.md.
    """
    return blake3(content).hexdigest(length=DIGEST_BYTES)


def name_of(text: str) -> str:
    """Sixteen hexadecimal digits that name a text.

    Ledgers hold such names, so that they stay what they are.
    """
    return blake2b(text.encode(), digest_size=DIGEST_BYTES).hexdigest()


@lru_cache(maxsize=2**16)
def parse_states_path(path: str) -> StatesPath | SharedPath:
    """The facts in a path; StateError if another tool named it. Several steps of a run ask for them."""
    match = _STATES.fullmatch(path) or _SHARED.fullmatch(path)
    if not match:
        raise StateError(
            f"{path} is not a states file of Muntin's; was the table rewritten by another tool (optimize,"
            " compaction)? Run its batches again"
        )
    low = _instant(match["low"])
    high = _instant(match["high"])
    if "first" in match.groupdict():
        return SharedPath(of_label(match["first"]), of_label(match["last"]), int(match["batches"]), low, high)
    decided = int(match["decided"] or "0", 16)
    return StatesPath(
        of_label(match["batch"]), int(match["split"]), _instant(match["newest"]), low, high, decided
    )


def _instant(text: str) -> int | None:
    return None if text == _NEVER else of_label(text)


def _spelled(us: int | None) -> str:
    return _NEVER if us is None else label(us)


def windows_path(first_us: int, last_us: int, shard: int, digest: str) -> str:
    """The path of a windows file in its table, which holds the windows of the batches from the first to the
    last.
    """
    batches = label(first_us) if first_us == last_us else f"{label(first_us)}_{label(last_us)}"
    return f"{batches}/{shard:05d}_{digest}.parquet"


@lru_cache(maxsize=2**16)
def batches_of_windows(path: str) -> tuple[int, int] | None:
    """Starts of the first and the last batch whose windows a file may hold; None for a
    segment of the ledger.
    """
    folder, slash, _ = path.partition("/")
    if not slash:
        return None
    first, _, last = folder.partition("_")
    return of_label(first), of_label(last or first)


def version_of(paths: Iterable[str]) -> str:
    """The version of a batch: a name of its content, made of the paths of its files."""
    return name_of("\n".join(sorted(paths)))
