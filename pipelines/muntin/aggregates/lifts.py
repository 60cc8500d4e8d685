"""Lifts fill columns of states: SQL aggregates, or small trees that `sources.lift_sql` writes as SQL."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Elements:
    """Each row becomes one row for each element of its list columns.

    Attributes:
        columns: the list columns, as SQL. In the new rows, such a column holds one element; null where its
            list is too short.
        place: the name of a new column: the position in the lists, from 1.
    """

    columns: tuple[str, ...]
    place: str


@dataclass(frozen=True, slots=True)
class PerGroup:
    """A list of structs, one for each group of a state's rows, sorted by group.

    Attributes:
        group: a SQL expression. Rows in which it is null are left out.
        lifts: what the struct holds in addition to the group.
        elements: what becomes of the rows before they are grouped; None: nothing.
    """

    group: str
    lifts: tuple[Lift, ...]
    elements: Elements | None = None


@dataclass(frozen=True, slots=True)
class Narrowed:
    """A lift over the rows for which the SQL condition `where` is true."""

    lift: str | PerGroup
    where: str


@dataclass(frozen=True, slots=True)
class OfNothing:
    """The result of a lift over no rows. `rows`: a SQL relation without rows, with the lift's columns."""

    lift: str | PerGroup | Narrowed
    rows: str


@dataclass(frozen=True, slots=True)
class OfElement:
    """A SQL expression over the rows that `elements` makes of a row of the source."""

    of: Expression
    elements: Elements


Lift = str | PerGroup | Narrowed | OfNothing
Expression = str | OfElement


def depth(lift: Lift) -> int:
    """How many `Elements` are nested in a lift.

    >>> depth(PerGroup("place", ("max(x)",), Elements(("x",), "place")))
    1
    """
    if isinstance(lift, Narrowed | OfNothing):
        return depth(lift.lift)
    if isinstance(lift, PerGroup):
        return (lift.elements is not None) + max(map(depth, lift.lifts))
    return 0
