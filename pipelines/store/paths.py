"""Names of files and folders. A file's path says which batch it belongs to and what is in it: equal content, equal path.

No colon in a path: Spark's Delta reader dies on one. No `key=value` either: Polars would read it as a column.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

from pipelines.definition.instants import label, of_label
from pipelines.errors import StateError

if TYPE_CHECKING:
    from collections.abc import Iterable

_STATES = re.compile(
    r"(?P<batch>[^/_]+)/(?P<split>\d{5})_(?P<newest>[^/_]+)_(?P<low>[^/_]+)_(?P<high>[^/_]+)_(?P<digest>[0-9a-f]{16})\.parquet"
)
_NEVER = "never"


@dataclass(frozen=True, slots=True)
class StatesPath:
    """What the path of a states file says. Instants in microseconds.

    Attributes:
        batch_us: start of the batch's interval.
        split: which of the batch's splits it came from.
        newest_us: the largest event time of the split; None without rows.
        low_us, high_us: starts of its first and last frame; None without states.
    """

    batch_us: int
    split: int
    newest_us: int | None
    low_us: int | None = None
    high_us: int | None = None

    def named(self, digest: str) -> str:
        """The path, given the digest of the file's content."""
        times = (_spelled(us) for us in (self.newest_us, self.low_us, self.high_us))
        return f"{label(self.batch_us)}/{self.split:05d}_{'_'.join(times)}_{digest}.parquet"


def digest_of(content: bytes | memoryview) -> str:
    """Sixteen hexadecimal digits that name some content."""
    return blake2b(content, digest_size=8).hexdigest()


def parse_states_path(path: str) -> StatesPath:
    """What a path says.

    Raises:
        StateError: somebody else's file, as after a compaction by another tool.
    """
    match = _STATES.fullmatch(path)
    if not match:
        raise StateError(
            f"{path} is not a states file of Muntin's; was the table rewritten by another tool (optimize, compaction)? "
            f"Run its batches again"
        )
    newest, low, high = (None if match[name] == _NEVER else of_label(match[name]) for name in ("newest", "low", "high"))
    return StatesPath(of_label(match["batch"]), int(match["split"]), newest, low, high)


def _spelled(us: int | None) -> str:
    return _NEVER if us is None else label(us)


def windows_path(batch_us: int, shard: int, digest: str) -> str:
    """The path of a windows file in its table."""
    return f"{label(batch_us)}/{shard:05d}_{digest}.parquet"


def batch_of_windows(path: str) -> str:
    """The label of the batch that a windows file belongs to; "" for the ledger."""
    return path.partition("/")[0] if "/" in path else ""


def version_of(paths: Iterable[str]) -> str:
    """Names the content of a batch by its files."""
    return digest_of("\n".join(sorted(paths)).encode())
