"""Windows from a row that opens to the next row that closes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from muntin.definition.durations import Duration, not_negative, positive
from muntin.definition.expressions import expression, stem
from muntin.definition.kinds import RowStates
from muntin.windows.adjacent_rows import Adjacent, holds
from muntin.windows.kind import lateness

if TYPE_CHECKING:
    import pyarrow as pa

    from muntin.engine.event_time.stretches import Marks


@dataclass(frozen=True, slots=True)
class Between(Adjacent):
    """`[row that opens, next row that closes]`, both inside, or up to `longest_us` after the row that opens.

    Attributes:
        opens, closes: SQL conditions on a row.
        longest_us: how long a window may be; 0: as long as it likes.
        grace_us: how long after its end a window waits for late rows.
    """

    opens: str
    closes: str
    longest_us: int = 0
    grace_us: int = 0

    @property
    def made_of(self) -> RowStates:
        both = (self.opens, self.closes)
        lifts = {stem("holds", each): holds(each) for each in both}
        return RowStates(lifts, needs=[(each, "condition") for each in both], by_arrival=False)

    def marks(self, columns: Mapping[str, pa.Array], rows: int) -> Marks:
        import numpy as np

        from muntin.engine.event_time.stretches import Marks

        opens, closes = (
            columns[stem("holds", each)].to_numpy(zero_copy_only=False) for each in (self.opens, self.closes)
        )
        return Marks(np.zeros(rows, np.int64), opens, closes, {})


def between(
    opens: str,
    closes: str,
    *,
    max_length: Duration | None = None,
    grace: Duration = 0,
    allowed_lateness: Duration = 0,
    having: str | None = None,
) -> Between:
    """A window from each row of a key that opens it to the next row that closes it, both included.

    Rows follow each other in order of event time; rows of one instant in order of arrival: batch, file, row.
    While a window is open, a further row that opens is one of its rows. A row for which both conditions hold
    closes the window that is open; if none is, it is a window of its own.

    Args:
        opens, closes: SQL conditions on the columns of a row, as "kind = 'enter'". A null condition does not
            hold.
        max_length: how long a window may be. A window that no row has closed before is cut `max_length` after
            its first row: it is then `[first, first + max_length)`, and the column `cut` is true. The next
            row that opens begins another window.
        grace: how long after its end a window waits for late rows.
        allowed_lateness: for how long after that late rows revise the window, which is published already.
        having: SQL condition over the row of a window, as "orders > 10": a window for which it does not hold
            is hidden.

    Rows of the result have `tie`: 0, and 1, 2, ... where more windows of the key begin at the same instant.

    Raises:
        DefinitionError: no SQL condition, or a duration that cannot be.
    """
    longest = 0 if max_length is None else positive(max_length, "max_length")
    return Between(
        expression(opens, "between"),
        expression(closes, "between"),
        longest,
        not_negative(grace, "grace"),
        having=having,
        lateness_us=lateness(allowed_lateness),
    )
