"""A table of PostgreSQL as a definition declares it. Nothing is imported or reached before something is sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from muntin.extensions.postgres.checks import check_columns, check_table, postgres_address
from muntin.sinks.declaration import Declared, OnUnsupported, choice_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from muntin.sinks.delivery import Opened, Reach


@dataclass(frozen=True, slots=True)
class PostgresSink(Declared):
    """A table of PostgreSQL; `postgres` makes it."""

    address: str
    table: str
    window: str | None = None
    on_unsupported: OnUnsupported = "quarantine"
    latest: bool = False

    package = "psycopg"

    @property
    def name(self) -> str:
        """The name of the sink in logs."""
        return f"table {self.table} at {self.address}"

    def check_columns(self, names: Sequence[str]) -> None:
        """See that PostgreSQL can have columns of these names."""
        check_columns(self.name, names)

    def opened(self, pipeline: str, reach: Reach) -> AbstractContextManager[Opened]:
        """Reach it."""
        from muntin.extensions.postgres.table import opened

        return opened(self, pipeline, reach)


def postgres(
    address: str, *, table: str, window: str | None = None, on_unsupported: OnUnsupported = "quarantine", latest: bool = False
) -> PostgresSink:
    """A table of PostgreSQL that holds a window's results, exactly once.

    >>> postgres("warehouse", table="flights_day", window="day").name
    'table flights_day at warehouse'

    Args:
        address: the name of an Airflow connection of type postgres; `env:NAME`, an environment variable that holds an address;
            or an address without a secret, as "postgresql://muntin@db.example:5432/warehouse".
        table: its name, as "flights_day" or "reports.flights_day". It is made if it is missing.
        window: the name of the window; may be left out where the pipeline has one.
        on_unsupported: what becomes of a window with a value that the sink refuses, as a text with U+0000. "quarantine": it is left out,
            and `muntin sinks` names it; "replace": the value is null there, in texts U+FFFD for U+0000, but a key is never another;
            "stop": nothing is sent until the value is mended.
        latest: whether the table keeps one row for each key, of the newest window that is closed, for services that ask by key.

    Raises:
        DefinitionError: an address with a password, or of something else; a name that cannot be.
    """
    check_table(table)
    return PostgresSink(postgres_address(address), table, window, choice_of(on_unsupported, "sinks.postgres"), latest)
