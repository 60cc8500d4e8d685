"""Knowledge: which windows were published at an instant, had each batch been published at the end of its interval.

batches         0      1      2             published in order
end            10     20     30             of the interval
closed to      10-s   20-s   30-s           windows that end by then are closed; `s` is the slack of `timeline.closing`

at 25: batches 0 and 1 were known, and windows that end by 20-s
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from muntin.definition.kinds import Kind
    from muntin.states.frames import Ints
    from muntin.timeline.closing import Closing

_APART = 4  # by how many reaches of a kind two ends of its windows lie apart at most: business days by three days

Knowledge = Literal["closed", "ended"]


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """The published batches as they were known from instant to instant.

    Attributes:
        start_us, end_us: of their intervals, ascending and adjacent; microseconds.
        closing: the rule by which they close windows.
        knowledge: "closed": a batch is known from the end of its interval on; "ended": all are known at any time, as of today.
    """

    start_us: Ints
    end_us: Ints
    closing: Closing
    knowledge: Knowledge

    def closed_to(self, position: Ints) -> Ints:
        """The instant up to which windows were closed after a batch; before all time for -1."""
        return self.closing.floor[position + 1]

    def known_us(self, batch_us: Ints, end_us: Ints) -> Ints:
        """When windows were known: none before its own end. `batch_us`: the starts of the batches that closed them."""
        if self.knowledge == "ended" or not len(self.end_us):
            return end_us
        at = np.minimum(np.searchsorted(self.start_us, batch_us), len(self.end_us) - 1)
        return np.maximum(end_us, self.end_us[at])


def last_before(ends_us: Ints, at_us: Ints, knowledge: Knowledge) -> Ints:
    """The last batch that was known at each instant, by the ends of the batches; -1 where none was.

    >>> last_before(np.array([10, 20]), np.array([9, 10, 25]), "closed").tolist()
    [-1, 0, 1]
    """
    if knowledge == "ended":
        return np.full(len(at_us), len(ends_us) - 1)
    return np.searchsorted(ends_us, at_us, side="right") - 1


def last_ended(kind: Kind, at_us: Ints) -> tuple[Ints, Ints]:
    """Start and end of the window of a grid that ended last by each instant. No two windows of a grid end together."""
    if kind.even is not None:
        end = (at_us - kind.even.align_us) // kind.even.step_us * kind.even.step_us + kind.even.align_us
        return end - kind.even.size_us, end
    starts, ends = _windows_over(kind, int(at_us.min()), int(at_us.max())) if len(at_us) else (at_us, at_us)
    at = np.searchsorted(ends, at_us, side="right") - 1
    return starts[at], ends[at]


def _windows_over(kind: Kind, low_us: int, high_us: int) -> tuple[Ints, Ints]:
    """The windows of a grid, by their ends: from a window on that ended by the first instant."""
    starts, ends = kind.grid(low_us - _APART * kind.follows.reach_us, high_us + 1)  # type: ignore[misc, union-attr]
    order = np.argsort(ends, kind="stable")
    return starts[order], ends[order]
