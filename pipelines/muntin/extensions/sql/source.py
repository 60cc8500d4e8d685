"""A query of a database as a source, as a user defines it. Nothing is asked here, and no driver imported."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muntin.errors import DefinitionError
from muntin.extensions.sql.addresses import checked_address, kind_of, without_secrets
from muntin.extensions.sql.query import Query, checked_query
from muntin.old_names import old_names_refused
from muntin.sources.functions import FunctionSource, asked_terms
from muntin.sources.row_source import LookBack
from muntin.store.paths import name_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from muntin.definition.schedule import Schedule
    from muntin.sources.repeated_rows import Events
    from muntin.sources.time_arguments import At


@dataclass(frozen=True, slots=True)
class SqlSource(FunctionSource):
    """The rows of a query. See `sql`."""

    fetch: Query

    call = "sources.sql(...)"

    @property
    def identity(self) -> str:
        return name_of(repr(self.facts(None)))

    @property
    def named(self) -> str:
        return f"sources.sql at {self.address}"

    @property
    def address(self) -> str:
        """The database, without secrets, for people and for lineage."""
        return without_secrets(self.fetch.connection)

    @property
    def for_tasks(self) -> SqlSource:
        """The source as it is: it holds texts alone."""
        return self

    def versions(self, spans: Sequence[tuple[datetime, datetime]]) -> list[str]:
        return self.fetch.versions(spans)

    def facts(self, schedule: Schedule | None) -> dict[str, Any]:  # noqa: ARG002 - the query is given the interval
        """The query; a database may move."""
        query = self.fetch
        return {
            "query": [query.text, query.changed, list(query.id), query.deleted, sorted(query.types.items())]
        }

    def below(self, home: str | Path) -> SqlSource:
        """The source with the relative path of a file of SQLite below a folder."""
        connection, start = self.fetch.connection, "sqlite:///"
        if kind_of(connection) != "sqlite" or connection.startswith(f"{start}/"):
            return self
        path = Path(home, connection.removeprefix(start)).absolute()
        return replace(self, fetch=replace(self.fetch, connection=f"{start}{path}"))


@old_names_refused
def sql(
    connection: str,
    query: str,
    *,
    event_time: str | At | None = None,
    changed: str | None = None,
    id: str | Sequence[str] | None = None,  # noqa: A002 - as of `events`
    deleted: str | None = None,
    rows: Events | None = None,
    types: Mapping[str, str] | None = None,
    arrival_order: str | None = None,
    arrival_time: str | None = None,
    look_back: LookBack = "all",
) -> SqlSource:
    """Rows of a query of PostgreSQL, MySQL, MariaDB or SQLite, without Java. A batch is one statement, and so
    one consistent read; its rows are kept in the state as `function` keeps them.

    Args:
        connection: `env:NAME`, an environment variable that holds an address; or an address without a secret,
            as "postgresql://muntin@db.example/shop", "mysql://muntin@db.example/shop" or
            "sqlite:///shop.db" (relative to the project's folder; "sqlite:////data/shop.db" is absolute).
        query: a SELECT with {start} and {end}, the borders of the batch. They become parameters, never text:
            instants; "{start:%Y-%m-%d}" is a text in that format, in UTC, and "{start:ms}" a number of s, ms,
            us or ns since 1970. SQLite has no instants: one of these. Without `event_time` a SELECT without
            borders, which each run asks: the rows of a table, of a dimension or of spans.
        event_time: the column that says when an event happened; `at("placed", timezone=...)` says how it is
            read. None of a table.
        changed: the column that says when a row was changed last. Each run asks, in one grouped query, how
            many rows each earlier batch has and when the last was changed, and reads batches anew that are
            not as they were read: rows that were updated, added, moved or removed since.
        id: the column, or the columns, that name a row, where an update is a row more: of the rows of an id
            in a batch that which changed last counts.
        deleted: the column that marks rows as deleted, a flag or a time: rows count where it is false, 0 or
            null.
        rows: how rows become facts, where not each row is an event: `events(dedupe="event_id")`.
        types: column -> SQL type that the column is cast to; of numbers without a declared precision, which
            come as text.
        arrival_order: a column that orders the rows of a batch by arrival; a query orders nothing unless it
            says so. A batch is then read by one task.
        arrival_time: the column that says when a row arrived, in the same unit and zone as event times, for
            windows that go by the clock; rows are ordered by it unless `arrival_order` says otherwise.
        look_back: how old a batch may be whose rows are compared (`changed`), as "30d"; "all" or None.

    Raises:
        DefinitionError: an address with a password or of another database; a query without {start} and {end},
            or with quotes around them; `id` without `changed`.
    """
    names = (id,) if isinstance(id, str) else tuple(id or ())
    for what, name in (("changed", changed), ("deleted", deleted), *(("id", each) for each in names)):
        if name is not None and (not isinstance(name, str) or not name):
            raise DefinitionError(f'sources.sql: {what}: {name!r} is no column; write {what}="updated_at"')
    if names and not changed:
        raise DefinitionError(
            "sources.sql: id= says that of the rows of an id the last change counts, so changed= names the"
            ' column that says when; write changed="updated_at", or leave id= out'
        )
    address = checked_address(connection)
    text = checked_query(query, kind_of(address), of_batches=event_time is not None)
    asked = Query(address, text, dict(types or {}), changed, names, deleted)
    when = None if names else changed  # of rows of an id it says which counts
    terms = asked_terms(
        event_time, rows, types, arrival_order, arrival_time, look_back, call="sources.sql", changed=when
    )
    return SqlSource(asked, changed, **terms)
