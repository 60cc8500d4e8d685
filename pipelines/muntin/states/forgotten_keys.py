"""Forgotten keys: which rows of a table, and which refused rows, are of a key that is to be forgotten, or
was. Pure.

A pipeline remembers a forgotten key by a keyed hash alone: HMAC (RFC 2104) with SHA-256 over the names and
texts of its columns. Who has the states but not the secret cannot find out whose key it was by trying all
keys. A refused row is kept as JSON, or, if it could not be read, as the text of its line.
"""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from functools import reduce
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.definition.instants import AFTER_ALL, BEFORE_ALL
from muntin.states.frames import Ints
from muntin.states.keys import codes_of

Key = tuple[tuple[str, str], ...]
"""The columns of a key, ascending, each with its value as text."""
Columns = tuple[str, ...]
_CACHED = 1_000_000
UNDONE = BEFORE_ALL + 1
"""An event time before all: every row of a key counts again."""


class Keys(Protocol):
    """Keys that are asked for."""

    @property
    def columns(self) -> Sequence[Columns]:
        """The sets of columns that keys are given by."""

    def until_us(self, key: Key) -> int | None:
        """The event time in microseconds from which rows of a key count again; None: not among the keys."""


@dataclass(frozen=True, slots=True)
class Plain:
    """Keys by their values."""

    keys: frozenset[Key]

    @property
    def columns(self) -> Sequence[Columns]:
        return sorted({tuple(name for name, _ in key) for key in self.keys})

    def until_us(self, key: Key) -> int | None:
        return AFTER_ALL if key in self.keys else None

    @property
    def texts(self) -> frozenset[str]:
        """The values of all columns, as texts."""
        return frozenset(text for key in self.keys for _, text in key)


@dataclass(frozen=True, slots=True)
class Hashed:
    """Keys by their hashes.

    Attributes:
        untils: columns -> hash of a key -> the event time from which its rows count again, microseconds;
            `AFTER_ALL`: they never do; `UNDONE`: all do.
        secrets: oldest first; see `hash_of`.
        number: of the newest event that changed `untils`.
    """

    untils: Mapping[Columns, Mapping[str, int]]
    secrets: tuple[bytes, ...] = field(repr=False)
    number: int = 0
    _times: dict[Key, int | None] = field(default_factory=dict, repr=False, compare=False)

    @property
    def columns(self) -> Sequence[Columns]:
        return sorted(self.untils)

    def until_us(self, key: Key) -> int | None:
        if key not in self._times:
            if len(self._times) >= _CACHED:
                self._times.clear()
            self._times[key] = self.untils[tuple(name for name, _ in key)].get(hash_of(key, self.secrets))
        return self._times[key]

    def __bool__(self) -> bool:
        return bool(self.untils)

    def has_more_than(self, before: Hashed) -> bool:
        """Whether keys were forgotten since."""
        untils = (
            (before.untils.get(columns, {}).get(name, UNDONE), until)
            for columns, names in self.untils.items()
            for name, until in names.items()
        )
        return any(until > was for was, until in untils)


NONE = Hashed({}, ())


def hash_of(key: Key, secrets: Iterable[bytes]) -> str:
    """The hash of a key with the first secret, hashed again with each secret that came later: so old hashes
    can be renewed.

    >>> hash_of((("user", "42"),), [b"one", b"two"]) == again(hash_of((("user", "42"),), [b"one"]), b"two")
    True
    """
    first, *later = secrets
    return reduce(again, later, hmac.digest(first, json.dumps(key).encode(), "sha256").hex())


def again(name: str, secret: bytes) -> str:
    """The hash of a hash, with one more secret."""
    return hmac.digest(secret, name.encode(), "sha256").hex()


def key_of(values: Mapping[str, Any]) -> Key:
    """A key from its values.

    >>> key_of({"user": 42, "page": "a"})
    (('page', 'a'), ('user', '42'))
    """
    return tuple((name, text_of_value(values[name])) for name in sorted(values))


def text_of_value(value: Any) -> str:  # noqa: ANN401 - of any type that a key may have
    """The text of a value, the same in every type that a column of keys may be widened to.

    >>> text_of_value(42), text_of_value(42.0), text_of_value(Decimal("42.50")), text_of_value("042")
    ('42', '42', '42.5', '042')
    """
    if isinstance(value, float) and value == value // 1:
        return str(int(value))
    if isinstance(value, Decimal):
        return format(value.normalize(), "f")
    return value.hex() if isinstance(value, bytes) else str(value)


def among(table: pa.Table, keys: Keys) -> np.ndarray:
    """Whether each row's key is among keys whose rows never count again (bool)."""
    return untils(table, keys) == AFTER_ALL


def untils(table: pa.Table, keys: Keys) -> Ints:
    """The event time from which each row's key counts again, microseconds; `AFTER_ALL`: never; `BEFORE_ALL`
    of other keys.

    `table`: with columns of keys. Sets of columns that it lacks say nothing.
    """
    until_us = np.full(len(table), BEFORE_ALL)
    for columns in keys.columns:
        if {*columns} <= {*table.column_names} and len(table):
            rows = table.select(list(columns))
            at = _candidates(rows, keys)
            codes, until = _untils(rows.take(pa.array(at)), columns, keys)
            until_us[at] = np.maximum(until_us[at], until[codes])
    return until_us


def _candidates(rows: pa.Table, keys: Keys) -> Ints:
    """The numbers of the rows that may be of forgotten keys: all rows, where values are hashed."""
    if not isinstance(keys, Plain):
        return np.arange(len(rows))
    may = np.ones(len(rows), np.bool_)
    for name in rows.column_names:
        kind = rows.schema.field(name).type
        texts = pa.array({text for key in keys.keys for column, text in key if column == name}, pa.string())
        if pa.types.is_string(kind) or pa.types.is_integer(
            kind
        ):  # of other types a value may be written in several ways
            with suppress(pa.ArrowInvalid):  # a value is none of this type
                may &= pc.is_in(rows[name], texts.cast(kind)).to_numpy()
    return np.flatnonzero(may)


def _untils(table: pa.Table, columns: Columns, keys: Keys) -> tuple[Ints, Ints]:
    """The number of each row's key, and by number until when its rows are forgotten."""
    _, firsts, codes = np.unique(
        codes_of(table, columns),
        return_index=True,
        return_inverse=True,
    )
    untils = (
        None if None in row.values() else keys.until_us(key_of(row))
        for row in table.take(pa.array(firsts)).to_pylist()
    )
    return codes, np.array([BEFORE_ALL if until is None else until for until in untils], np.int64)


_CELL = re.compile(r"""[^,;|\t"']+""")
_WORD = re.compile(r"[\w.@+-]+")


def refused_among(rows: Sequence[str | None], keys: Keys) -> np.ndarray:
    """Whether each refused row is of a forgotten key, or its unread line has the key's value (bool).

    >>> rows = ['{"user": 42, "x": null}', "42,not a time", "421,not a time", None]
    >>> refused_among(rows, Plain(frozenset({(("user", "42"),)})))
    array([ True,  True, False, False])
    """
    return np.array([row is not None and _is_among(row, keys) for row in rows], np.bool_)


def _is_among(row: str, keys: Keys) -> bool:
    try:
        values = json.loads(row, parse_float=Decimal)
    except ValueError:
        values = None
    if not isinstance(values, dict):
        return stands_in(row, keys)
    wanted = ({name: values.get(name) for name in columns} for columns in keys.columns)
    return any(None not in each.values() and _is_forgotten(key_of(each), keys) for each in wanted)


def _is_forgotten(key: Key, keys: Keys) -> bool:
    """Whether rows of a key are left out at any time: the time of a refused row is not known."""
    until = keys.until_us(key)
    return until is not None and until > UNDONE


def stands_in(text: str, keys: Keys) -> bool:
    """Whether the values of a key stand in a text as whole words; by hashes, of single columns alone."""
    if isinstance(keys, Plain):
        return any(all(word_of(value).search(text) for _, value in key) for key in keys.keys)
    single = [columns for columns in keys.columns if len(columns) == 1]
    parts = [part.strip() for pattern in (_WORD, _CELL) for part in pattern.findall(text)]
    return any(_is_forgotten(((name, part),), keys) for (name,) in single for part in parts)


def word_of(value: str) -> re.Pattern[str]:
    """The pattern of a value as a whole word; a number is none within a time, a date or a fraction.

    >>> [bool(word_of("42").search(text)) for text in ("user 42.", "a,42,b", "10:42", "0.42", "2042")]
    [True, True, False, False, False]
    """
    if value.isdigit():
        return re.compile(rf"(?<![\w.:/+-]){value}(?![\w:/+-]|\.\d)")
    return re.compile(rf"(?<!\w){re.escape(value)}(?!\w)")
