"""Catalogs of Iceberg by name: of pyiceberg's own configuration, or of an Airflow connection."""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from muntin.definition.extras import need
from muntin.errors import DefinitionError
from muntin.files.connections import CONNECTION, without

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pyiceberg.catalog import Catalog

    from muntin.files.connections import Connection

_TABLE = re.compile(r"[^.{}\"\0/]+(\.[^.{}\"\0/]+)+")
_FREE: dict[tuple[object, ...], list[Catalog]] = {}
_CLIENTS = {"pyiceberg", "sqlalchemy", "thrift", "hive_metastore", "botocore", "google"}
"""Libraries by which pyiceberg asks catalogs."""
_FILE_FAULTS = ("SQLITE_CANTOPEN", "SQLITE_IOERR", "SQLITE_PERM", "SQLITE_READONLY")
_MADE_BY_PYICEBERG = 2
"""Tables of a catalog in a database, which it makes where they lack."""
_SECRET = re.compile(r"password|secret|token|credential|key", re.IGNORECASE)


def check_address(what: str, catalog: object, table: object, example: str) -> None:
    """Refuse what is no name of a catalog, or no namespace and name of a table.

    Args:
        what: the function that was given it.
        catalog, table: as they were given.
        example: of a table.

    Raises:
        DefinitionError: names what is wrong.
    """
    if not isinstance(catalog, str) or not CONNECTION.fullmatch(catalog):
        raise DefinitionError(
            f'{what}: {catalog!r} is not the name of a catalog; write "lake", as pyiceberg\'s configuration'
            " has it"
        )
    if not isinstance(table, str) or not _TABLE.fullmatch(table):
        raise DefinitionError(f"{what}: {table!r} is not a namespace and a table; write {example}")


@contextmanager
def catalog_of(
    name: str, connection: Callable[[str], Connection], *, down: type[Exception], refused: type[Exception]
) -> Iterator[Catalog]:
    """A catalog, opened.

    Args:
        name: as pyiceberg's configuration has it, else of a connection.
        connection: name of a connection -> its facts.
        down: the exception that is raised where it does not answer.
        refused: the exception that is raised where it refuses.

    Raises:
        down, refused: as said. The text holds no secret.
        MissingPackageError: pyiceberg is not installed.
    """
    need("pyiceberg")
    from pyiceberg.exceptions import (
        BadRequestError,
        ForbiddenError,
        NotInstalledError,
        UnauthorizedError,
        ValidationError,
    )
    from pyiceberg.utils.config import Config

    settings = Config().get_catalog_config(name)
    properties: Mapping[str, Any] = settings if settings is not None else _properties(connection(name))
    try:
        with _taken(name, properties) as catalog:
            yield catalog
    except (
        BadRequestError,
        ForbiddenError,
        UnauthorizedError,
        ValidationError,
        NotInstalledError,
        ValueError,
        TypeError,
    ) as wrong:
        raise refused(
            f"catalog {name}: {_told(wrong, properties)}; mend its configuration, its rights or the table"
        ) from None
    except Exception as wrong:
        if not isinstance(wrong, OSError) and type(wrong).__module__.partition(".")[0] not in _CLIENTS:
            raise
        raise down(f"catalog {name}: {_told(wrong, properties)}; {_mend(wrong)}") from None


@contextmanager
def _taken(name: str, properties: Mapping[str, Any]) -> Iterator[Catalog]:
    """A catalog that no other thread uses: a catalog that was used before, since its connection and its
    statements exist, or a new catalog.
    """
    key = os.getpid(), name, tuple(sorted((each, str(value)) for each, value in properties.items()))
    free = _FREE.setdefault(key, [])
    try:
        catalog = free.pop()
    except IndexError:
        catalog = _loaded(name, properties)
    try:
        yield catalog
    except BaseException:
        catalog.close()
        raise
    free.append(catalog)


def _loaded(name: str, properties: Mapping[str, Any]) -> Catalog:
    """A catalog.

    Of two that make a database's two tables at once, each table is found made by the process that comes
    second.
    """
    from pyiceberg.catalog import load_catalog

    for _ in range(_MADE_BY_PYICEBERG):
        try:
            return load_catalog(name, **properties)
        except Exception as wrong:
            if not getattr(wrong, "statement", None):  # of sqlalchemy; a server that does not answer got none
                raise
    return load_catalog(name, **properties)


def _properties(connection: Connection) -> dict[str, Any]:
    """The properties of a catalog in a connection: its extra, and the address and the credentials of a REST
    catalog.
    """
    properties = {name: value for name, value in connection.extra.items() if value is not None}
    if connection.host and "uri" not in properties:
        place = (
            connection.host
            if "://" in connection.host
            else f"{connection.extra.get('scheme', 'https')}://{connection.host}"
        )
        properties["uri"] = f"{place}:{connection.port}" if connection.port else place
    if connection.login and connection.password and "credential" not in properties:
        properties["credential"] = f"{connection.login}:{connection.password}"
    return properties


def _mend(wrong: Exception) -> str:
    """Advice for a catalog that does not answer. A catalog of SQLite is a file."""
    code = getattr(getattr(wrong, "orig", None), "sqlite_errorname", "")
    if code == "SQLITE_FULL":
        return "free space on the disk where the catalog's file lies"
    if code.startswith(_FILE_FAULTS):
        return "see that the catalog's file, and the folder where it lies, are there and can be written"
    return "see that it is up, can be reached, and lets you in"


def _told(wrong: Exception, properties: Mapping[str, Any]) -> str:
    """The error in one line, without secrets."""
    secrets = [str(value) for name, value in properties.items() if _SECRET.search(name)]
    secrets += [
        str(value) for name, value in properties.items() if name == "uri" and urlsplit(str(value)).password
    ]
    secrets += [
        word for name, value in properties.items() if name == "uri" if (word := urlsplit(str(value)).password)
    ]
    return without(str(wrong) or type(wrong).__name__, secrets)
