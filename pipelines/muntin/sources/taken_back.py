"""Rows that later rows change or take back: the last row of an id counts, in the batch that brought the id first.

batch          0            1            2             changes_within reaches back to 0
order 7        c, 10                     u, 12         one row of batch 0, with 12
order 8        c, 5         d                          no row
order 9                     c, 3         d, c, 4       one row of batch 1, with 4
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from muntin.definition.durations import DAY_US, Duration, positive, spell
from muntin.definition.expressions import expression
from muntin.errors import DefinitionError
from muntin.sources.repeated_rows import checked_dedupe
from muntin.states.columns import IDENTITY, ORDINAL

if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST_US = 183 * DAY_US
"""The longest `changes_within`: batches are compared over twice the time."""
TOO_LATE = "muntin_too_late"
"""The table of the places of a split's rows whose id is older than `changes_within`."""
_ADDS = ("c", "r", "u", "+I", "+U", "I", "U", "insert", "update", "update_postimage")
_DELETES = ("d", "-U", "-D", "D", "delete", "update_preimage")
"""Operations as Debezium, Flink, Oracle GoldenGate and Delta's change feed write them."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What tells that a row is no row but a change.

    Attributes:
        deletes: SQL condition: the row takes the row with its id back.
        operation: the column whose words must be known; None: `deletes` alone tells.
        within_us: how far the batch of a change may lie behind the batch that brought the id first, microseconds.
    """

    deletes: str
    operation: str | None
    within_us: int

    @property
    def takes_back(self) -> str:
        """SQL that is true for rows that take a row back, and false for others."""
        return f"coalesce({self.deletes}, false)"

    @property
    def needs(self) -> tuple[tuple[str, str], ...]:
        """What rows need, as `Taken` has it."""
        late = f"'changes an event whose first row came more than {spell(self.within_us)} before (changes_within)'"
        found = [(f"{ORDINAL} NOT IN (FROM {TOO_LATE})", late)]
        found.append((f"NOT ({self.takes_back} AND {IDENTITY} IS NULL)", "'takes a row back and has no id to name it'"))
        if self.operation:
            column = _quoted(self.operation)
            found.append(
                (
                    f"coalesce({column} IN {(*_ADDS, *_DELETES)}, false)",
                    f"'operation is not known: ' || coalesce({column}::VARCHAR, 'null')",
                )
            )
        return tuple(found)


def checked_changes(
    id: str | Sequence[str] | None,  # noqa: A002 - the word of change streams
    operation: str | None,
    deletes: str | None,
    changes_within: Duration | None,
    dedupe: object,
) -> tuple[tuple[str, ...], Changes | None]:
    """The columns of the id, and what tells changes; ((), None) where rows are not changed.

    Raises:
        DefinitionError: one of the arguments without the others, or one that cannot be.
    """
    if id is None and operation is None and deletes is None and changes_within is None:
        return (), None
    if id is None or changes_within is None or (operation is None and deletes is None):
        raise DefinitionError(
            "changes: id= names the row that a change is of, operation= or deletes= tells what is taken back, and changes_within= how long "
            'after the first row; give all three, as id="order_id", operation="op", changes_within="30d"'
        )
    if dedupe is not None:
        raise DefinitionError("dedupe: of rows with one id= the last counts, so none is left to compare; leave dedupe= out")
    if operation is not None and (not isinstance(operation, str) or not operation):
        raise DefinitionError(f'operation: {operation!r} is no column; write operation="op", or a condition, as deletes="op = \'D\'"')
    within_us = positive(changes_within, "changes_within")
    if within_us > LONGEST_US:
        raise DefinitionError(
            f"changes_within: {changes_within!r} is longer than {spell(LONGEST_US)}: ids of each batch are compared over twice this time; "
            "give the time within which a row may still change"
        )
    told = f"{_quoted(operation)} IN {_DELETES}" if operation and deletes is None else expression(deletes, "deletes")
    return checked_dedupe(id), Changes(told, operation if deletes is None else None, within_us)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
