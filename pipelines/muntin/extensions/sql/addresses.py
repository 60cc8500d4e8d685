"""Addresses of databases that are asked. No error repeats an address: it may hold a password."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from muntin.errors import DefinitionError, SourceError

if TYPE_CHECKING:
    from urllib.parse import SplitResult

KINDS = {
    "postgresql": "postgresql",
    "postgres": "postgresql",
    "mysql": "mysql",
    "mariadb": "mysql",
    "sqlite": "sqlite",
}
_SQL_SERVER = "mssql_python.connect(...).execute(query, start, end).arrow()"
_BY_OWN_DRIVER = {
    "mssql": _SQL_SERVER,
    "sqlserver": _SQL_SERVER,
    "snowflake": "cursor.execute(query, ...).fetch_arrow_all(force_return_table=True) of snowflake.connector",
}
"""Databases whose drivers give Arrow, to a function of (start, end)."""
_VARIABLE = re.compile(r"env:([A-Za-z_][A-Za-z0-9_]*)")
_SECRETS = {"password", "passwd", "sslpassword", "ssl_key_password"}
_EXAMPLES = '"postgresql://muntin@db.example/shop", "mysql://muntin@db.example/shop" or "sqlite:///shop.db"'


def checked_address(text: object) -> str:
    """An address in a definition, or a variable that holds it.

    Raises:
        DefinitionError: it is neither, or holds a password.
    """
    if isinstance(text, str) and _VARIABLE.fullmatch(text):
        return text
    if not isinstance(text, str) or not (kind := kind_of(text)):
        raise DefinitionError(
            f'sources.sql: connection: neither "env:NAME" nor the address of a database that is read, as'
            f" {_EXAMPLES}; {_otherwise(text)}"
        )
    if kind != "sqlite" and secret_of(text):
        raise DefinitionError(
            "sources.sql: connection: the address holds a password, which must not stand in code; put it into"
            ' an environment variable and write sources.sql("env:SHOP", ...)'
        )
    if kind == "sqlite" and not text.startswith("sqlite:///"):
        raise DefinitionError(
            'sources.sql: connection: write "sqlite:///shop.db", or "sqlite:////data/shop.db" for an absolute'
            " path"
        )
    return text


def _otherwise(text: object) -> str:
    """How another database is read."""
    if call := _BY_OWN_DRIVER.get(_scheme(str(text))):
        return f"write sources.function(fetch, event_time=...), where fetch(start, end) returns {call}"
    return "sources.spark reads others by JDBC, and sources.function by a driver of Python"


def _scheme(address: str) -> str:
    return address.partition("://")[0].partition("+")[0] if "://" in address else ""


def kind_of(address: str) -> str:
    """The kind of database; "" of a variable, and of an address of none that is read."""
    return KINDS.get(_scheme(address), "")


def reached(address: str) -> tuple[str, str]:
    """The kind of the database, and its address with its secrets.

    Raises:
        SourceError: the variable is not set, or holds no such address.
    """
    text = address
    if variable := _VARIABLE.fullmatch(address):
        text = os.environ.get(variable[1], "").strip()
        if not text:
            raise SourceError(f"the environment has no {variable[1]}; set it to the address of the database")
    if not (kind := kind_of(text)):
        raise SourceError(
            f"{address} holds no address of a database that is read, as {_EXAMPLES}; {_otherwise(text)}"
        )
    scheme, _, rest = text.partition("://")
    return kind, f"{kind if scheme else ''}://{rest}"


def secret_of(address: str) -> str:
    """The password in an address; "" without one."""
    parts = _split(address)
    query = {name: values[-1] for name, values in parse_qs(parts.query).items() if name.lower() in _SECRETS}
    return parts.password or next(iter(query.values()), "")


def without_secrets(address: str) -> str:
    """An address for people."""
    parts = _split(address)
    if not parts.scheme or address.startswith("env:") or kind_of(address) == "sqlite":
        return address
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _split(address: str) -> SplitResult:
    try:
        return urlsplit(address)
    except ValueError:
        raise DefinitionError("sources.sql: connection: the address cannot be read") from None
