"""The windows that a command was asked for: some keys, some stretch of time."""

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from muntin.cli.output import plain
from muntin.definition.spelling import did_you_mean
from muntin.errors import DefinitionError, StateError

if TYPE_CHECKING:
    import pyarrow as pa

    from muntin.definition.pipeline import Pipeline
    from muntin.files.paths import AnyPath


def selected(
    pipeline: "Pipeline",
    window: str,
    root: "AnyPath",
    *,
    keys: Sequence[str] | None = None,
    low: datetime | None = None,
    high: datetime | None = None,
    provisional: bool = False,
    changes_since: int | None = None,
) -> "pa.Table":
    """Published windows of these keys that start at or after `low` and end at or before `high`.

    `keys`: "NAME=VALUE", or "VALUE" where there is one key column; values of one column are alternatives, and
    a value that no published window ever had is refused. `changes_since`: a version of the table, for what
    changed since.
    """
    from muntin.jobs.inspect.read import read
    from muntin.jobs.inspect.selection import no_window
    from muntin.jobs.state.state_folders import bind_existing

    if window not in pipeline.windows:
        raise no_window(pipeline, window)
    columns = pipeline.keys_of(window)
    asked = by_column(columns, keys or ())
    bind_existing(pipeline, root)
    table = read(
        pipeline, window, root=root, provisional=provisional, start=low, end=high, changes_since=changes_since
    )
    chosen = table
    for column, values in asked.items():
        chosen = chosen.filter(_matches(chosen[column], column, values))
    if any(absent(table, column, values) for column, values in asked.items()):
        narrow = low or high or changes_since is not None
        all_keys = (
            read(pipeline, window, root=root, provisional=provisional, columns=[*columns])
            if narrow
            else table
        )
        check_keys(all_keys, asked, f"window of {window!r}")
    return chosen


def one_key(columns: Sequence[str], keys: Sequence[str]) -> list[str | None]:
    """One value for each key column, in their order; None for an empty one.

    A column with several values is refused.
    """
    asked = by_column(columns, keys)
    for column in columns:
        if len(asked.get(column, ())) != 1:
            raise DefinitionError(f"--key: give one value for {column}, as --key {column}=VALUE")
    return [asked[column][0] or None for column in columns]


def key_hint(pipeline: "Pipeline", window: str, root: "AnyPath", key: Sequence[str | None]) -> str:
    """A hint on keys where no published window has a value of a key; "" where each key has a window."""
    from muntin.jobs.inspect.read import read

    columns = pipeline.keys_of(window)
    table = read(pipeline, window, root=root, columns=[*columns])
    try:
        check_keys(
            table,
            {name: [value or ""] for name, value in zip(columns, key, strict=True)},
            f"window of {window!r}",
        )
    except NoSuchKeyError as wrong:
        return f"; {wrong}"
    return ""


def by_column(columns: Sequence[str], keys: Sequence[str]) -> dict[str, list[str]]:
    """Key column -> values, of "NAME=VALUE" or "VALUE"."""
    asked: dict[str, list[str]] = {}
    for text in keys:
        column, given, value = text.partition("=")
        if not given and len(columns) == 1:
            column, value = columns[0], text
        if column not in columns:
            there = f"there are {', '.join(columns)}; write --key NAME=VALUE" if columns else "there are none"
            raise DefinitionError(
                f"--key {text}: no key column {column!r}; {there}{did_you_mean(column, columns)}"
            )
        asked.setdefault(column, []).append(value)
    return asked


def _matches(column: "pa.ChunkedArray", name: str, values: Sequence[str]) -> "pa.ChunkedArray":
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_null(column.type):  # of no window
        return pa.chunked_array([pa.array([False] * len(column), pa.bool_())])
    named = [value for value in values if value or pa.types.is_string(column.type)]
    try:
        wanted = pa.array(named, pa.string()).cast(column.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise DefinitionError(
            f"--key {name}: {', '.join(values)} cannot be read as {column.type}, which that column is"
        ) from None
    matches = pc.is_in(column, value_set=wanted)
    return pc.or_(matches, pc.is_null(column)) if "" in values else matches


_log = logging.getLogger("muntin")
_COMPARED, _SHOWN = 2_000, 5  # keys


class NoSuchKeyError(StateError):
    """No window has the key that was asked for."""


def check_keys(table: "pa.Table", asked: Mapping[str, Sequence[str]], holder: str) -> None:
    """Refuse a key that no window has, and name similar keys; warn of the values of a column that no window
    has.

    `asked`: key column -> values as texts, "" is null; `holder`: what has keys, as "window of 'day'".
    """
    for column, values in asked.items():
        absent_values = absent(table, column, values)
        warnings = [
            f"--key {column}: no {holder} has {value!r}{_instead(table, column, value)}"
            for value in absent_values
        ]
        if warnings and len(absent_values) == len(values):
            raise NoSuchKeyError(warnings[0])
        for each in warnings:
            _log.warning("%s", each)


def absent(table: "pa.Table", column: str, values: Sequence[str]) -> list[str]:
    """The values that no row of a table has in a column."""
    import pyarrow as pa
    import pyarrow.compute as pc

    named = [value for value in values if value]
    if pa.types.is_null(table[column].type):
        return named
    wanted = pa.array(named, pa.string()).cast(table[column].type)
    there = pc.is_in(wanted, value_set=table[column].combine_chunks()).to_pylist()
    return [value for value, is_present in zip(named, there, strict=True) if not is_present]


def _instead(table: "pa.Table", column: str, value: str) -> str:
    """The keys that exist, and the keys similar to a value; of very many texts only keys with the same first
    letter are compared.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    keys = pc.unique(table[column]).drop_null()
    if not len(keys):
        return ", nor any other key: none is published yet"
    few = len(keys) <= _COMPARED or not pa.types.is_string(keys.type)
    like = keys if few else keys.filter(pc.starts_with(keys, value[:1], ignore_case=True))
    names = [str(plain(each)) for each in like.slice(0, _COMPARED).to_pylist()]
    parts = value.split(",")
    if len(parts) > 1 and {*parts} <= {*names}:
        return f"; of several keys say each, as {' '.join(f'--key {part}' for part in parts)}"
    shown = [str(plain(each)) for each in keys.slice(0, _SHOWN).to_pylist()]
    return (
        f"; there are {', '.join(shown)}{', ...' if len(keys) > _SHOWN else ''}{did_you_mean(value, names)}"
    )
