"""The fields of a table that knows them by number, as Iceberg does, in its files of Parquet.

table     1: a-b        2: total       3: s {4: c.d}
a file    1: a_x2Db     2: amount      3: s {4: c_x2Ed}        the total was called amount when the file was
written

Writers give a column another name where Avro has no such name, and a field that is renamed has its old name
in older files. So no column is looked for by its name, but in files without numbers, as files that a table
took over: the table says by which names it knows their columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from muntin.errors import SourceError
from muntin.sources.sessions.fetched_files import footer_of

_NUMBER = b"PARQUET:field_id"


class NumberedField(NamedTuple):
    """A field of a table.

    Attributes:
        number: what the table knows it by; -1: it is known by `names` alone.
        name: its name in the table now.
        names: its names in files without numbers.
        inner: of a struct the members, of a list the element, of a map the key and the value.
    """

    number: int
    name: str
    names: tuple[str, ...] = ()
    inner: tuple[NumberedField, ...] = ()


@lru_cache(maxsize=4096)
def selected(fields: tuple[NumberedField, ...], path: str) -> tuple[tuple[str, str], ...]:
    """The columns of the table in a file:

    SQL for each, and its name in the table; () where all have the names that the table has.
    """
    try:
        schema = pq.read_schema(footer_of(path))
    except (OSError, pa.ArrowException) as wrong:
        raise SourceError(
            f"{path}: nobody can tell which columns of the table it has ({wrong}); bring it back, or"
            " rewrite it"
        ) from wrong
    own = [*schema]
    if not (pairs := [*_pairs(fields, own, path)]) and own:
        raise SourceError(
            f"{path}: nobody can tell which columns of the table it has: it has {', '.join(schema.names)},"
            " without the numbers of fields, and the table knows none of these names"
            " (schema.name-mapping.default); rewrite the file, or let the table know its names"
        )
    return (
        ()
        if _same(fields, own, path)
        else tuple((_value(_quoted(there.name), each, there, path), each.name) for each, there in pairs)
    )


def _pairs(
    fields: Sequence[NumberedField], own: Sequence[pa.Field], path: str
) -> Iterator[tuple[NumberedField, pa.Field]]:
    """The fields that a file has, each with its column or member there."""
    small = [each.name.lower() for each in own]
    numbers = {
        int(each.metadata[_NUMBER]): each for each in own if each.metadata and _NUMBER in each.metadata
    }
    names = {each.name: each for each in own}
    for field in fields:
        old_names = () if numbers and field.number >= 0 else field.names
        there = numbers.get(field.number) or next((names[name] for name in old_names if name in names), None)
        if there is None:
            continue
        if small.count(there.name.lower()) > 1:
            raise SourceError(
                f"{path}: {there.name!r}, which is {field.name!r} in the table, has the name of another"
                " column or member of the file; rename one of them in the table, and rewrite the file"
                " (rewrite_data_files)"
            )
        yield field, there


def _same(fields: Sequence[NumberedField], own: Sequence[pa.Field], path: str) -> bool:
    """Whether each column or member has the name of its field, and no name is of another."""
    pairs = [*_pairs(fields, own, path)]
    names_in_file = {there.name for _, there in pairs}
    lower_names = {field.name.lower() for field in fields}
    if any(each.name not in names_in_file and each.name.lower() in lower_names for each in own):
        return False
    return all(field.name == there.name and _same_inside(field, there, path) for field, there in pairs)


def _same_inside(field: NumberedField, there: pa.Field, path: str) -> bool:
    kind = there.type
    if pa.types.is_struct(kind):
        return _same(field.inner, [*kind], path)
    return all(_same_inside(each, part, path) for each, part in zip(field.inner, _parts(kind), strict=False))


def _parts(kind: pa.DataType) -> list[pa.Field]:
    """The element of a list, or the key and the value of a map."""
    if pa.types.is_map(kind):
        return [kind.key_field, kind.item_field]
    return [kind.value_field] if pa.types.is_list(kind) or pa.types.is_large_list(kind) else []


def _value(value: str, field: NumberedField, there: pa.Field, path: str, depth: int = 0) -> str:
    """SQL for a value with the members that the table has.

    `value`: SQL for it in the file; `depth`: in how many lists it lies.
    """
    kind, one = there.type, f"muntin_{depth}"
    if _same_inside(field, there, path):
        return value
    if pa.types.is_struct(kind):
        members = (
            (each, _value(f"({value}).{_quoted(own.name)}", each, own, path, depth))
            for each, own in _pairs(field.inner, [*kind], path)
        )
        packed = ", ".join(f"{_quoted(each.name)} := {sql}" for each, sql in members)
        return f"CASE WHEN {value} IS NOT NULL THEN struct_pack({packed}) END"
    within = [*zip(field.inner, _parts(kind), strict=False)]
    if pa.types.is_map(kind):
        key, of = (
            _value(f"{one}.{part}", *each, path, depth + 1)
            for part, each in zip(("key", "value"), within, strict=True)
        )
        return (
            f"map_from_entries(list_transform(map_entries({value}), lambda {one}: struct_pack(key := {key},"
            f" value := {of})))"
        )
    return f"list_transform({value}, lambda {one}: {_value(one, *within[0], path, depth + 1)})"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
