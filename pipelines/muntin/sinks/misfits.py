"""Windows whose values a sink refuses: found by halves, then left out, sent with another value, or a reason
to stop.

The sink itself is the judge: rows are sent together; where it refuses them for their values, each half is
sent again, down to one row.

The table of a sink as it is in a database: whether it is still the table that was filled.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from muntin.definition.spelling import many
from muntin.sinks.delivery import Misfit
from muntin.sinks.errors import BlockedError, RefusedError, plain_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from muntin.sinks.declaration import OnUnsupported
    from muntin.sinks.delivery import Delivery
COUNTED = 100_000
"""Rows that are counted at most, so that the question stays cheap."""


@dataclass(frozen=True, slots=True)
class Target:
    """A table.

    Attributes:
        oid: what tells it from another table of the same name.
        columns: their types, as the catalog of the database spells them.
        rows: how many there are, `COUNTED` at most.
    """

    oid: int | str
    columns: Mapping[str, str]
    rows: int

    def noted(self, given: Mapping[str, str]) -> str:
        """The table as text for the ledger: the columns that are ours, each with its type and the type that
        the windows have.
        """
        columns = {name: [self.columns[name], kind] for name, kind in given.items()}
        return json.dumps({"oid": self.oid, "rows": self.rows, "columns": columns})


def is_same(noted: str, now: Target) -> bool:
    """Whether a table is the one that was noted, whatever became of its rows and columns."""
    return bool(noted) and json.loads(noted)["oid"] == now.oid


def lost_since(noted: str, now: Target | None, table: str) -> str:
    """Why a table does not hold any more what it held when it was noted; "": it does, as far as its rows and
    columns tell.
    """
    if now is None:
        return f"table {table} was dropped"
    before: dict[str, Any] = json.loads(noted)
    if before["oid"] != now.oid:
        return f"table {table} was made again"
    for name, (kind, _) in before["columns"].items():
        if (there := now.columns.get(name)) != kind:
            return f"column {name} of table {table} was {kind}, and is {there or 'gone'}"
    return (
        f"table {table} has {now.rows:,} of {many(before['rows'], 'row')}"
        if now.rows < before["rows"]
        else ""
    )


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
        fixed = {*self.delivery.identity, *_NEVER_REPLACED}
        refused = wrong
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
