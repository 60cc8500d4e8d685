"""Windows of adjacent rows for which a condition holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from muntin.definition.durations import Duration, not_negative, positive, spell
from muntin.definition.expressions import expression, stem
from muntin.definition.kinds import RowStates
from muntin.errors import DefinitionError
from muntin.windows.adjacent_rows import Adjacent, holds
from muntin.windows.kind import lateness

if TYPE_CHECKING:
    import pyarrow as pa

    from muntin.engine.event_time.stretches import Marks


@dataclass(frozen=True, slots=True)
class While(Adjacent):
    """`[first row that holds, next row that does not)`, or up to `longest_us` after the first row.

    Attributes:
        condition: a SQL condition on a row.
        shortest_us: how far behind its first row the last row of a window is at least.
        longest_us: how long a window may be; 0: as long as it likes.
        grace_us: how long after its end a window waits for late rows.
    """

    condition: str
    shortest_us: int = 0
    longest_us: int = 0
    grace_us: int = 0

    @property
    def made_of(self) -> RowStates:
        return RowStates(
            {self._column: holds(self.condition)}, needs=((self.condition, "condition"),), by_arrival=False
        )

    @property
    def _column(self) -> str:
        return stem("holds", self.condition)

    def marks(self, columns: Mapping[str, pa.Array], rows: int) -> Marks:
        import numpy as np

        from muntin.engine.event_time.stretches import Marks

        holding = columns[self._column].to_numpy(zero_copy_only=False)
        return Marks(holding.astype(np.int64), holding, np.zeros(rows, np.bool_), {})


def while_(
    condition: str,
    *,
    at_least: Duration = 0,
    at_most: Duration | None = None,
    grace: Duration = 0,
    allowed_lateness: Duration = 0,
    having: str | None = None,
) -> While:
    """A window for each stretch of adjacent rows of a key for which a condition holds.

    Rows are adjacent in order of event time; rows of one instant in order of arrival: batch, file, row. A
    window begins with the first row that holds and ends at the next row that does not, which is not in it:
    `[first, next)`.

    Args:
        condition: SQL condition on the columns of a row, as "voltage > 225". Where it is null, it does not
            hold.
        at_least: how long it must have been seen to hold: windows whose last row is less than this behind
            their first are left out.
        at_most: how long a window may be. A longer window is cut `at_most` after its first row, and the next
            row for which the condition holds begins another window. The column `cut` is true where no row
            ended the window before that.
        grace: how long after its end a window waits for late rows.
        allowed_lateness: for how long after that late rows revise the window, which is published already.
        having: SQL condition over the row of a window, as "orders > 10": a window for which it does not hold
            is hidden.

    Rows of the result have `tie`: 0, and 1, 2, ... where more windows of the key begin at the same instant;
    windows that `at_least` leaves out count.

    Raises:
        DefinitionError: no SQL condition, a negative duration, or an `at_least` that is longer than
            `at_most`.
    """
    return While(
        expression(condition, "while_"),
        *spans(at_least, at_most),
        not_negative(grace, "grace"),
        having=having,
        lateness_us=lateness(allowed_lateness),
    )


def spans(at_least: Duration, at_most: Duration | None) -> tuple[int, int]:
    """The least and the greatest length of windows, in microseconds; 0: none."""
    least, most = not_negative(at_least, "at_least"), 0 if at_most is None else positive(at_most, "at_most")
    if most and least > most:
        raise DefinitionError(
            f"at_least: {spell(least)} is longer than at_most, {spell(most)}: no window would be that long; "
            "give at_most at least that"
        )
    return least, most
