"""The table of a sink as it is in a database: whether it is still the table that was filled."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from muntin.definition.spelling import many

if TYPE_CHECKING:
    from collections.abc import Mapping

COUNTED = 100_000
"""Rows that are counted at most, so that the question stays cheap."""


@dataclass(frozen=True, slots=True)
class Target:
    """A table.

    Attributes:
        oid: what tells it from another table of the same name.
        columns: their types, as the catalog of the database spells them.
        rows: how many there are, `COUNTED` at most.
    """

    oid: int | str
    columns: Mapping[str, str]
    rows: int

    def noted(self, given: Mapping[str, str]) -> str:
        """The table as text for the ledger: the columns that are ours, each with its type and the type that
        the windows have.
        """
        columns = {name: [self.columns[name], kind] for name, kind in given.items()}
        return json.dumps({"oid": self.oid, "rows": self.rows, "columns": columns})


def is_same(noted: str, now: Target) -> bool:
    """Whether a table is the one that was noted, whatever became of its rows and columns."""
    return bool(noted) and json.loads(noted)["oid"] == now.oid


def lost_since(noted: str, now: Target | None, table: str) -> str:
    """Why a table does not hold any more what it held when it was noted; "": it does, as far as its rows and
    columns tell.
    """
    if now is None:
        return f"table {table} was dropped"
    before: dict[str, Any] = json.loads(noted)
    if before["oid"] != now.oid:
        return f"table {table} was made again"
    for name, (kind, _) in before["columns"].items():
        if (there := now.columns.get(name)) != kind:
            return f"column {name} of table {table} was {kind}, and is {there or 'gone'}"
    return (
        f"table {table} has {now.rows:,} of {many(before['rows'], 'row')}"
        if now.rows < before["rows"]
        else ""
    )
