"""Windows whose values a sink refuses: found by halves, then left out, sent with another value, or a reason
to stop.

The sink itself is the judge: rows are sent together; where it refuses them for their values, each half is
sent again, down to one row.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from muntin.sinks.delivery import Misfit
from muntin.sinks.errors import BlockedError, RefusedError
from muntin.sinks.json_values import plain_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from muntin.sinks.declaration import OnUnsupported
    from muntin.sinks.delivery import Delivery

MOST = 100
"""Misfits of one delivery at most: if there are more, the table is wrong rather than values."""

_WHY = 200
_NEVER_REPLACED = ("window_start", "window_end", "revision", "change")


@dataclass(slots=True)
class Fitted:
    """The rows of a delivery on their way into a sink.

    Attributes:
        delivery: the changes.
        choice: what becomes of a window that does not fit.
        attempt: sends rows, all of them or none; raises `RefusedError` where values do not fit.
        alive: called after each attempt.
        misfits: windows that the sink does not have as they are published.
    """

    delivery: Delivery
    choice: OnUnsupported
    attempt: Callable[[pa.Table], None]
    alive: Callable[[], None]
    misfits: list[Misfit] = field(default_factory=list)

    def put(self, rows: pa.Table) -> None:
        """Send rows, but for rows that do not fit.

        Raises:
            BlockedError: a row does not fit and the choice is to stop, or too many do not fit.
        """
        wrong = self._refused(rows)
        if wrong and (half := len(rows) // 2):
            self.put(rows.slice(0, half))
            self.put(rows.slice(half))
        elif wrong:
            self._decide(rows, wrong)

    def _refused(self, rows: pa.Table) -> RefusedError | None:
        try:
            self.attempt(rows)
        except RefusedError as wrong:
            return wrong
        finally:
            self.alive()
        return None

    def _decide(self, row: pa.Table, wrong: RefusedError) -> None:
        """Leave out one row that does not fit, send it with another value, or stop."""
        (key,) = (self.delivery.key(each) for each in plain_rows(row.select(list(self.delivery.identity))))
        is_gone = row["change"][0].as_py() == "gone"
        left_out = {one.key for one in self.delivery.known_misfits() if not one.replaced}
        if is_gone and (wrong.column in self.delivery.identity or key in left_out):
            return  # it never arrived
        misfit = Misfit(key, wrong.column, " ".join(str(wrong).split())[:_WHY])
        if self.choice == "stop":
            raise BlockedError(f'{misfit.line}; on_unsupported="stop": nothing is sent until that is mended')
        if self.choice == "replace" and self._replaced(row, wrong):
            misfit = Misfit(key, misfit.column, misfit.why, replaced=True)
        elif not is_gone:
            # what the sink has of the window is not published any more
            self._refused(_as_gone(row, self.delivery.identity))
        self.misfits.append(misfit)
        if len(self.misfits) > MOST:
            raise BlockedError(
                f"more than {MOST} windows do not fit, the first of them: {self.misfits[0].line}"
            )

    def _replaced(self, row: pa.Table, wrong: RefusedError) -> bool:
        """Whether a row arrived with other values: in texts U+FFFD for U+0000, else nulls.

        A key is never another.
        """
        fixed, refused = {*self.delivery.identity, *_NEVER_REPLACED}, wrong
        while refused.column in row.column_names and refused.column not in fixed:
            before = row[refused.column]
            row = row.set_column(
                row.column_names.index(refused.column), row.schema.field(refused.column), _other(before)
            )
            if row[refused.column].equals(before):
                return False
            if (again := self._refused(row)) is None:
                return True
            refused = again
        return False


def _other(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Values in the place of values that do not fit."""
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        other = pc.replace_substring(values, "\0", "\ufffd")
        if not other.equals(values):
            return other
    return pa.chunked_array([pa.nulls(len(values), values.type)])


def _as_gone(row: pa.Table, identity: tuple[str, ...]) -> pa.Table:
    """A row as the row of a window that is gone."""
    for at, name in enumerate(row.column_names):
        if name not in identity and name not in _NEVER_REPLACED:
            row = row.set_column(at, row.schema.field(name), pa.nulls(1, row.schema.field(name).type))
    at = row.column_names.index("change")
    return row.set_column(at, "change", pa.array(["gone"], row.schema.field("change").type))
