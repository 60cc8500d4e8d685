"""Ranges of offsets of a partition, and their addresses:

`kafka://orders/3/100-20000` is what the offsets from 100 to 19999 hold.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SCHEME = "kafka"
PIECE = 50_000
"""Offsets of the largest range that is read at once."""
MESSAGE_BYTES = 256
"""What a message counts as where work is dealt out by bytes; its size is unknown before it is read."""
_ADDRESS = re.compile(
    r"kafka://(?:(?P<reading>[0-9a-f]{16})@)?(?P<topic>[^/@]+)/(?P<partition>\d+)/(?P<low>\d+)-(?P<high>\d+)"
)


@dataclass(frozen=True, slots=True, order=True)
class Range:
    """The messages of a partition with offsets in `[low, high)`. Some offsets may have no message."""

    topic: str
    partition: int
    low: int
    high: int

    @property
    def address(self) -> str:
        """How it is called in manifests, reports and the quarantine."""
        return f"{SCHEME}://{self.topic}/{self.partition}/{self.low}-{self.high}"

    @property
    def size(self) -> int:
        """The size of the range, in bytes."""
        return (self.high - self.low) * MESSAGE_BYTES

    def pieces(self) -> Iterator[Range]:
        """The offsets of the range in ranges of at most `PIECE`: a function of the range alone.

        >>> [each.address for each in Range("a", 0, 10, 60_000).pieces()]
        ['kafka://a/0/10-50010', 'kafka://a/0/50010-60000']
        """
        for low in range(self.low, self.high, PIECE):
            yield Range(self.topic, self.partition, low, min(low + PIECE, self.high))


def is_address(path: str) -> bool:
    """Whether a path is the address of a range."""
    return path.startswith(f"{SCHEME}://")


def named(address: str, reading: str) -> str:
    """An address with the name of a way of reading, which only DuckDB gets to see.

    >>> named("kafka://a/0/1-2", "0123456789abcdef")
    'kafka://0123456789abcdef@a/0/1-2'
    """
    return address.replace("://", f"://{reading}@", 1)


def parsed(address: str) -> tuple[str, Range]:
    """The name of the way of reading ("" if it has none), and the range of an address."""
    match = _ADDRESS.fullmatch(address)
    if match is None:
        raise ValueError(address)
    return match["reading"] or "", Range(
        match["topic"], int(match["partition"]), int(match["low"]), int(match["high"])
    )
