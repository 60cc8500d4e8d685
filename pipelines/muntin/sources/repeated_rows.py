"""Rows that a source delivers twice in a batch: the first to arrive counts, by the columns that `dedupe`
names.

arrival     1   2   3   4   5          1, 3 and 4 are one event; of nulls it cannot be said whether they are
id          a   b   a   a   null
counts      x   x           x

A later row may also change an earlier row, or take it back: the last row of an id counts, in the batch that
brought the id first.

batch          0            1            2             changes_within reaches back to 0
order 7        c, 10                     u, 12         one row of batch 0, with 12
order 8        c, 5         d                          no row
order 9                     c, 3         d, c, 4       one row of batch 1, with 4
order 6                                  u, 8          none: it changes a row, and no batch within reach has
brought that
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from muntin.definition.durations import DAY_US, Duration, positive, spell
from muntin.definition.expressions import expression
from muntin.errors import DefinitionError
from muntin.states.columns import BROUGHT, IDENTITY, ORDINAL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muntin.sources.reading.taken_times import Taken


LONGEST_US = 366 * DAY_US
"""The longest `dedupe_within`."""


def checked_dedupe(dedupe: Any) -> tuple[str, ...]:  # noqa: ANN401 - whatever the user gave
    """The columns that tell events apart; () where rows are not compared."""
    names = (
        (dedupe,) if isinstance(dedupe, str) else tuple(dedupe) if isinstance(dedupe, list | tuple) else ()
    )
    if dedupe is not None and (not names or not all(isinstance(name, str) and name for name in names)):
        raise DefinitionError(
            f'dedupe: {dedupe!r} is no column; write "event_id", or ["device", "number"] for several columns'
            " together"
        )
    return names


def checked_within(within: Duration | None, dedupe: tuple[str, ...]) -> int | None:
    """How far the event times of duplicates in two batches may lie apart, microseconds; None where batches
    are not compared.

    At most a leap year.
    """
    if within is None:
        return None
    within_us = positive(within, "dedupe_within")
    if not dedupe:
        raise DefinitionError(
            'dedupe_within needs dedupe, which names the columns that tell events apart, as dedupe="event_id"'
        )
    if within_us > LONGEST_US:
        raise DefinitionError(
            f"dedupe_within: {within!r} is longer than {spell(LONGEST_US)}: each batch is compared with the"
            " ids of all batches in this time. Give the time in which a writer may deliver an event again"
        )
    return within_us


def identity(columns: Sequence[str]) -> str:
    """SQL for what equal rows have in common, null where one of the columns is. `columns`: quoted."""
    if len(columns) == 1:
        return columns[0]
    return (
        f"CASE WHEN {' AND '.join(f'{name} IS NOT NULL' for name in columns)} THEN"
        f" row({', '.join(columns)}) END"
    )


def once(rows: str, times: Taken, changes: Changes | None = None) -> str:
    """SQL for the rows without rows that repeat an earlier row. Only rows whose time is taken are compared.

    `rows`: a relation with `IDENTITY`, `ORDINAL` and event times. `changes`: where rows change earlier rows,
    so that the last row of an id counts; `BROUGHT` then says whether the first row brings the id.
    """
    rows = (
        f"(FROM {rows} WHERE {CHANGE} IS DISTINCT FROM '{UNCHANGED}')"
        if changes and changes.of_table
        else rows
    )
    apart = f"PARTITION BY {IDENTITY}, coalesce({times.condition}, false) ORDER BY {ORDINAL}"
    brought = f", first_value({changes.brings}) OVER ({apart}) AS {BROUGHT}" if changes else ""
    return (
        f"SELECT *{brought} FROM {rows} QUALIFY {IDENTITY} IS NULL OR NOT coalesce({times.condition}, false) "
        f"OR row_number() OVER ({apart}{' DESC' if changes else ''}) = 1"
    )


LONGEST_CHANGES_US = 183 * DAY_US
"""The longest `changes_within`: batches are compared over twice the time."""
TOO_LATE = "muntin_too_late"
"""The table of the places of a split's rows whose id is older than `changes_within`."""
CHANGE = "_change_type"
"""The column of Delta's change feed that tells what a row is; null of a row that was merely added."""
UNCHANGED, TAKEN_BACK_AGAIN = "unchanged", "D"
"""Words of `CHANGE` of our own: of a row that is as it was before its batch; and of an id that its own batch
had brought.
"""
_BRINGS = ("c", "r", "+I", "I", "insert")
CHANGES_NOTHING = "changes an event whose first row came more than"
"""The begin of the reason for a change without a row to change; a batch that is read later may bring the row.
"""
_UPDATES = ("u", "+U", "U", "update", "update_postimage")
_DELETES = ("d", "-U", "-D", "D", "delete", "update_preimage")
"""Operations as Debezium, Flink, Oracle GoldenGate and Delta's change feed write them."""
TAKES_BACK = (*_DELETES, UNCHANGED)


@dataclass(frozen=True, slots=True)
class Changes:
    """The signs by which a row is a change of an earlier row.

    Attributes:
        deletes: SQL condition: the row takes the row with its id back.
        operation: the column with words that tell an update from a row that is new; None: no column does.
        within_us: how far the batch of a change may lie behind the batch that brought the id first,
            microseconds.
        words: whether each of the words must be known.
        of_table: whether they are changes of a table with a log, of Delta or Iceberg.
    """

    deletes: str
    operation: str | None
    within_us: int
    words: bool = False
    of_table: bool = False

    @property
    def takes_back(self) -> str:
        """SQL that is true for rows that take a row back, and false for other rows."""
        return f"coalesce({self.deletes}, false)"

    @property
    def brings(self) -> str:
        """SQL that is false for rows that change a row which was there, and true for other rows: for all rows
        where no column says it.
        """
        if self.of_table:
            return f"coalesce({_quoted(CHANGE)}, 'insert') IN ('insert', '{TAKEN_BACK_AGAIN}')"
        updates = f" AND NOT {_says(self.operation, _UPDATES)}" if self.operation else ""
        return f"NOT {self.takes_back}{updates}"

    @property
    def needs(self) -> tuple[tuple[str, str], ...]:
        """The conditions that rows must meet, as `Taken` has them."""
        late = f"'{CHANGES_NOTHING} {spell(self.within_us)} before, or never (changes_within)'"
        conditions = [(f"{ORDINAL} NOT IN (FROM {TOO_LATE})", late)]
        conditions.append(
            (f"NOT ({self.takes_back} AND {IDENTITY} IS NULL)", "'takes a row back and has no id to name it'")
        )
        if self.operation and self.words:
            is_known_operation = _says(self.operation, (*_BRINGS, *_UPDATES, *_DELETES))
            conditions.append(
                (
                    is_known_operation,
                    f"'operation is not known: ' || coalesce({_quoted(self.operation)}::VARCHAR, 'null')",
                )
            )
        return tuple(conditions)


def checked_changes(
    id: str | Sequence[str] | None,  # noqa: A002 - the word of change streams
    operation: str | None,
    deletes: str | None,
    changes_within: Duration | None,
    dedupe: object,
) -> tuple[tuple[str, ...], Changes | None]:
    """The columns of the id, and what tells changes; ((), None) where rows are not changed."""
    if id is None and operation is None and deletes is None and changes_within is None:
        return (), None
    if id is None or changes_within is None or (operation is None and deletes is None):
        raise DefinitionError(
            "changes: id= names the row that a change is of, operation= or deletes= tells what is taken back,"
            ' and changes_within= how long after the first row; give all three, as id="order_id",'
            ' operation="op", changes_within="30d"'
        )
    if dedupe is not None:
        raise DefinitionError(
            "dedupe: of rows with one id= the last counts, so none is left to compare; leave dedupe= out"
        )
    if operation is not None and (not isinstance(operation, str) or not operation):
        raise DefinitionError(
            f'operation: {operation!r} is no column; write operation="op", or a condition, as deletes="op ='
            " 'D'\""
        )
    within_us = positive(changes_within, "changes_within")
    if within_us > LONGEST_CHANGES_US:
        raise DefinitionError(
            f"changes_within: {changes_within!r} is longer than {spell(LONGEST_CHANGES_US)}: ids of a batch"
            " are compared over twice this time; give the time within which a row may still change"
        )
    by_word = [_says(operation, _DELETES)] if operation else []
    by_condition = [f"({expression(deletes, 'deletes')})"] if deletes is not None else []
    takes_back = " OR ".join(by_word + by_condition)
    return checked_dedupe(id), Changes(takes_back, operation, within_us, words=deletes is None)


def checked_changes_of_table(
    changes: object,
    id: str | Sequence[str] | None,  # noqa: A002 - as for other sources
    changes_within: Duration | None,
    **not_together: object,
) -> tuple[tuple[str, ...], Changes | None]:
    """The columns of the id, and what tells changes of a Delta table.

    `not_together`: arguments that cannot be given with `changes`.
    """
    if not changes and id is None and changes_within is None:
        return (), None
    if changes is not True or id is None or changes_within is None:
        raise DefinitionError(
            "changes=True reads what a table's commits update and delete; the change feed does not say which"
            " row became which, so id= names rows, and changes_within= says how long after its first commit a"
            ' row may change; give all three, as changes=True, id="order_id", changes_within="7d"'
        )
    if given := [name for name, value in not_together.items() if value is not None]:
        raise DefinitionError(
            f"changes: the log of the table says which row of an id came last, so {given[0]}= has no place;"
            " leave it out"
        )
    takes_back = f"{_quoted(CHANGE)} IN {TAKES_BACK}"
    ids, changes_of_id = checked_changes(id, None, takes_back, changes_within, None)
    return ids, changes_of_id and replace(changes_of_id, of_table=True)


def _says(operation: str, words: tuple[str, ...]) -> str:
    """SQL for whether a column of any type says one of the words; never null."""
    return f"coalesce({_quoted(operation)}::VARCHAR IN {words}, false)"


def to_the_bit(name: str, kind: str) -> str:
    """SQL for a value of a column as `hash` tells it apart, which takes -0.0 for 0.0.

    By another release of DuckDB, rows may be read once more.
    """
    return f"{_quoted(name)}::VARCHAR" if "FLOAT" in kind or "DOUBLE" in kind else _quoted(name)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
