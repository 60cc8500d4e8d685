"""The cost of a run: seconds, CPU seconds, bytes read and written.

Each batch of the run has an equal share in its report.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from muntin.store.store import Count, counting


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a run so far.

    Attributes:
        seconds: by the clock.
        cpu_seconds: of this process and of the processes that it started and that have ended; workers of
            Spark elsewhere do not count.
        bytes_read: of the source's files.
        bytes_written: of the files that its commits added.
    """

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    bytes_read: int = 0
    bytes_written: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))

    def share(self, count: int) -> Cost:
        """The part of one of so many batches."""
        return Cost(
            self.seconds / count,
            self.cpu_seconds / count,
            self.bytes_read // count,
            self.bytes_written // count,
        )


NOTHING = Cost()


@dataclass(slots=True)
class Meter:
    """A meter that runs. `bytes_read`: whoever reads the source adds to it."""

    began_s: float
    began_cpu_s: float
    written: Count
    bytes_read: int = 0

    @property
    def cost(self) -> Cost:
        return Cost(
            time.monotonic() - self.began_s, _cpu_s() - self.began_cpu_s, self.bytes_read, self.written.bytes
        )


@contextmanager
def metered() -> Iterator[Meter]:
    """Measure what happens inside, in this process."""
    with counting() as count:
        yield Meter(time.monotonic(), _cpu_s(), count)


def _cpu_s() -> float:
    return sum(os.times()[:4])
