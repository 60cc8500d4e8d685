"""Combinations of states that are Python objects, as bytes. Anchored blocks, as in `fold`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from muntin.engine.assignment import Assignment

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
