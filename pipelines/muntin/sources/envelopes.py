"""Messages of Debezium as rows: the row that a change is about, and beside its columns what the change is.

{"before": null, "after": {"id": 7, "x": 1.50}, "op": "c", "ts_ms": 17}        a row is brought
    {"id": 7, "x": 1.50, "after": {"id": 7, "x": 1.50}, "__op": "c", "__ts_ms": 17}
{"schema": {...}, "payload": {"before": {"id": 7}, "after": null, "op": "d"}}  it is deleted
    {"id": 7, "after": {"id": 7}, "__op": "d"}                               its row is `before`
{"id": 7, "x": 1.50, "__deleted": "true"}                                    by ExtractNewRecordState
    {"id": 7, "x": 1.50, "__deleted": "true", "__op": "d"}
null                                                                         the tombstone behind a delete
    {"__op": "tombstone"}

Values stay as they are written, so that numbers keep their digits. Files are of JSON lines, or of Avro.
https://debezium.io/documentation/reference/stable/transformations/event-flattening.html
"""

from __future__ import annotations

import base64
import io
import json
import re
from dataclasses import replace
from datetime import date, datetime, time
from decimal import Decimal
from json.decoder import scanstring  # type: ignore[attr-defined]  # which typeshed leaves out
from typing import TYPE_CHECKING
from uuid import UUID

from muntin.definition.extras import need
from muntin.errors import DefinitionError
from muntin.sources.repeated_rows import TOMBSTONE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from muntin.sources.repeated_rows import Events
    from muntin.sources.time_arguments import At

OPERATION = "__op"
_ROW = "after"
_BESIDE = {"ts_ms": "__ts_ms", "source": "__source"}
OF_AVRO = b"Obj\x01"
"""The beginning of a container file."""
_GONE = f'{{"{OPERATION}": "{TOMBSTONE}"}}'
_BLANKS = re.compile(r"[ \t\r\n]*")
_value = json.JSONDecoder().raw_decode


def flattened(text: str) -> str:
    """A message as a row, as above; what is no message as it is, for readers to refuse."""
    try:
        members = _members(text)
        if "payload" in members and members.keys() <= {"schema", "payload"}:
            if members["payload"] == "null":
                return _GONE
            members = _members(members["payload"])
        if "op" not in members or not members.keys() & {"before", _ROW}:
            deleted = members.get("__deleted", "").strip('"') == "true"
            operation = '"d"' if deleted else members.get(OPERATION, '"c"')
            return _written(members | {OPERATION: operation})
        operation = members["op"]
        row = members.get("before" if operation == '"d"' else _ROW, "null")
        fields = {} if row == "null" else _members(row)
        beside = {name: members[of] for of, name in _BESIDE.items() if of in members}
        return _written({_ROW: row} | fields | {OPERATION: operation} | beside)
    except (ValueError, IndexError, RecursionError):
        return _GONE if text.strip() == "null" else text


def flattened_lines(parts: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a text in parts, each a message, as rows."""
    rest = b""
    for part in parts:
        *whole, rest = (rest + part).split(b"\n")
        if whole:
            yield b"".join(_line(line) + b"\n" for line in whole)
    if rest:
        yield _line(rest)


def messages_in_lines(content: bytes) -> Iterator[bytes]:
    """The messages of a container file of Avro, as lines."""
    need("fastavro")
    from fastavro import reader

    for record in reader(io.BytesIO(content)):
        yield in_json(record).encode() + b"\n"


def in_json(record: object) -> str:
    """A record of Avro or Protobuf as JSON."""
    return json.dumps(record, default=_plain, ensure_ascii=False)


def _plain(value: object) -> str:
    """A value that JSON has no word for, as a text that SQL reads."""
    match value:
        case datetime() | date() | time():
            return value.isoformat()
        case Decimal() | UUID():
            return str(value)
        case bytes():
            return base64.b64encode(value).decode()
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def _line(line: bytes) -> bytes:
    try:
        return flattened(line.decode()).encode() if line.strip() else line
    except UnicodeError:
        return line


def _members(text: str) -> dict[str, str]:
    """The members of an object, as they are written."""
    at, members = _behind(text, 0, "{"), dict[str, str]()
    while text[at] != "}":
        at = _behind(text, at, ",") if members else at
        name, at = scanstring(text, _behind(text, at, '"', blanks=False))
        begin = _behind(text, at, ":")
        _, at = _value(text, begin)
        if name in members:
            raise ValueError(name)
        members[name] = text[begin:at]
        at = _BLANKS.match(text, at).end()  # type: ignore[union-attr]  # it matches anything
    if text[at + 1 :].strip():
        raise ValueError(text)
    return members


def _behind(text: str, at: int, sign: str, *, blanks: bool = True) -> int:
    """The place behind a sign, with blanks around it."""
    at = _BLANKS.match(text, at).end()  # type: ignore[union-attr]  # as above
    if text[at] != sign:
        raise ValueError(text)
    return _BLANKS.match(text, at + 1).end() if blanks else at + 1  # type: ignore[union-attr]  # as above


def _written(members: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{json.dumps(name)}: {value}" for name, value in members.items()) + "}"


def column(name: str) -> str:
    """The column of a row for its name in the message.

    >>> column("after.id"), column("id")
    ('id', 'id')
    """
    return name.removeprefix(f"{_ROW}.")


def rows_of_changes(rows: Events | None) -> Events:
    """The way in which such rows become facts, by the operation in each row."""
    if rows is None or not rows.id:
        raise DefinitionError(
            "debezium: name the columns that identify a row which later messages change, as "
            'rows=sources.events(id="order_id", within="30d")'
        )
    return replace(
        rows,
        id=tuple(map(column, rows.id)),
        operation=OPERATION if rows.operation in (None, "op") else rows.operation,
        newest_by=rows.newest_by and column(rows.newest_by),
    )


def time_of_changes(time: At | None) -> At | None:
    """A time by the name of its column."""
    return time and replace(time, column=column(time.column))


def types_of_changes(types: Mapping[str, str] | None) -> dict[str, str]:
    """Types by the names of their columns."""
    return {column(name): kind for name, kind in (types or {}).items()}
