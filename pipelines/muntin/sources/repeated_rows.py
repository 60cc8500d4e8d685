"""Rows that a source delivers twice in a batch: the first to arrive counts, by the columns that `dedupe`
names.

arrival     1   2   3   4   5          1, 3 and 4 are one event; of nulls it cannot be said whether they are
id          a   b   a   a   null
counts      x   x           x

A later row may also change an earlier row, or take it back: the last row of an id counts, in the batch that
brought the id first.

batch          0            1            2             `within` reaches back to 0
order 7        c, 10                     u, 12         one row of batch 0, with 12
order 8        c, 5         d                          no row
order 9                     c, 3         d, c, 4       one row of batch 1, with 4
order 6                                  u, 8          none: it changes a row, and no batch within reach has
brought that
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from muntin.definition.durations import DAY_US, Duration, positive, spell
from muntin.definition.expressions import expression
from muntin.errors import DefinitionError
from muntin.states.columns import BROUGHT, IDENTITY, ORDINAL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muntin.sources.reading.refused_rows import Taken


LONGEST_US = 366 * DAY_US
"""The longest `within` of `dedupe`."""


@dataclass(frozen=True, slots=True)
class Events:
    """How rows become facts. See `events`."""

    id: tuple[str, ...] = ()
    operation: str | None = None
    deletes: str | None = None
    within: Duration | None = None
    dedupe: tuple[str, ...] = ()
    newest_by: str | None = None


def events(
    *,
    id: str | Sequence[str] | None = None,  # noqa: A002 - the word of change streams
    operation: str | None = None,
    deletes: str | None = None,
    within: Duration | None = None,
    dedupe: str | Sequence[str] | None = None,
    newest_by: str | None = None,
) -> Events:
    """How rows become facts, where not each row is an event: rows that come twice (`dedupe`), or rows that
    later rows change or take back (`id`).

    Args:
        id: the column, or the columns, that name a row where later rows change it, as streams of changes
            (CDC) have them. Of all rows of an id the last to arrive counts, in the batch that brought the id
            first, which is then read again. Of a table with `changes=True` each id is in the table once.
        operation: the column that tells what a row is, as Debezium, Flink and Delta's change feed write it:
            c, r, +I, insert bring a row, u, +U, update change it, d, -U, -D, delete take it back. A row with
            another word goes to the quarantine.
        deletes: SQL condition that tells which rows take a row back, as "op = 'D'". Such a row needs no event
            time. Without `operation` nothing tells an update from a new row: an id of which no row came for
            `within` is new.
        within: with `id`, how long after its first row an id may still change, by the starts of their
            batches, as "30d". What changes it later, or changes an id that never came, goes to the
            quarantine. With `dedupe`, how far the event times of duplicates in two batches may lie apart: a
            row is then a duplicate, too, if a row of an earlier batch is alike in these columns and its event
            time differs by at most this. None: batches are not compared.
        dedupe: the column, or the columns, that tell events apart. Of rows of a batch that are alike in them
            the first to arrive counts; the other rows are duplicates, which the report counts. A null is like
            no other. A batch is then read by one task.
        newest_by: with `id`, the column, of numbers or times, whose largest value counts of all rows of an
            id, whichever came last; of equal values the last to arrive. A row with an id and without a value
            goes to the quarantine.

    Raises:
        DefinitionError: what does not go together.

    >>> events(dedupe="event_id", within="2d").dedupe
    ('event_id',)
    """
    if id is not None and dedupe is not None:
        raise DefinitionError(
            "dedupe: of rows with one id= the last counts, so none is left to compare; leave dedupe= out"
        )
    if operation is not None and (not isinstance(operation, str) or not operation):
        raise DefinitionError(
            f'operation: {operation!r} is no column; write operation="op", or a condition, as deletes="op ='
            " 'D'\""
        )
    if id is None and dedupe is None:
        raise DefinitionError(
            'events: name the columns that tell events apart, as sources.events(dedupe="event_id"), or the '
            "columns that name a row which later rows change, as "
            'sources.events(id="order_id", operation="op", within="30d")'
        )
    if (id is not None and within is None) or (id is None and (operation is not None or deletes is not None)):
        raise DefinitionError(_ALL_THREE)
    if newest_by is not None and (id is None or not isinstance(newest_by, str) or not newest_by):
        raise DefinitionError(
            f'newest_by: {newest_by!r} is for rows with an id= that change; write newest_by="updated_at" '
            "beside id=, or leave it out: of rows that are alike by dedupe= the first counts"
        )
    rows = Events(_columns("id", id), operation, deletes, within, _columns("dedupe", dedupe), newest_by)
    _within_us(rows)
    return rows


def changes(
    *,
    id: str | Sequence[str],  # noqa: A002 - as of `events`
    within: Duration,
    operation: str | None = None,
    deletes: str | None = None,
    newest_by: str | None = None,
) -> Events:
    """Rows that later rows change or take back: `events` with an `id`."""
    return events(id=id, operation=operation, deletes=deletes, within=within, newest_by=newest_by)


_ALL_THREE = (
    "events: id= names the row that a change is of, operation= or deletes= tells what is taken back, and "
    "within= how long after the first row; give all three, as "
    'sources.events(id="order_id", operation="op", within="30d")'
)


def _columns(what: str, names: Any) -> tuple[str, ...]:  # noqa: ANN401 - whatever the user gave
    """A column, or columns, as a tuple; () for None."""
    columns = (names,) if isinstance(names, str) else tuple(names) if isinstance(names, list | tuple) else ()
    if names is not None and (not columns or not all(isinstance(name, str) and name for name in columns)):
        raise DefinitionError(
            f'{what}: {names!r} is no column; write "event_id", or ["device", "number"] for several columns'
            " together"
        )
    return columns


def _within_us(rows: Events) -> int | None:
    """How far apart rows are compared, microseconds; None: in a batch alone."""
    if rows.within is None:
        return None
    within_us = positive(rows.within, "within")
    longest_us = LONGEST_CHANGES_US if rows.id else LONGEST_US
    if within_us > longest_us:
        raise DefinitionError(
            f"within: {rows.within!r} is longer than {spell(longest_us)}: "
            + (
                "ids of a batch are compared over twice this time; give the time within which a row may "
                "still change"
                if rows.id
                else "each batch is compared with the ids of all batches in this time. Give the time in "
                "which a writer may deliver an event again"
            )
        )
    return within_us


def terms_of_rows(rows: Events | None, *, of_table: bool | None) -> dict[str, Any]:
    """The arguments of a `RowSource` on how rows become facts.

    `of_table`: whether changes of a table with a log are read; None: the source is no such table.
    """
    if rows is not None and not isinstance(rows, Events):
        raise DefinitionError(
            f'rows: {rows!r} says nothing of rows; write rows=sources.events(dedupe="event_id")'
        )
    if of_table:
        _check_of_table(rows)
    if rows is None or not rows.id:
        names = rows.dedupe if rows else ()
        return {"dedupe": names, "dedupe_within_us": _within_us(rows) if rows else None, "changes": None}
    if of_table is False:
        raise DefinitionError(
            "rows: sources.events(id=...) of a table are what its commits update and delete; say "
            "changes=True, too"
        )
    within_us = _within_us(rows) or 0
    if of_table:
        changed = Changes(f"({_quoted(CHANGE)} IN {TAKES_BACK})", None, within_us, of_table=True)
    else:
        if rows.operation is None and rows.deletes is None:
            raise DefinitionError(_ALL_THREE)
        condition = [_says(rows.operation, _DELETES)] if rows.operation else []
        condition += [f"({expression(rows.deletes, 'deletes')})"] if rows.deletes is not None else []
        changed = Changes(
            " OR ".join(condition),
            rows.operation,
            within_us,
            words=rows.deletes is None,
            newest_by=rows.newest_by,
        )
    return {"dedupe": rows.id, "dedupe_within_us": 2 * within_us, "changes": changed}


def _check_of_table(rows: Events | None) -> None:
    if rows is None or not rows.id:
        raise DefinitionError(
            "changes=True reads what a table's commits update and delete; the change feed does not say which"
            " row became which, so id= names rows, and within= says how long after its first commit a row may"
            ' change; say them, as changes=True, rows=sources.events(id="order_id", within="7d")'
        )
    if given := [name for name in ("operation", "deletes", "newest_by") if getattr(rows, name) is not None]:
        raise DefinitionError(
            f"changes: the log of the table says which row of an id came last, so {given[0]}= has no place;"
            " leave it out"
        )


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
    so that the last or newest row of an id counts; `BROUGHT` then says whether the first row brings the id.
    """
    if changes and changes.of_table:
        rows = f"(FROM {rows} WHERE {CHANGE} IS DISTINCT FROM '{UNCHANGED}')"
    elif changes and changes.operation:
        rows = f"(FROM {rows} WHERE NOT ({changes.repeats_a_delete}))"
    apart = f"PARTITION BY {IDENTITY}, coalesce({times.condition}, false)"
    brought = (
        f", first_value({changes.brings}) OVER ({apart} ORDER BY {ORDINAL}) AS {BROUGHT}" if changes else ""
    )
    newest = f"{_quoted(changes.newest_by)} DESC, " if changes and changes.newest_by else ""
    return (
        f"SELECT *{brought} FROM {rows} QUALIFY {IDENTITY} IS NULL OR NOT coalesce({times.condition}, false) "
        f"OR row_number() OVER ({apart} ORDER BY {newest}{ORDINAL}{' DESC' if changes else ''}) = 1"
    )


LONGEST_CHANGES_US = 183 * DAY_US
"""The longest `within` of an `id`: batches are compared over twice the time."""
TOO_LATE = "muntin_too_late"
"""The table of the places of a split's rows whose id is older than `within`."""
CHANGE = "_change_type"
"""The column of Delta's change feed that tells what a row is; null of a row that was merely added."""
UNCHANGED, TAKEN_BACK_AGAIN = "unchanged", "D"
"""Words of `CHANGE` of our own: of a row that is as it was before its batch; and of an id that its own batch
had brought.
"""
_BRINGS = ("c", "r", "+i", "i", "insert")
CHANGES_NOTHING = "changes an event whose first row came more than"
"""The begin of the reason for a change without a row to change; a batch that is read later may bring the row.
"""
_UPDATES = ("u", "+u", "update", "update_postimage")
TOMBSTONE = "tombstone"
"""The word of ours for a message without a value, which Debezium writes behind each delete."""
_DELETES = ("d", "-u", "-d", "delete", "update_preimage", TOMBSTONE)
"""Operations as Debezium, Flink, Oracle GoldenGate and Delta's change feed write them, in small letters."""
TAKES_BACK = (*_DELETES, TAKEN_BACK_AGAIN, UNCHANGED)


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
        newest_by: the column whose largest value counts of the rows of an id; None: the last row counts.
    """

    deletes: str
    operation: str | None
    within_us: int
    words: bool = False
    of_table: bool = False
    newest_by: str | None = None

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
    def repeats_a_delete(self) -> str:
        """SQL for whether a row is a tombstone: another message has taken the row back, by its id."""
        tombstone = _says(self.operation, (TOMBSTONE, TOMBSTONE)) if self.operation else "false"
        return f"{tombstone} AND {IDENTITY} IS NULL"

    @property
    def needs(self) -> tuple[tuple[str, str], ...]:
        """The conditions that rows must meet, as `Taken` has them."""
        late = f"'{CHANGES_NOTHING} {spell(self.within_us)} before, or never (within)'"
        conditions = [(f"{ORDINAL} NOT IN (FROM {TOO_LATE})", late)]
        nameless = f"{self.takes_back} AND {IDENTITY} IS NULL AND NOT ({self.repeats_a_delete})"
        conditions.append((f"NOT ({nameless})", "'takes a row back and has no id to name it'"))
        if self.newest_by:
            value = f"coalesce({_quoted(self.newest_by)}::VARCHAR, 'nan')"
            untold = "'has no number or time that says how new it is (newest_by)'"
            conditions.append((f"({IDENTITY} IS NULL OR {value} <> 'nan')", untold))
        return (*self.says_what_it_is, *conditions)

    @property
    def says_what_it_is(self) -> tuple[tuple[str, str], ...]:
        """The condition on the word of a row, as of `needs`; () where a row may have any word."""
        if not self.operation or not self.words:
            return ()
        unknown = f"'operation is not known: ' || coalesce({_quoted(self.operation)}::VARCHAR, 'null')"
        return ((_says(self.operation, (*_BRINGS, *_UPDATES, *_DELETES)), unknown),)


def _says(operation: str, words: tuple[str, ...]) -> str:
    """SQL for whether a column of any type says one of the words, in any letters, blanks around it; never
    null.
    """
    return f"coalesce(lower(trim({_quoted(operation)}::VARCHAR)) IN {words}, false)"


def to_the_bit(name: str, kind: str) -> str:
    """SQL for a value of a column as `hash` tells it apart, which takes -0.0 for 0.0.

    By another release of DuckDB, rows may be read once more.
    """
    return f"{_quoted(name)}::VARCHAR" if "FLOAT" in kind or "DOUBLE" in kind else _quoted(name)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
