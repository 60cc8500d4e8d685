"""The promises of a contract, out of its document: tables, columns, keys, suites, times."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeGuard

from muntin.errors import DefinitionError
from muntin.quality.suite import SEVERITIES
from muntin.sources.sessions.single_expressions import check_type

ON_FAILURE = "on_failure"
"""The property of a table that tells what becomes of windows that fail a critical expectation; without it
they are held back.
"""
_MADE = "make one with: muntin check --contract FILE > contract.yaml"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table. `type`: in SQL; "" where it is not said. `says`: its description."""

    type: str = ""
    required: bool = False
    unit: str = ""
    says: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table: columns by name, keys in order, each expectation as a text, with the severity of its failure,
    and what follows from that.
    """

    columns: Mapping[str, Column]
    keys: tuple[str, ...]
    checks: Mapping[str, str]
    on_failure: str = "hold"


@dataclass(frozen=True, slots=True)
class Agreed:
    """The promises of a contract. `service`: property -> seconds, or the text of a schedule."""

    pipeline: str
    tables: Mapping[str, Table]
    service: Mapping[str, float | str] = field(default_factory=dict)


def read_contract(path: Path) -> Agreed:
    """The promises of the contract in a file."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as wrong:
        raise DefinitionError(f"{path}: {wrong.strerror or wrong}; {_MADE}") from wrong
    except (ValueError, RecursionError) as wrong:
        raise DefinitionError(
            f"{path}: it is no JSON, as `muntin check --contract` writes it ({wrong}); {_MADE}"
        ) from wrong
    return agreed(document, str(path))


def agreed(document: object, where: str) -> Agreed:
    """The promises of a document. `where`: names it in errors."""
    if (
        not isinstance(document, dict)
        or document.get("kind") != "DataContract"
        or not str(document.get("apiVersion")).startswith("v3.")
    ):
        raise DefinitionError(
            f'{where}: it is no data contract, with kind "DataContract" and an apiVersion as "v3.1.0";'
            f" {_MADE}"
        )
    if "schema" not in document:
        raise DefinitionError(f"{where}: it has no schema, so that it promises nothing; {_MADE}")
    tables = {name: _table(each, place) for name, each, place in _named(document, "schema", "name", where)}
    service = {
        name: each.get("value") for name, each, _ in _named(document, "slaProperties", "property", where)
    }
    return Agreed(
        str(document.get("id")), tables, {name: value for name, value in service.items() if _is_agreed(value)}
    )


def _is_agreed(value: object) -> TypeGuard[float | str]:
    return isinstance(value, str) or (isinstance(value, int | float) and math.isfinite(value))


def _named(
    document: Mapping[str, Any], part: str, name: str, where: str
) -> Iterator[tuple[str, dict[str, Any], str]]:
    """The parts of a document that have names: name, part, and the place of it for errors.

    Anything but a list of objects with this name in each is an error.
    """
    parts = document.get(part, [])
    if not isinstance(parts, list):
        raise DefinitionError(f"{where}: {part} is no list; {_MADE}")
    for at, each in enumerate(parts):
        if not isinstance(each, dict) or not isinstance(each.get(name), str):
            raise DefinitionError(f"{where}: {part}[{at}] is no object with a text as its {name}; {_MADE}")
        yield each[name], each, f"{where}: {each[name]}"


def _table(table: dict[str, Any], where: str) -> Table:
    parts = [*_named(table, "properties", "name", where)]
    positions = {
        name: each.get("primaryKeyPosition", 0) for name, each, _ in parts if each.get("primaryKey") is True
    }
    if not all(isinstance(at, int) for at in positions.values()):
        raise DefinitionError(f"{where}: a primaryKeyPosition is no whole number; {_MADE}")
    checks: dict[str, str] = {}
    for _, each, _place in _named(table, "quality", "type", where):
        implementation = each.get("implementation")
        if each.get("engine") == "great-expectations" and isinstance(implementation, dict):
            arguments = json.dumps(implementation.get("kwargs", {}), sort_keys=True, ensure_ascii=False)
            checks[f"{implementation.get('type')} {arguments}"] = _stronger(
                checks.get(f"{implementation.get('type')} {arguments}"), each.get("severity")
            )
    columns = {name: _column(each, place) for name, each, place in parts}
    keys = tuple(sorted(positions, key=positions.__getitem__))
    return Table(columns, keys, checks, _custom(table, ON_FAILURE, where) or "hold")


def _stronger(one: str | None, other: object) -> str:
    """The severity that counts where an expectation stands twice."""
    return min(
        (each for each in (one, other) if each in SEVERITIES), key=SEVERITIES.index, default="critical"
    )  # type: ignore[arg-type, type-var]


def _column(column: dict[str, Any], where: str) -> Column:
    kind = column.get("physicalType") or ""
    if kind:
        check_type(kind, f"{where}: physicalType")
    return Column(
        kind,
        column.get("required") is True,
        _custom(column, "unit", where),
        str(column.get("description", "")),
    )


def _custom(part: dict[str, Any], name: str, where: str) -> str:
    """The value of a property that the standard does not have; "" where it is not said."""
    texts = (
        each.get("value")
        for named, each, _ in _named(part, "customProperties", "property", where)
        if named == name
    )
    return next(map(str, texts), "")
