"""Windows of adjacent rows with one value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from muntin.definition.checks import is_reserved
from muntin.definition.durations import Duration, not_negative
from muntin.definition.expressions import Plain as PlainLift
from muntin.definition.expressions import expression, stem
from muntin.definition.kinds import RowStates
from muntin.errors import DefinitionError
from muntin.windows.adjacent_rows import Adjacent
from muntin.windows.kind import lateness
from muntin.windows.kinds.while_true import spans

if TYPE_CHECKING:
    import pyarrow as pa

    from muntin.engine.event_time.stretches import Marks


@dataclass(frozen=True, slots=True)
class WhileSame(Adjacent):
    """`[first row with the value, next row with another)`, or up to `longest_us` after the first row.

    Attributes:
        of: the SQL expression of the value.
        name: the column of the result with the value.
        shortest_us: how far behind its first row the last row of a window is at least.
        longest_us: how long a window may be; 0: as long as it likes.
        grace_us: how long after its end a window waits for late rows.
    """

    of: str
    name: str
    shortest_us: int = 0
    longest_us: int = 0
    grace_us: int = 0

    @property
    def made_of(self) -> RowStates:
        lift = PlainLift(f"any_value({self.of})", "value", self.of)
        return RowStates({self._column: lift}, needs=((self.of, "order"),), by_arrival=False)

    @property
    def columns(self) -> Mapping[str, str]:
        return {self.name: "", **super(WhileSame, self).columns}

    @property
    def _column(self) -> str:
        return stem("same", self.of)

    def marks(self, columns: Mapping[str, pa.Array], rows: int) -> Marks:
        import numpy as np
        import pyarrow as pa
        import pyarrow.compute as pc

        from muntin.engine.event_time.stretches import Marks
        from muntin.states.keys import key_codes

        value = columns[self._column]
        value = (
            pc.add(value, pa.scalar(0, value.type)) if pa.types.is_floating(value.type) else value
        )  # one zero
        valid = value.is_valid().to_numpy(zero_copy_only=False)
        code = np.where(valid, key_codes([value], rows), -1)
        return Marks(code, valid, np.zeros(rows, np.bool_), {self.name: value})


def while_same(
    of: str,
    *,
    name: str | None = None,
    at_least: Duration = 0,
    at_most: Duration | None = None,
    grace: Duration = 0,
    allowed_lateness: Duration = 0,
    having: str | None = None,
) -> WhileSame:
    """A window for each stretch of adjacent rows of a key with one value, a column of the result.

    Rows are adjacent in order of event time; rows of one instant in order of arrival: batch, file, row. A
    window begins with the first row that has the value and ends at the next row that has another, which is
    not in it: `[first, next)`. A null is no value: such a row is in no window, and ends the window before it.

    Args:
        of: the value: a column, as "status", or a SQL expression over the columns of a row.
        name: the column of the result that holds the value; the column of the rows unless `of` is an
            expression.
        at_least: how long the value must have been seen: windows whose last row is less than this behind
            their first are left out.
        at_most: how long a window may be. A longer window is cut `at_most` after its first row, and the next
            row begins another window. The column `cut` is true where no row ended the window before that.
        grace: how long after its end a window waits for late rows.
        allowed_lateness: for how long after that late rows revise the window, which is published already.
        having: SQL condition over the row of a window, as "orders > 10": a window for which it does not hold
            is hidden.

    Rows of the result have `tie`: 0, and 1, 2, ... where more windows of the key begin at the same instant;
    windows that `at_least` leaves out count.

    Raises:
        DefinitionError: no SQL expression, no name for it, a negative duration, or an `at_least` that is
            longer than `at_most`.
    """
    value = expression(of, "while_same")
    column = value if name is None else name
    if not isinstance(column, str) or not column.isidentifier():
        raise DefinitionError(
            f"while_same: {column!r} cannot be the name of the column with the value; give one, as "
            f'while_same({value!r}, name="level")'
        )
    if is_reserved(column):
        raise DefinitionError(
            f"while_same: Muntin has a column {column!r} of its own; give the value another name, as "
            f"name={column + '_'!r}"
        )
    return WhileSame(
        value,
        column,
        *spans(at_least, at_most),
        not_negative(grace, "grace"),
        having=having,
        lateness_us=lateness(allowed_lateness),
    )
