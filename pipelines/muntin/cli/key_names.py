"""Keys that a command names and no window has: the error proposes similar keys."""

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from muntin.cli.output import plain
from muntin.definition.spelling import did_you_mean
from muntin.errors import StateError

if TYPE_CHECKING:
    import pyarrow as pa

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
