"""SPL's progressive Sort: rows held in order; when enough are held and another comes, the least comes out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from muntin.testing.oracle.time import Batch, Event, Row
from tests.oracle.arrival import Arrived, Fired, arrived


@dataclass(frozen=True)
class ProgressiveSort:
    """`n` rows are held, sorted by a value; nulls come last, a NaN is greater than any number."""

    n: int
    by: Callable[[Row], Any]
    descending: bool = False
    flush: bool = False

    group_by = ()

    def run(self, batches: Sequence[Batch], admitted: Sequence[Event]) -> list[Fired]:
        """The rows one after the other, then what is still held."""
        held: dict[tuple[Any, ...], list[Arrived]] = {}
        out: dict[tuple[Any, ...], list[Fired]] = {}
        for number, batch in enumerate(batches):
            for row in arrived(batch, [event for event in admitted if event.batch == number]):
                mine, theirs = held.setdefault(row.event.key, []), out.setdefault(row.event.key, [])
                if len(mine) == self.n:
                    theirs.append(alone(mine.pop(0), len(theirs), number))
                mine.insert(next((at for at, other in enumerate(mine) if self.less(row, other)), len(mine)), row)
        for key, mine in held.items():
            out[key] += [alone(row, len(out[key]) + at, len(batches) - 1 if self.flush else None) for at, row in enumerate(mine)]
        return [fired for theirs in out.values() for fired in theirs]

    def less(self, one: Arrived, other: Arrived) -> bool:
        """Whether a row comes before another whatever their order of arrival."""
        low, high = self.by(one.event.row), self.by(other.event.row)
        if low is None or high is None:
            return low is not None
        if self.descending:
            low, high = high, low
        return bool(low < high or (low == low and high != high))  # noqa: PLR0124 - a NaN alone is not itself


def alone(row: Arrived, index: int, closing: int | None) -> Fired:
    """A window of one row."""
    return Fired(row.event.key, index, row.event.t, row.event.t, (row,), closing)
