"""Policies of arrival windows (IBM Streams SPL): what fills a window, evicts rows, triggers results."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from muntin.definition.durations import Duration, not_negative, positive
from muntin.definition.expressions import expression
from muntin.errors import DefinitionError

BORDERS = ("file", "batch", "upstream")


@dataclass(frozen=True, slots=True)
class Count:
    """A number of rows; or, whichever comes first, the next border of `or_time_us`."""

    rows: int
    or_time_us: int = 0


@dataclass(frozen=True, slots=True)
class Time:
    """A stretch of arrival time, counted from the pipeline's start."""

    size_us: int


@dataclass(frozen=True, slots=True)
class Delta:
    """A value that has grown by more than `size` since the oldest row.

    Attributes:
        of: the value, a SQL expression.
        size: by how much it may grow; if `following` is given, in the first window of a partition.
        absolute: whether a fall counts as well.
        in_time: whether the value is an instant and the size microseconds.
        following: a SQL expression over a window's results: by how much the value may grow in the next
            window.
    """

    of: str
    size: float
    absolute: bool = False
    in_time: bool = False
    following: str = ""


@dataclass(frozen=True, slots=True)
class Punctuation:
    """A marker between rows: rows that a SQL condition is true of, or the end of each file or batch."""

    at: str


@dataclass(frozen=True, slots=True)
class Keep:
    """How much of partitions is kept: partitions used least recently are dropped, `emit`: after a last
    result.

    `age_us` 0, `count` -1, `rows` -1: no such limit.
    """

    age_us: int = 0
    emit: bool = False
    count: int = -1
    rows: int = -1

    @property
    def together(self) -> bool:
        """Whether what happens in one partition may drop another."""
        return self.count >= 0 or self.rows >= 0


Policy = Count | Time | Delta | Punctuation


def by_count(n: int, *, or_time: Duration | None = None) -> Count:
    """For `arrival`: a window has `n` rows, the nth included. `or_time`: or ends at the next border of that
    length, whichever comes first.

    Raises:
        DefinitionError: a count that is not a positive whole number.
    """
    if n == 0 and not isinstance(n, bool):
        raise DefinitionError(
            "by_count(0): in SPL such a window never holds anything and such a trigger never fires, so "
            "nothing would ever come out; "
            "give 1 or more. For SPL's one-sided join with count(0) look the rows up in the source instead"
        )
    if not isinstance(n, int) or isinstance(n, bool) or n < 0:
        raise DefinitionError(f"by_count: {n!r} is not a number of rows; give 1 or more")
    return Count(n, positive(or_time, "or_time") if or_time is not None else 0)


def by_time(size: Duration) -> Time:
    """For `arrival`: a window lasts `size` of arrival time, a column that `arrival_time` of the source names.

    Raises:
        DefinitionError: a size that is not positive.
    """
    return Time(positive(size, "by_time"))


def by_delta(
    of: str, size: float | str | timedelta, *, absolute: bool = False, first: float | None = None
) -> Delta:
    """For `arrival`: a window ends when `of` has grown by more than `size` since its oldest row.
    A fall does not count unless `absolute` is true.

    Args:
        of: a SQL expression: a number, or an instant, with a duration for `size`.
        size: a number, or a duration as "60s"; or, with `first`, a SQL expression over the aggregates of the
            partition's window before, as "2 * stddev_v". Where that gives null, `first` stands in.
        absolute: whether a fall counts as well.
        first: the size for a partition's first window, where `size` is an expression.

    Raises:
        DefinitionError: a negative size, or neither a number nor a duration; an expression without `first`.
    """
    of = expression(of, "by_delta")
    if first is not None:
        if (
            not isinstance(size, str)
            or not isinstance(first, int | float)
            or isinstance(first, bool)
            or not 0 <= first < float("inf")
        ):
            raise DefinitionError(
                f"by_delta: first={first!r} with {size!r}; give a number of 0 or more, and an expression, "
                'as by_delta("v", "2 * stddev_v", first=1.0)'
            )
        return Delta(of, float(first), absolute, following=expression(size, "by_delta"))
    if isinstance(size, str | timedelta):
        try:
            return Delta(of, not_negative(size, "by_delta"), absolute, in_time=True)
        except DefinitionError as wrong:
            raise DefinitionError(
                f"{wrong}; if it is an expression over the window before, give first= for the first window"
            ) from None
    if not isinstance(size, int | float) or isinstance(size, bool) or not 0 <= size < float("inf"):
        raise DefinitionError(
            f'by_delta: {size!r} is no difference; give a number of 0 or more, or a duration as "60s" for '
            "instants"
        )
    return Delta(of, size, absolute)


def by_punctuation(at: str) -> Punctuation:
    """For `arrival`: a marker ends the windows of all partitions.

    `at`: a SQL condition: each row for which it is true is a marker and is in no window; or "file" or
    "batch": the end of each; or "upstream": the end of each window of an upstream pipeline.
    """
    return Punctuation(expression(at, "by_punctuation"))


def keep(
    *, age: Duration | None = None, count: int | None = None, rows: int | None = None, emit: bool = False
) -> Keep:
    """For `arrival`: how many partitions are held at once. The partition used least recently is dropped
    first.

    Args:
        age: drops partitions that no row came to for longer than this, by the time of arrival.
        count: of more than so many partitions. All keys are then worked on by one task.
        rows: while more than so many rows are held in all; likewise.
        emit: whether a dropped partition gives a last result.

    Raises:
        DefinitionError: no limit at all, a limit that is not positive, or age together with another limit.
    """
    if (age is None) == (count is None and rows is None):
        raise DefinitionError(
            f"keep: age={age!r}, count={count!r}, rows={rows!r}; give an age, or a count of partitions, of "
            "rows, or both"
        )
    for what, limit in (("count", count), ("rows", rows)):
        if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit <= 0):
            raise DefinitionError(f"keep: {what}={limit!r} is no limit; give 1 or more")
    return Keep(
        positive(age, "age") if age is not None else 0,
        emit,
        -1 if count is None else count,
        -1 if rows is None else rows,
    )
