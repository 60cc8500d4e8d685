"""A query with the borders of a batch as parameters.

... WHERE ordered >= {start} AND day < {end:%Y-%m-%d} AND ms >= {start:ms}
          an instant             a text                 a number
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

from muntin.definition.instants import instant_us
from muntin.errors import DefinitionError, MuntinError, SourceError
from muntin.extensions.sql.addresses import reached, secret_of
from muntin.files.connections import without

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    import pyarrow as pa

Span = tuple["datetime", ...]
_BORDER = re.compile(r"\{(start|end)(?::([^{}]*))?\}")
_QUOTED = re.compile(r"""--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`""", re.DOTALL)
"""Comments, texts and names; a backslash in a text of MySQL is not looked at."""
PARAMETER = re.compile(r":((?:start|end)_\d+_\d+)\b")
"""The placeholder of SQLite, and of MySQL here."""
_UNITS_US = {"s": 1_000_000, "ms": 1_000, "us": 1}
TOGETHER = 100
"""So many batches one statement compares."""


class Database(Protocol):
    """The module of a kind of database. `TEXT`: the type that a cast to text names."""

    TEXT: str

    def quoted(self, name: str) -> str:
        """The name of a column."""
        ...

    def placeholder(self, name: str, value: Any) -> str:  # noqa: ANN401 - an instant, a text or a number
        """The SQL of a parameter."""
        ...

    def stream(self, address: str, asked: Asked, query: Query) -> pa.RecordBatchReader:
        """The rows of a statement. `query`: with the types of columns that come as text."""
        ...

    def answers(self, address: str, asked: Asked) -> list[tuple[Any, ...]]:
        """The few rows of a statement, as Python has them."""
        ...


@dataclass(frozen=True, slots=True)
class Asked:
    """A statement and its parameters."""

    sql: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Query:
    """A query of a database.

    Attributes:
        connection: the address, or the variable that holds it.
        text: as the user wrote it.
        types: column -> SQL type that text is cast to.
        changed, id, deleted: as `sql` has them.
    """

    connection: str
    text: str
    types: Mapping[str, str] = field(default_factory=dict)
    changed: str | None = None
    id: tuple[str, ...] = ()
    deleted: str | None = None

    def __call__(self, *span: datetime) -> pa.RecordBatchReader:
        """The rows of a batch; without a span, of a table."""
        return self._at(lambda database, address: database.stream(address, self._rows(database, span), self))

    def versions(self, spans: Sequence[Span]) -> list[str]:
        """The facts of each span: the number of its rows, the number marked as deleted, the last change."""
        out: list[str] = []
        for at in range(0, len(spans), TOGETHER):
            group = spans[at : at + TOGETHER]
            rows = self._at(
                lambda database, address, group=group: database.answers(
                    address, self._counts(database, group)
                )  # type: ignore[misc]
            )
            out += [str(facts) for _, *facts in sorted(rows)]
        return out

    def _at(self, ask: Callable[[Database, str], Any]) -> Any:  # noqa: ANN401 - whatever is asked
        kind, address = reached(self.connection)
        database = cast("Database", import_module(f"muntin.extensions.sql.{kind}"))
        try:
            return ask(database, address)
        except MuntinError:
            raise
        except Exception as wrong:  # noqa: BLE001 - whatever drivers raise
            text = without(f"{wrong}", [secret_of(address)])
            raise SourceError(
                f"{type(wrong).__name__}: {text}; see that the database is up and that the query runs there"
            ) from None

    def _rows(self, database: Database, span: Span) -> Asked:
        sql, values = self._given(database, span, 0)
        if self.id:
            same = ", ".join(f"q.{database.quoted(name)}" for name in self.id)
            last = f"q.{database.quoted(self.changed or '')} DESC"
            newest = f"row_number() OVER (PARTITION BY {same} ORDER BY {last})"
            sql = (
                f"SELECT * FROM (SELECT q.*, {newest} AS {NEWEST} FROM ({sql}) AS q) AS q WHERE {NEWEST} = 1"
            )
        return Asked(sql, values)

    def _counts(self, database: Database, spans: Sequence[Span]) -> Asked:
        """The numbers of spans with their counts of rows, in one statement."""
        parts, values = [], dict[str, Any]()
        for number, span in enumerate(spans):
            sql, own = self._given(database, span, number)
            values |= own
            there = f"count(q.{database.quoted(self.deleted)})" if self.deleted else "0"
            newest = f"max(q.{database.quoted(self.changed or '')})"
            facts = f"{number}, count(*), {there}, CAST({newest} AS {database.TEXT})"
            parts.append(f"SELECT {facts} FROM ({sql}) AS q")
        return Asked(" UNION ALL ".join(parts), values)

    def _given(self, database: Database, span: Span, number: int) -> tuple[str, dict[str, Any]]:
        """The query with parameters for its borders, and their values."""
        values: dict[str, Any] = {}

        def border(match: re.Match[str]) -> str:
            which, how = match.groups()
            name = f"{which}_{number}_{len(values)}"
            values[name] = value_of(span[which == "end"], how)
            return database.placeholder(name, values[name])

        return _BORDER.sub(border, self.text.strip().rstrip(";")), values


NEWEST = "muntin_newest"
"""The column that numbers the rows of an id, the last change first; it is no column of the rows."""


def value_of(instant: datetime, how: str | None) -> Any:  # noqa: ANN401 - an instant, a text or a number
    """The value of a border: an instant, a text in a format, or a number since 1970.

    >>> from datetime import UTC, datetime
    >>> value_of(datetime(2024, 5, 1, tzinfo=UTC), "%Y-%m-%d")
    '2024-05-01'
    >>> value_of(datetime(2024, 5, 1, tzinfo=UTC), "ms")
    1714521600000
    """
    if not how:
        return instant
    if how == "ns":
        return instant_us(instant, "border") * 1_000
    if how in _UNITS_US:
        return instant_us(instant, "border") // _UNITS_US[how]
    return instant.strftime(how)


def quoted(name: str) -> str:
    """The name of a column, as standard SQL has it."""
    return '"' + name.replace('"', '""') + '"'


def checked_query(text: object, kind: str, *, of_batches: bool) -> str:
    """The text of a query, with both borders as parameters; of a table without any.

    Raises:
        DefinitionError: a border is missing, stands in quotes, or has a format that is none.
    """
    borders = {which for which, _ in _BORDER.findall(text)} if isinstance(text, str) else set()
    if borders and not of_batches:
        raise DefinitionError(
            "sources.sql: a query with {start} and {end} gives the rows of batches: name the column with"
            ' event times, as event_time="at"; the query of a table that is looked up, or has spans, has none'
        )
    if not isinstance(text, str) or (of_batches and borders != {"start", "end"}):
        raise DefinitionError(
            "sources.sql: the query must say which rows a batch has, by {start} and {end}, as SELECT * FROM"
            " orders WHERE ordered >= {start} AND ordered < {end}"
        )
    if any(part[0] in "'\"`" and _BORDER.search(part) for part in _QUOTED.findall(text)):
        raise DefinitionError(
            "sources.sql: {start} and {end} are parameters of the query, not text of it: leave the quotes"
            " around them out; {start:%Y-%m-%d} is a text in that format"
        )
    for _, how in _BORDER.findall(text):
        if how and how != "ns" and how not in _UNITS_US and "%" not in how:
            raise DefinitionError(
                f"sources.sql: {{start:{how}}}: write a format, as {{start:%Y-%m-%d}}, or a unit: s, ms, us"
                " or ns"
            )
        if not how and kind == "sqlite":
            raise DefinitionError(
                "sources.sql: SQLite has no instants: say how the column is written, as {start:%Y-%m-%d"
                " %H:%M:%S} where texts have a blank between day and time, or {start:s} for seconds"
            )
    return text
