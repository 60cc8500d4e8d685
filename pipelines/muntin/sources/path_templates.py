"""The templates of paths to files: which fields they may have, and which format a name tells; and columns
that the names of folders give, as `dt=2026-01-01/hour=03/`: every file must have the columns that the
definition names.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import zip_longest
from typing import Literal

from muntin.definition.clocks import UTC_NAME, zone_info
from muntin.definition.instants import from_us
from muntin.definition.schedule import Interval
from muntin.errors import DefinitionError, SourceError

Format = Literal["parquet", "csv", "json"]
FORMATS: dict[str, Format] = {
    "parquet": "parquet",
    "pq": "parquet",
    "csv": "csv",
    "tsv": "csv",
    "json": "json",
    "jsonl": "json",
    "ndjson": "json",
    "xlsx": "json",
}
COMPRESSED = (".gz", ".zst")
_HIDDEN = ("_", ".")
"""By such names writers keep files apart that are no data yet, or never:

`_temporary/`, `_SUCCESS`, `.part.parquet.crc`.
"""


def fields_of(interval: Interval, zone: str) -> dict[str, datetime]:
    """The fields of a template: the borders of an interval by the clock of a zone, and in UTC."""
    borders = {"start": from_us(interval.start_us), "end": from_us(interval.end_us)}
    return {name: at.astimezone(zone_info(zone)) for name, at in borders.items()} | {
        f"{name}_utc": at for name, at in borders.items()
    }


def check_template(path: object, *, all_files: bool) -> None:
    """Refuse what is no template over the data interval."""
    fields = fields_of(Interval(0, 0), UTC_NAME)
    try:
        names = {name for _, name, _, _ in string.Formatter().parse(str(path)) if name is not None}
        str(path).format(**fields)
    except (ValueError, KeyError, IndexError, AttributeError) as wrong:
        raise DefinitionError(_template_help(path, str(wrong))) from None
    if str(path).startswith("~"):
        raise DefinitionError(
            f"path: {str(path)!r} begins with ~, which is another folder for each user; write the folder's"
            " whole path"
        )
    if names - {*fields}:
        raise DefinitionError(_template_help(path, f"unknown {sorted(names - {*fields})}"))
    if not names and not all_files:
        raise DefinitionError(
            _template_help(path, "it names no interval, so every batch would read every file")
            + "; or say all_files=True if that is meant"
        )


def _template_help(path: object, wrong: str) -> str:
    return (
        f"path: {str(path)!r} is not a template over the data interval ({wrong}); "
        f'write "data/{{start:%Y-%m-%d}}.parquet", with {{start:...}}, {{end:...}}, {{start_utc:...}},'
        f" {{end_utc:...}} and globs"
    )


def format_of(path: str) -> Format:
    """The format that a path ends in."""
    if not tells_format(path):
        raise DefinitionError(
            f"path: cannot tell the format of {path!r} from its ending; "
            'say format="parquet", "csv", "jsonl" or "xlsx"'
        )
    return FORMATS[ending(path)]


def tells_format(path: str) -> bool:
    """Whether the name of a file says its format."""
    return ending(path) in FORMATS


def ending(path: str) -> str:
    """The last part of a name, apart from how it is compressed."""
    return stem(path).rsplit("/", 1)[-1].rsplit(".", 1)[-1].lower()


def stem(path: str) -> str:
    """The path without an ending that says how it is compressed."""
    for ending in COMPRESSED:
        path = path.removesuffix(ending)
    return path


def is_hidden(path: str, pattern: str) -> bool:
    """Whether a name in a path begins with `_` or `.`, where the pattern that found it does not write this
    itself.

    >>> [is_hidden(f"/data/00/{name}", "/data/00/**/*.csv") for name in ("a.csv", "_a.csv",
    ...     "_temporary/0/a.csv")]
    [False, True, True]
    >>> is_hidden("/_landing/00/_a.csv", "/_landing/*/_*.csv")
    False
    """
    names, wanted = _parts(path), _parts(pattern)
    # any number of folders: what stands before it is met from the begin, what stands behind it from the end
    if "**" in wanted:
        before, behind = wanted.index("**"), wanted[::-1].index("**")
        wanted = wanted[:before] + [""] * (len(names) - before - behind) + wanted[len(wanted) - behind :]
    return any(
        name.startswith(_HIDDEN) and not plain.startswith(name[0])
        for name, plain in zip_longest(names, wanted, fillvalue="")
    )


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part]


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
