"""Checks of the addresses, tables and topics in a definition. No error repeats an address: it may hold a secret."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, parse_qs, urlsplit

from muntin.errors import DefinitionError
from muntin.sinks.addresses import check_not_ours, is_a_name

if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST_NAME = 63
"""Bytes of a name in PostgreSQL, as it is built by default."""
MOST_COLUMNS = 1600
_SYSTEM_COLUMNS = ("tableoid", "xmin", "cmin", "xmax", "cmax", "ctid")
_TABLE = re.compile(r"[^.\"\0]+(\.[^.\"\0]+)?")
_SECRET = re.compile(r"\b(password|sslpassword)\s*=", re.IGNORECASE)
_SECRETS = ("password", "sslpassword")


def check_table(table: object) -> None:
    """Refuse what cannot be the name of a table, with a schema or without."""
    if not isinstance(table, str) or not _TABLE.fullmatch(table):
        raise DefinitionError(f'sinks.postgres: {table!r} is not the name of a table; write "flights_day" or "schema.flights_day"')
    for part in table.split("."):
        _check_length("sinks.postgres: the name", part)
    check_not_ours("sinks.postgres", table.rpartition(".")[2])


def check_columns(sink: str, names: Sequence[str]) -> None:
    """Refuse names of columns that PostgreSQL does not take as they are: too long, too many, or of a column that each table has anyway."""
    for name in names:
        _check_length(f"to: the {sink}: the column", name)
        if name in _SYSTEM_COLUMNS or "\0" in name:
            raise DefinitionError(f"to: the {sink}: a table of PostgreSQL can have no column {name!r}; give the key or result another name")
    if len(names) > MOST_COLUMNS:
        raise DefinitionError(f"to: the {sink}: a table of PostgreSQL has {MOST_COLUMNS:,} columns at most, and these are {len(names):,}")


def _check_length(what: str, name: str) -> None:
    if (length := len(name.encode())) > LONGEST_NAME:
        raise DefinitionError(f"{what} {name!r} has {length} bytes, and PostgreSQL cuts names after {LONGEST_NAME}; give it a shorter name")


def postgres_address(address: object) -> str:
    """An address of PostgreSQL without secrets, or a name that stands for it; anything else, and a password, is refused."""
    if not isinstance(address, str) or not address.strip():
        raise DefinitionError('sinks.postgres: give an address, as "postgresql://db.example/warehouse", or the name of a connection')
    plain = address.strip().removeprefix("jdbc:")
    if is_a_name(plain):
        return plain
    if "://" in plain:
        parts = _parts(plain)
        if parts.scheme.partition("+")[0] not in ("postgresql", "postgres"):
            raise DefinitionError(
                f"sinks.postgres: {parts.scheme} is not known; results go to PostgreSQL, as postgresql://db.example/warehouse"
            )
        secret = bool(parts.password) or any(name.lower() in _SECRETS for name in parse_qs(parts.query))
    elif "=" in plain:
        secret = _SECRET.search(plain) is not None
    else:
        raise DefinitionError("sinks.postgres: the address is neither postgresql://..., nor key=value words, nor the name of a connection")
    if secret:
        raise DefinitionError(
            "sinks.postgres: the address holds a password, which must not stand in code; put the address into an environment variable and "
            'write sinks.postgres("env:WAREHOUSE", ...), or into an Airflow connection and write its name'
        )
    return plain


def _parts(address: str) -> SplitResult:
    try:
        return urlsplit(address)
    except ValueError:
        raise DefinitionError("sinks.postgres: the address cannot be read; write postgresql://db.example:5432/warehouse") from None
