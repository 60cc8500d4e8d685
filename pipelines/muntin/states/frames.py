"""Frames: the states as sorted arrays. Every window is a range of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np
import pyarrow as pa

from muntin.definition.instants import BEFORE_ALL
from muntin.definition.kinds import Cycle
from muntin.states.columns import ARRIVAL_TIME

Ints = np.ndarray[tuple[int], np.dtype[np.int64]]
Flags = np.ndarray[tuple[int], np.dtype[np.bool_]]
NO_INTS: Ints = np.empty(0, np.int64)
_FEW = 2_000  # numbers in all columns together


class Kernel:
    """A loop in machine code, which is stored beside its file and runs without the interpreter's lock.

    `few`: whether Python itself may run it over few numbers in a process that has no numba yet, which takes
    half a second to load with its first kernel. Both give the same bits.
    """

    def __init__(self, loop: Any, *, few: bool = False, cache: bool = True) -> None:  # noqa: ANN401 - a function
        self._loop, self._few, self._cache = loop, few, cache
        self._code: Callable[..., Any] | None = None

    def __call__(self, *given: Any) -> Any:  # noqa: ANN401 - as the loop has it
        if self._code is None and self._few and "numba" not in sys.modules and _are_few(given):
            with np.errstate(all="ignore"):  # as machine code does
                return self._loop(*given)
        return self.code()(*given)

    def code(self) -> Callable[..., Any]:
        """Machine code of the loop, and of the kernels that it calls, which numba has to see as its own."""
        if self._code is None:
            from numba import njit

            of = self._loop
            names = of.__globals__
            inner = {
                name: kernel.code()
                for name in of.__code__.co_names
                if isinstance(kernel := names.get(name), Kernel)
            }
            loop = FunctionType(of.__code__, names | inner, of.__name__, of.__defaults__, of.__closure__)
            loop.__qualname__, loop.__module__ = of.__qualname__, of.__module__
            self._code = njit(cache=self._cache, nogil=True)(loop)
        return self._code


def _are_few(given: Iterable[object]) -> bool:
    return sum(each.size for each in given if isinstance(each, np.ndarray)) <= _FEW


compiled = Kernel
compiled_for_many = partial(Kernel, few=True)


@dataclass(frozen=True, slots=True)
class Arrived:
    """Rows that are states, and their partitions as the batches before them left them.

    Attributes:
        columns: the columns of the states, which windows read.
        starts, ends: of each batch's interval, microseconds.
        origin: the pipeline's start, microseconds; stretches of arrival time are counted from it.
        held: for each row, whether its partition held it before; by arrival such rows come first in their
            partition.
        counters, bases: of each group, as left; `counters` has no columns at the beginning of history.
        noted_after: positions of the batches after which a note is made.
        evaluate: (windows, SQL expression over their results) -> its values as doubles, NaN for null; None:
            no window asks for it.
    """

    columns: Mapping[str, pa.Array]
    starts: Ints
    ends: Ints
    origin: int
    held: np.ndarray
    counters: np.ndarray
    bases: np.ndarray
    noted_after: Ints
    evaluate: Callable[[Any, str], np.ndarray] | None = None

    @property
    def clock(self) -> Ints | None:
        """The time of arrival of each row, `BEFORE_ALL` for null; None if the source has no such column."""
        if ARRIVAL_TIME not in self.columns:
            return None
        return self.columns[ARRIVAL_TIME].fill_null(BEFORE_ALL).to_numpy(zero_copy_only=False)


@dataclass(frozen=True, slots=True)
class Frames:
    """States, one per row, sorted by (group, start, batch, order of arrival).

    Attributes:
        group: the number of the key, ordered as keys are.
        start: first instant of the frame, microseconds.
        batch: position of the batch in the history.
        first, last: times of the first and last event, microseconds; equal to `start` where no window asks
            for them.
        width: the frames' width, microseconds.
        states: the states, in this order; windows read columns of their own there.
        arrival: more facts for windows made of rows; rows are then sorted by (group, order of arrival), or as
            states are.
    """

    group: Ints
    start: Ints
    batch: Ints
    first: Ints
    last: Ints
    width: int
    arrival: Arrived | None = None
    states: pa.Table | None = None

    def __len__(self) -> int:
        return len(self.group)


def frame_numbers(instants: Ints, cycle: Cycle) -> Ints:
    """The number of the frame that holds each instant, microseconds; the next frame is one more."""
    first, *others = cycle.cuts_us
    since = instants - first
    turn = since // cycle.width_us
    if not others:
        return turn
    number = turn * len(cycle.cuts_us)
    rest = since - turn * cycle.width_us
    for cut in others:
        number += rest >= cut - first
    return number


def frame_starts(numbers: Ints, cycle: Cycle) -> Ints:
    """The first instant of each frame, by its number."""
    turn, cut = np.divmod(numbers, len(cycle.cuts_us))
    starts: Ints = turn * cycle.width_us + np.array(cycle.cuts_us, np.int64)[cut]
    return starts


def run_starts(*columns: Ints) -> Flags:
    """True for each row in which a column differs from the row before, and for the first row."""
    begins = np.zeros(len(columns[0]), np.bool_)
    begins[:1] = True
    for column in columns:
        begins[1:] |= column[1:] != column[:-1]
    return begins


def run_numbers(*columns: Ints) -> Ints:
    """For each row the number of its run of equal values, from 0."""
    numbers: Ints = np.cumsum(run_starts(*columns)) - 1
    return numbers


def is_among(values: Ints, ascending: Ints) -> np.ndarray:
    """Whether each value is in an ascending array, which may hold a value twice. `np.isin` would hash or sort
    both arrays anew.

    >>> is_among(np.array([5, 1, 9]), np.array([1, 2, 5]))
    array([ True,  True, False])
    """
    if not len(ascending):
        return np.zeros(len(values), np.bool_)
    at = np.searchsorted(ascending, values)
    return ascending[np.minimum(at, len(ascending) - 1)] == values


def stretch(rows: Ints) -> Ints | slice:
    """Numbers that ascend, none twice (else the slice is wrong); as a slice if none is left out between: what
    it takes is not copied.

    >>> stretch(np.array([3, 4, 5])), stretch(np.array([3, 5])), stretch(np.array([], np.int64))
    (slice(3, 6, None), array([3, 5]), slice(0, 0, None))
    """
    first, end = (int(rows[0]), int(rows[-1]) + 1) if len(rows) else (0, 0)
    return slice(first, end) if end - first == len(rows) else rows
