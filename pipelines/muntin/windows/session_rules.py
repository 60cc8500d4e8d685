"""The SQL of rules that rows of a session say themselves: their own gap, and the end of their session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.definition.durations import DAY_US
from muntin.definition.expressions import stem
from muntin.definition.plain_lifts import Plain
from muntin.states.columns import EVENT_TIME, LAST_EVENT
from muntin.windows.adjacent.rows import holds

if TYPE_CHECKING:
    from collections.abc import Mapping

LONGEST_US = 36_525 * DAY_US
"""A row with a longer gap is refused: a century."""


def reach_lift(gap_by: str, default_us: int) -> Mapping[str, str]:
    """The time until which the rows of a state reach, each by its own gap, in place of the time of its last event.

    A null stands for the default. What is no gap, as 0 or less, cannot be computed: such rows are refused.
    """
    text = f"({gap_by})::VARCHAR"  # for types: an expression has one of three, and each branch must fit all
    given = (
        f"CASE WHEN typeof({gap_by}) IN ('INTERVAL', 'VARCHAR') THEN epoch_us(({text})::INTERVAL) ELSE round(({text})::DOUBLE * 1e6) END"
    )
    refused = f"('gap_by is ' || {text})::BIGINT"
    own = f"WHEN ({given}) BETWEEN 1 AND {LONGEST_US} THEN ({given})::BIGINT ELSE {refused}"
    reach = f"{EVENT_TIME} + CASE WHEN ({gap_by}) IS NULL THEN {default_us} {own} END"
    return {LAST_EVENT: Plain(f"max({reach})", "greatest", reach)}


def until_lift(until: str) -> Mapping[str, str]:
    """Whether a row of a state ends its session."""
    return {until_column(until): holds(until)}


def until_column(until: str) -> str:
    """The column of states that says so."""
    return stem("until", until)
