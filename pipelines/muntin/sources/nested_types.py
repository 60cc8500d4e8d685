"""Nested SQL types, taken apart: lists and structs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_MEMBER = re.compile(r'("(?:[^"]|"")*"|\w+) (.*)')


def is_nested(kind: str) -> bool:
    """Whether a SQL type holds other types: lists, structs, maps and unions.

    >>> is_nested("BIGINT[3]"), is_nested("DECIMAL(9,2)")
    (True, False)
    """
    return kind.endswith("]") or kind.startswith(("STRUCT(", "MAP(", "UNION(", "TUPLE("))


def members(kind: str) -> list[tuple[str, str]]:
    """Names and types of a struct's members: its type cut at the commas that are its own."""
    found, depth, quotes = [""], 0, False
    for letter in kind[len("STRUCT(") : -1]:
        quotes ^= letter == '"'
        depth += 0 if quotes else (letter == "(") - (letter == ")")
        if letter == "," and not depth and not quotes:
            found.append("")
        else:
            found[-1] += letter
    matches = (_MEMBER.fullmatch(member.strip()) for member in found)
    return [(each[1], each[2]) for each in matches if each]


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
        out += [(f"{name}.{inner}", struct([*here[:at], (name, rest), *here[at + 1 :]])) for inner, rest in deeper]
    return out


def struct(parts: Sequence[tuple[str, str]]) -> str:
    """The type of a struct with these members."""
    return "STRUCT(" + (", ".join(f"{name} {kind}" for name, kind in parts) or "muntin_none INTEGER") + ")"
