"""Nested SQL types, taken apart: lists, structs and maps."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

_MEMBER = re.compile(r'("(?:[^"]|"")*"|\w+) (.*)')
_LIST = re.compile(r"(.*)(\[\d*\])", re.DOTALL)


def is_nested(kind: str) -> bool:
    """Whether a SQL type holds other types: lists, structs, maps and unions.

    >>> is_nested("BIGINT[3]"), is_nested("DECIMAL(9,2)")
    (True, False)
    """
    return kind.endswith("]") or kind.upper().startswith(("STRUCT(", "MAP(", "UNION(", "TUPLE("))


def members(kind: str) -> list[tuple[str, str]]:
    """Names and types of a struct's members: its type cut at the commas that are its own."""
    matches = (_MEMBER.fullmatch(member.strip()) for member in _parts(kind[len("STRUCT(") : -1]))
    return [(each[1], each[2]) for each in matches if each]


def plain_name(name: str) -> str:
    """The name of a member, which a type may have in quotes."""
    return name[1:-1].replace('""', '"') if name[:1] == '"' else name


def element(kind: str) -> str | None:
    """The type of a list's elements; None of other types."""
    match = _LIST.fullmatch(kind)
    return match[1] if match else None


def map_types(kind: str) -> tuple[str, str]:
    """The types of a map's keys and of its values."""
    key, value = (part.strip() for part in _parts(kind[len("MAP(") : -1]))
    return key, value


def _parts(text: str) -> list[str]:
    """A text cut at the commas outside of brackets and quotes."""
    parts, depth, quotes = [""], 0, False
    for letter in text:
        quotes ^= letter == '"'
        depth += 0 if quotes else (letter == "(") - (letter == ")")
        if letter == "," and not depth and not quotes:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def of_leaves(kind: str, change: Callable[[str], str]) -> str:
    """A type with other types in place of the types that hold no other.

    >>> of_leaves("STRUCT(a DATE, b BIGINT[])", lambda leaf: "VARCHAR")
    'STRUCT(a VARCHAR, b VARCHAR[])'
    """
    if match := _LIST.fullmatch(kind):
        return of_leaves(match[1], change) + match[2]
    if kind.upper().startswith("STRUCT("):
        return struct([(name, of_leaves(member, change)) for name, member in members(kind)])
    if kind.upper().startswith("MAP("):
        return f"MAP({', '.join(of_leaves(part.strip(), change) for part in _parts(kind[len('MAP(') : -1]))})"
    return change(kind)


def leaves(kind: str) -> list[str]:
    """The types inside of a type that hold no other; of a plain type itself."""
    leaf_types = list[str]()
    of_leaves(kind, lambda leaf: leaf_types.append(leaf) or leaf)  # type: ignore[func-returns-value]
    return leaf_types


def inside(value: str, kind: str, change: Callable[[str, str], str], depth: int = 0) -> str:
    """SQL for a value of a nested type with other values in place of the values without inner values.

    `change` gives the SQL for a value without inner values, from its SQL and its type; `depth`: in how many
    lists it lies.

    >>> inside("x", "STRUCT(b DATE[])", lambda value, kind: f"f({value})")
    'CASE WHEN x IS NOT NULL THEN struct_pack(b := list_transform((x).b, lambda muntin_0: f(muntin_0))) END'
    """
    one = f"muntin_{depth}"
    if match := _LIST.fullmatch(kind):
        return f"list_transform({value}, lambda {one}: {inside(one, match[1], change, depth + 1)})"
    if kind.upper().startswith("STRUCT("):
        packed = ", ".join(
            f"{name} := {inside(f'({value}).{name}', member, change, depth)}"
            for name, member in members(kind)
        )
        return f"CASE WHEN {value} IS NOT NULL THEN struct_pack({packed}) END"
    if kind.upper().startswith("MAP("):
        key, of = map_types(kind)
        pair = (
            f"key := {inside(f'{one}.key', key, change, depth + 1)}, value :="
            f" {inside(f'{one}.value', of, change, depth + 1)}"
        )
        return f"map_from_entries(list_transform(map_entries({value}), lambda {one}: struct_pack({pair})))"
    return change(value, kind)


def lacking(kind: str, other: str) -> list[tuple[str, str]]:
    """The members of structs in a type that another type lacks, each with the type that is left without it.

    >>> lacking("STRUCT(a BIGINT, b BIGINT)[]", "STRUCT(a DOUBLE)[]")
    [('b', 'STRUCT(a BIGINT)[]')]
    """
    if kind.endswith("[]") and other.endswith("[]"):
        return [(name, f"{rest}[]") for name, rest in lacking(kind[:-2], other[:-2])]
    if not (kind.startswith("STRUCT(") and other.startswith("STRUCT(")):
        return []
    here, there, out = members(kind), {name.lower(): member for name, member in members(other)}, []
    for at, (name, member) in enumerate(here):
        if name.lower() not in there:
            out.append((name, struct([*here[:at], *here[at + 1 :]])))
            continue
        deeper = lacking(member, there[name.lower()])
        out += [
            (f"{name}.{inner}", struct([*here[:at], (name, rest), *here[at + 1 :]])) for inner, rest in deeper
        ]
    return out


def struct(parts: Sequence[tuple[str, str]]) -> str:
    """The type of a struct with these members."""
    return "STRUCT(" + (", ".join(f"{name} {kind}" for name, kind in parts) or "muntin_none INTEGER") + ")"
