"""Sliding windows with wanted ends alone: as all windows, without the others."""

import numpy as np

from muntin.engine.assignment import Assignment
from muntin.states.frames import Frames
from muntin.windows.kinds.sliding import Sliding

Window = tuple[int, int, int, list[int], list[int]]


def frames(dice: np.random.Generator) -> Frames:
    """Up to forty frames of three keys and five batches; some come late."""
    count = int(dice.integers(0, 40))
    group, start, batch = np.sort(dice.integers(0, 3, count)), dice.integers(-20, 60, count) * 2, dice.integers(0, 5, count)
    order = np.lexsort((batch, start, group))
    return Frames(group[order], start[order], batch[order], start[order], start[order], 2)


def windows(found: Assignment) -> list[Window]:
    """Group, start, end, rows on time, late rows."""
    late = [found.late_row[found.late_window == at].tolist() for at in range(len(found.lo))]
    bounds = zip(found.group.tolist(), found.start.tolist(), found.end.tolist(), found.lo.tolist(), found.hi.tolist(), late, strict=True)
    return [(group, start, end, found.order[lo:hi].tolist(), rows) for group, start, end, lo, hi, rows in bounds]


def test_as_all_windows_without_the_others() -> None:
    dice = np.random.default_rng(3)
    seen = 0
    for _ in range(300):
        step = 2 * int(dice.integers(1, 5))
        kind = Sliding(step * int(dice.integers(1, 9)), step, 2 * int(dice.integers(0, 3)) % step)
        some, floor = frames(dice), np.sort(dice.integers(-60, 130, 6))
        after, until = np.sort(dice.integers(-60, 160, 2)).tolist()
        whole, part = kind.assign(some, floor), kind.assign_between(some, floor, after, until)
        assert windows(part) == [window for window in windows(whole) if after < window[2] <= until]
        assert part.missed.tolist() == whole.missed.tolist()
        seen += len(part.lo)
    assert seen > 1000


def test_the_second_block_begins_at_the_same_row() -> None:
    """So that floats are combined in the same order."""
    dice = np.random.default_rng(4)
    for _ in range(100):
        kind, some = Sliding(20, 2), frames(dice)
        floor = np.full(6, -(2**62))
        whole, part = kind.assign(some, floor), kind.assign_between(some, floor, 10, 50)
        kept = (whole.end > 10) & (whole.end <= 50)
        assert part.mid.tolist() == whole.mid[kept].tolist()
        assert part.block.tolist() == whole.block.tolist()
