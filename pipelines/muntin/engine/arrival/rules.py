"""Rules of windows by arrival, for the engine: numbers, flags, and names of the columns to read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Measure:
    """How much a window takes before it is full, or between two results. Of a sliding window exactly one
    measure is set.

    Attributes:
        rows: so many rows; 0: any number.
        time_us: so much arrival time; 0: any.
        difference: by so much a value may grow; None: by any.
        column: of the states: the value that `difference` is about.
        absolute: whether a fall counts as well.
    """

    rows: int = 0
    time_us: int = 0
    difference: float | None = None
    column: str = ""
    absolute: bool = False


@dataclass(frozen=True, slots=True)
class Rules:
    """When windows by arrival end, or fire.

    Attributes:
        evict: when a tumbling window is full, or which rows leave a sliding window.
        trigger: when a sliding window gives a result; None: the window tumbles.
        following: an expression over a window's results: the difference for the next window of the partition.
            "": `evict` says it.
        marker: a column of booleans: rows that end the windows of all partitions and belong to none. "": no
            row does.
        ends_with: what ends every window, too.
        incomplete: whether a sliding window gives results before it was full for the first time.
        flush: whether what is open after the last batch gives a result.
        dense: whether empty windows by time come out between two that are not empty.
        age_us: a partition is dropped when no row came for longer; 0: never.
        emit: whether a dropped partition gives a last result.
        most_partitions, most_rows: how many are kept of all partitions together; -1: all.
        groups: result column -> column of the states; a window gives a row for each value.
    """

    evict: Measure
    trigger: Measure | None = None
    following: str = ""
    marker: str = ""
    ends_with: Literal["", "file", "batch"] = ""
    incomplete: bool = False
    flush: bool = False
    dense: bool = False
    age_us: int = 0
    emit: bool = False
    most_partitions: int = -1
    most_rows: int = -1
    groups: tuple[tuple[str, str], ...] = ()

    @property
    def ends_by_rows_alone(self) -> bool:
        """Whether a tumbling window ends by the rows that it holds, and by no other event."""
        others = self.evict.time_us or self.marker or self.ends_with or self.age_us
        return not others and self.most_partitions < 0 and self.most_rows < 0
