"""Folds that cannot be undone (floats, moments): prefixes and suffixes of anchored blocks, so
that states are combined three times for a row.

    row           0    1    2    3  |  4    5    6    7
    suffix     0..3 1..3 2..3    3  |                        from the row to the end of its block
    prefix                          |  4 4..5 4..6 4..7      from the beginning of its block to the row
    window          [lo            mid        hi)            suffix[lo] and prefix[hi - 1]: rows 1..3 and 4..6

Van Herk (1992), Gil and Werman (1993). Blocks lie on absolute multiples of the window's length, so a window's
value depends on its own rows only, to the last bit, however much more was read with it.

Combinations of states that are Python objects, as bytes. Anchored blocks, as in `fold`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import FunctionType
from typing import Any

import numpy as np
import pyarrow as pa

from muntin.definition.function_marks import mark
from muntin.engine.assignment import Assignment
from muntin.states.frames import Kernel

States = Sequence[bytes]


@dataclass(frozen=True, slots=True)
class Algebra:
    """The operations on states of one kind. Whoever reads an object may change it.

    Attributes:
        read, write: from bytes to an object, and back.
        combine: two objects to one object; may change the first, and returns it or another object.
        deduct: takes the second object out of the first; None: states of this kind cannot be taken out.
    """

    read: Callable[[bytes], Any]
    write: Callable[[Any], bytes]
    combine: Callable[[Any, Any], Any]
    deduct: Callable[[Any, Any], Any] | None = None

    def joined(self, left: bytes, right: bytes) -> bytes:
        """Two states, combined."""
        return self.write(self.combine(self.read(left), self.read(right)))

    def without(self, left: bytes, right: bytes) -> bytes:
        """`left` without `right`."""
        assert self.deduct is not None  # noqa: S101 - the caller has checked
        return self.write(self.deduct(self.read(left), self.read(right)))


def combinations(states: pa.Array, windows: Assignment, algebra: Algebra, empty: bytes) -> pa.Array:
    """The left-to-right combination of each window's states, then of its late states; else `empty`."""
    if not len(windows.late_row) and (windows.hi - windows.lo == 1).all():
        return states.take(pa.array(windows.order[windows.lo]))
    state_of = states.to_pylist()
    rows = [state_of[row] for row in windows.order]
    bounds = list(zip(windows.lo.tolist(), windows.mid.tolist(), windows.hi.tolist(), strict=True))
    range_of = _deducted if algebra.deduct else _folded
    out = range_of(rows, windows.block.tolist(), bounds, algebra)
    for window, row in zip(windows.late_window.tolist(), windows.late_row.tolist(), strict=True):
        out[window] = _joined(out[window], state_of[row], algebra)
    return pa.array([empty if state is None else state for state in out], pa.binary())


def _joined(left: bytes | None, right: bytes | None, algebra: Algebra) -> bytes | None:
    """Two states combined; None is the state of no rows."""
    if left is None or right is None:
        return right if left is None else left
    return algebra.joined(left, right)


def _folded(
    rows: States, block: Sequence[int], bounds: Sequence[tuple[int, int, int]], algebra: Algebra
) -> list[bytes | None]:
    """The state of each window: a suffix of its first block, combined with a prefix of its second."""
    prefix = _prefixes(rows, block, algebra)
    suffix = _suffixes(rows, block, algebra) if any(lo < mid for lo, mid, _ in bounds) else []
    return [
        _joined(suffix[lo] if lo < mid else None, prefix[hi - 1] if mid < hi else None, algebra)
        for lo, mid, hi in bounds
    ]


def _deducted(
    rows: States, block: Sequence[int], bounds: Sequence[tuple[int, int, int]], algebra: Algebra
) -> list[bytes | None]:
    """The state of each window, without suffixes: a block's end is the block without its beginning."""
    prefix = _prefixes(rows, block, algebra)

    def part(lo: int, hi: int) -> bytes | None:
        if lo == hi:
            return None
        begins = lo == 0 or block[lo - 1] != block[lo]
        return prefix[hi - 1] if begins else algebra.without(prefix[hi - 1], prefix[lo - 1])

    return [_joined(part(lo, mid), part(mid, hi), algebra) for lo, mid, hi in bounds]


def _prefixes(rows: States, block: Sequence[int], algebra: Algebra) -> list[bytes]:
    """Combination of each row's block up to the row."""
    out: list[bytes] = []
    current: Any = None
    for at, row in enumerate(rows):
        if at == 0 or block[at] != block[at - 1]:
            current = None
            out.append(row)
            continue
        current = algebra.combine(
            algebra.read(rows[at - 1]) if current is None else current, algebra.read(row)
        )
        out.append(algebra.write(current))
    return out


def _suffixes(rows: States, block: Sequence[int], algebra: Algebra) -> list[bytes]:
    """Combination of each row's block from the row on."""
    out = list(rows)
    current: Any = None
    for at in range(len(rows) - 1, -1, -1):
        if at + 1 == len(rows) or block[at] != block[at + 1]:
            current = None
            continue
        current = algebra.combine(
            algebra.read(rows[at]), algebra.read(rows[at + 1]) if current is None else current
        )
        out[at] = algebra.write(current)
    return out


_PLAIN = ("_add", "_chan")  # of Muntin, of + - * / alone: Python gives the same bits; of ** it does not
Rows = np.ndarray[tuple[int, int], np.dtype[np.float64]]


def folds(rows: Rows, windows: Assignment, combine: Callable[..., None]) -> Rows:
    """The left-to-right combination of each window's rows.

    `rows`: one state a row, float64. `windows`: over the rows. `combine`: `combine(x, i, y, j, out, k)`
    writes the combination of x[i] and y[j] to out[k]; out may be x or y.
    """
    order, lo, mid, hi, late = (
        windows.order,
        windows.lo,
        windows.mid,
        windows.hi,
        (windows.late_window, windows.late_row),
    )
    if windows.is_short and not len(windows.late_row) and np.array_equal(lo, mid):
        return _specialised(_one_by_one, combine)(rows, order, lo, hi)  # type: ignore[no-any-return]
    return _specialised(_by_blocks, combine)(rows[order], rows, windows.block, lo, mid, hi, *late)  # type: ignore[no-any-return]


@lru_cache
def _specialised(kernel: Any, combine: Callable[..., None]) -> Any:  # noqa: ANN401 - numba's dispatcher has no type of its own
    """The kernel compiled with this combine, under a name that depends on all that the combine does."""
    name = f"{kernel.__name__}_{combine.__name__}_{mark(combine)}"
    few = combine.__module__.startswith("muntin.") and combine.__name__ in _PLAIN
    names = {**kernel.__globals__, "combine": Kernel(combine, few=few, cache=False)}
    twin = FunctionType(kernel.__code__, names, name)
    twin.__qualname__, twin.__module__ = name, kernel.__module__
    return Kernel(twin, few=few)


def _one_by_one(states, order, lo, hi):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Windows that share no row, each within a block, whose prefix it is."""
    out = np.zeros((len(lo), states.shape[1]))
    for window in range(len(lo)):
        if lo[window] < hi[window]:
            out[window] = states[order[lo[window]]]
        for place in range(lo[window] + 1, hi[window]):
            combine(out, window, states, order[place], out, window)  # type: ignore[name-defined]  # noqa: F821
    return out


def _by_blocks(rows, states, block, lo, mid, hi, late_window, late_row):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202, C901
    """`rows`: the states in the order of the windows; `states`: in their own order, for late rows."""
    prefix, suffix = rows.copy(), rows.copy()
    out = np.zeros((len(lo), rows.shape[1]))
    for row in range(1, len(rows)):
        if block[row] == block[row - 1]:
            combine(prefix, row - 1, rows, row, prefix, row)  # type: ignore[name-defined]  # noqa: F821
    if np.any(lo < mid):
        for row in range(len(rows) - 2, -1, -1):
            if block[row] == block[row + 1]:
                combine(rows, row, suffix, row + 1, suffix, row)  # type: ignore[name-defined]  # noqa: F821
    for window in range(len(lo)):
        if lo[window] == mid[window] and mid[window] < hi[window]:
            out[window] = prefix[hi[window] - 1]
        elif lo[window] < mid[window]:
            out[window] = suffix[lo[window]]
            if mid[window] < hi[window]:
                combine(out, window, prefix, hi[window] - 1, out, window)  # type: ignore[name-defined]  # noqa: F821
    for pair in range(len(late_window)):
        window, row = late_window[pair], late_row[pair]
        is_first = lo[window] == hi[window] and (pair == 0 or late_window[pair - 1] != window)
        if is_first:
            out[window] = states[row]
        else:
            combine(out, window, states, row, out, window)  # type: ignore[name-defined]  # noqa: F821
    return out
