"""A table of PostgreSQL as a definition declares it.

Nothing is imported or reached before something is sent.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from muntin.errors import DefinitionError
from muntin.sinks.addresses import check_not_ours, is_a_name
from muntin.sinks.declaration import Declared, OnUnsupported, choice_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from muntin.sinks.delivery import Opened, Reach
_LONGEST_NAME = 63
"""Bytes of a name in PostgreSQL, as it is built by default."""

_MOST_COLUMNS = 1600
_SYSTEM_COLUMNS = ("tableoid", "xmin", "cmin", "xmax", "cmax", "ctid")
_TABLE = re.compile(r"[^.\"\0]+(\.[^.\"\0]+)?")
_SECRET = re.compile(r"\b(password|sslpassword)\s*=", re.IGNORECASE)
_SECRETS = ("password", "sslpassword")


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
        return f"table {self.table} at {self.address}"

    def check_columns(self, names: Sequence[str]) -> None:
        sink = f"to: the {self.name}:"
        for name in names:
            _check_length(f"{sink} the column", name)
            if name in _SYSTEM_COLUMNS or "\0" in name:
                raise DefinitionError(
                    f"{sink} a table of PostgreSQL can have no column {name!r}; give the key or result"
                    " another name"
                )
        if len(names) > _MOST_COLUMNS:
            raise DefinitionError(
                f"{sink} a table of PostgreSQL has {_MOST_COLUMNS:,} columns at most, and these are"
                f" {len(names):,}"
            )

    def opened(self, pipeline: str, reach: Reach) -> AbstractContextManager[Opened]:
        from muntin.extensions.postgres.table import opened

        return opened(self, pipeline, reach)


def postgres(
    address: str,
    *,
    table: str,
    window: str | None = None,
    on_unsupported: OnUnsupported = "quarantine",
    latest: bool = False,
) -> PostgresSink:
    """A table of PostgreSQL that holds a window's results, exactly once.

    >>> postgres("warehouse", table="flights_day", window="day").name
    'table flights_day at warehouse'

    Args:
        address: the name of an Airflow connection of type postgres; `env:NAME`, an environment variable that
            holds an address; or an address without a secret, as
            "postgresql://muntin@db.example:5432/warehouse".
        table: its name, as "flights_day" or "reports.flights_day". It is made if it is missing.
        window: the name of the window; may be left out where the pipeline has one.
        on_unsupported: what becomes of a window with a value that the sink refuses, as a text with U+0000.
            "quarantine": it is left out, and `muntin status --sinks` names it; "replace": the value is null
            there, in texts U+FFFD for U+0000, but a key is never another; "stop": nothing is sent until the
            value is mended.
        latest: whether the table keeps one row for each key, of the newest window that is closed, for
            services that ask by key.

    Raises:
        DefinitionError: an address with a password, or of something else; a name that cannot be.
    """
    if not isinstance(table, str) or not _TABLE.fullmatch(table):
        raise DefinitionError(
            f'sinks.postgres: {table!r} is not the name of a table; write "flights_day" or'
            ' "schema.flights_day"'
        )
    for part in table.split("."):
        _check_length("sinks.postgres: the name", part)
    check_not_ours("sinks.postgres", table.rpartition(".")[2])
    return PostgresSink(
        _postgres_address(address), table, window, choice_of(on_unsupported, "sinks.postgres"), latest
    )


def _check_length(what: str, name: str) -> None:
    if (length := len(name.encode())) > _LONGEST_NAME:
        raise DefinitionError(
            f"{what} {name!r} has {length} bytes, and PostgreSQL cuts names after {_LONGEST_NAME}; give it a"
            " shorter name"
        )


def _postgres_address(address: object) -> str:
    """An address of PostgreSQL without secrets, or a name that stands for it.

    An error repeats no address: it may hold a password.
    """
    if not isinstance(address, str) or not address.strip():
        raise DefinitionError(
            'sinks.postgres: give an address, as "postgresql://db.example/warehouse", or the name of a'
            " connection"
        )
    plain = address.strip().removeprefix("jdbc:")
    if is_a_name(plain):
        return plain
    if "://" in plain:
        try:
            parts = urlsplit(plain)
        except ValueError:
            raise DefinitionError(
                "sinks.postgres: the address cannot be read; write postgresql://db.example:5432/warehouse"
            ) from None
        if parts.scheme.partition("+")[0] not in ("postgresql", "postgres"):
            raise DefinitionError(
                f"sinks.postgres: {parts.scheme} is not known; results go to PostgreSQL, as"
                " postgresql://db.example/warehouse"
            )
        secret = bool(parts.password) or any(name.lower() in _SECRETS for name in parse_qs(parts.query))
    elif "=" in plain:
        secret = _SECRET.search(plain) is not None
    else:
        raise DefinitionError(
            "sinks.postgres: the address is neither postgresql://..., nor key=value words, nor the name of a"
            " connection"
        )
    if secret:
        raise DefinitionError(
            "sinks.postgres: the address holds a password, which must not stand in code; put the address into"
            ' an environment variable and write sinks.postgres("env:WAREHOUSE", ...), or into an Airflow'
            " connection and write its name"
        )
    return plain
