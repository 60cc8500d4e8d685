"""Rows that a source delivers twice in a batch: the first to arrive counts, by the columns that `dedupe` names.

arrival     1   2   3   4   5          1, 3 and 4 are one event; of nulls nobody knows whether they are
id          a   b   a   a   null
counts      x   x           x
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from muntin.definition.durations import DAY_US, Duration, positive, spell
from muntin.errors import DefinitionError
from muntin.states.columns import IDENTITY, ORDINAL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muntin.sources.reading.taken_times import Taken


LONGEST_US = 366 * DAY_US
"""The longest `dedupe_within`."""


def checked_dedupe(dedupe: Any) -> tuple[str, ...]:  # noqa: ANN401 - whatever the user gave
    """The columns that tell events apart; () where rows are not compared.

    Raises:
        DefinitionError: it is neither the name of a column nor a list of names.
    """
    names = (dedupe,) if isinstance(dedupe, str) else tuple(dedupe) if isinstance(dedupe, list | tuple) else ()
    if dedupe is not None and (not names or not all(isinstance(name, str) and name for name in names)):
        raise DefinitionError(f'dedupe: {dedupe!r} is no column; write "event_id", or ["device", "number"] for several columns together')
    return names


def checked_within(within: Duration | None, dedupe: tuple[str, ...]) -> int | None:
    """How far the event times of duplicates in two batches may lie apart, microseconds; None where batches are not compared.

    Args:
        within: as the user gave it.
        dedupe: the columns that tell events apart.

    Raises:
        DefinitionError: it is no duration, not positive, longer than a leap year, or `dedupe` names no column.
    """
    if within is None:
        return None
    within_us = positive(within, "dedupe_within")
    if not dedupe:
        raise DefinitionError('dedupe_within needs dedupe, which names the columns that tell events apart, as dedupe="event_id"')
    if within_us > LONGEST_US:
        raise DefinitionError(
            f"dedupe_within: {within!r} is longer than {spell(LONGEST_US)}: each batch is compared with the ids of all batches in this "
            f"time. Give the time in which a writer may deliver an event again"
        )
    return within_us


def identity(columns: Sequence[str]) -> str:
    """SQL for what equal rows have in common, null where one of the columns is. `columns`: quoted."""
    if len(columns) == 1:
        return columns[0]
    return f"CASE WHEN {' AND '.join(f'{name} IS NOT NULL' for name in columns)} THEN row({', '.join(columns)}) END"


def once(rows: str, times: Taken, *, last: bool = False) -> str:
    """SQL for the rows without rows that repeat an earlier row. Only rows whose time is taken are compared.

    `rows`: a relation with `IDENTITY`, `ORDINAL` and event times. `last`: whether the last of rows that are alike counts.
    """
    taken = f"coalesce({times.condition}, false)"
    return (
        f"SELECT * FROM {rows} QUALIFY {IDENTITY} IS NULL OR NOT {taken} "
        f"OR row_number() OVER (PARTITION BY {IDENTITY}, {taken} ORDER BY {ORDINAL}{' DESC' if last else ''}) = 1"
    )
