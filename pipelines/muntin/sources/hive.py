"""Columns that the names of folders give, as `dt=2026-01-01/hour=03/`: every file must have the columns that
the definition names.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from muntin.errors import DefinitionError, SourceError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_NAME = re.compile(r"[A-Za-z_]\w*")
_NULL = "__HIVE_DEFAULT_PARTITION__"  # what Hive and Spark write for null


def check_names(hive: Mapping[str, str], others: Iterable[str]) -> None:
    """Refuse what is no column that a folder can name."""
    for name in hive:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise DefinitionError(
                f'hive: {name!r} is no name of a folder\'s column; write hive={{"dt": "DATE"}} for folders as'
                " dt=2026-01-01"
            )
        if name in {*others}:
            raise DefinitionError(
                f"hive: {name!r} stands in columns= or types=, too; leave it there out: hive= says its type"
            )


def check_folders(hive: Mapping[str, str], paths: Iterable[str]) -> None:
    """Refuse a file that lies in no folder of a name."""
    for path in paths if hive else ():
        for name in hive:
            if f"/{name}=" not in path.rpartition("/")[0] + "/":
                raise SourceError(
                    f"{path} lies in no folder {name}=..., from which hive= takes the column {name!r}; mend"
                    " path= or hive="
                )


def folders_of(hive: Mapping[str, str], path: str) -> str:
    """The folders of a path that give columns, for a copy of the file: "" or with a slash behind each."""
    parts = path.split("/")[:-1]
    return "".join(f"{part}/" for part in parts if part.partition("=")[0] in hive and "=" in part)


def with_folders(hive: Mapping[str, str], table: str, path: str, *, named: bool) -> str:
    """A table of rows with the columns of their folders, as text.

    `table` has the column `path`; it is left out unless `named`.
    """
    # SQL takes Hour and hour for one name
    left_out = ", ".join(f"'{name.lower()}'" for name in (*hive, *(() if named else (path,))))
    folder = f"regexp_extract({path}, '.*/{{}}=([^/]*)/', 1)"
    values = ", ".join(f"nullif(url_decode({folder.format(name)}), '{_NULL}') AS \"{name}\"" for name in hive)
    return f"(SELECT COLUMNS(lambda muntin_c: lower(muntin_c) NOT IN ({left_out})), {values} FROM {table})"
