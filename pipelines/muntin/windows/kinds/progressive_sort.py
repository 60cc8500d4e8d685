"""Progressive sort (IBM Streams SPL): rows come out in turn, each the least of the held rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from muntin.definition.expressions import expression, stem
from muntin.definition.kinds import Carried, RowStates
from muntin.engine.assignment import Assignment
from muntin.errors import DefinitionError
from muntin.windows.clock import at_any_instant
from muntin.windows.kind import Plain

if TYPE_CHECKING:
    from muntin.states.frames import Frames, Ints


@dataclass(frozen=True, slots=True)
class ProgressiveSort(Plain):
    """The least of `n` held rows comes out when another row comes.

    Attributes:
        n: the number of rows that a partition holds.
        by: the SQL expression that sorts them.
        descending: whether the greatest value is the least row.
        flush: whether what is held after the last batch comes out.
    """

    n: int
    by: str
    descending: bool = False
    flush: bool = False

    grace_us = 0
    beyond_us = 1

    @property
    def follows(self) -> Carried:
        return Carried(flushes=self.flush)

    @property
    def made_of(self) -> RowStates:
        return RowStates({self._column: f"any_value(({self.by}))"}, needs=((self.by, "order"),))

    @property
    def columns(self) -> Mapping[str, str]:
        return {"window_index": "int64"}

    @property
    def order(self) -> tuple[str, ...]:
        return ("window_index",)

    @property
    def _column(self) -> str:
        return stem("sorts", self.by)

    def frame_us(self, grid_us: int) -> int:  # noqa: ARG002 - each row is a state of its own
        return 1

    def assign(self, frames: Frames, floor: Ints) -> Assignment:
        from muntin.engine.arrival.assign import assigned
        from muntin.engine.arrival.fired import push

        pushed = push(self._column, self.n, frames, descending=self.descending)
        return assigned(pushed, frames, len(floor) - 1, flush=self.flush)

    @at_any_instant
    def windows_for(self, instant_us: int) -> list[tuple[int, int]]:  # noqa: ARG002 - no instant says
        raise DefinitionError(
            "windows_for: when a row comes out depends on the rows around it; see `muntin explain`"
        )


def progressive_sort(
    n: int, by: str, *, descending: bool = False, flush: bool = False, having: str | None = None
) -> ProgressiveSort:
    """Rows of a key in the order of `by`, a window each, as far as holding back `n` rows can sort them.

    The first `n` rows of a partition are held. When another row comes, the least of the held rows comes out;
    then the new row is held. Each row that comes out is a window of its own, with this row as only member.

    Args:
        n: the number of rows that are held.
        by: SQL expression that sorts: numbers, texts, instants, booleans. Of equal values the row that came
            first is the least. Nulls come last in both directions; a NaN is greater than any number.
        descending: whether the greatest value comes out first.
        flush: whether the rows that are held after the last batch of the history come out too, in order. When
            another batch follows, they are taken back.
        having: SQL condition over the row of a window, as "orders > 10": a window for which it does not hold
            is hidden.

    Rows of the result have `window_index`, 0, 1, ... in each partition in the order in which they come out;
    window_start and window_end are the event time of the row. Source: IBM Streams, `Sort` with a sliding
    window by count.

    Raises:
        DefinitionError: a number of rows that is not a whole number from 1, or no SQL expression.
    """
    if not isinstance(n, int) or isinstance(n, bool) or n < 1:
        raise DefinitionError(
            f'n: {n!r} is not a number of rows; give a whole number from 1, as progressive_sort(100, by="v")'
        )
    return ProgressiveSort(n, expression(by, "progressive_sort"), descending, flush, having=having)
