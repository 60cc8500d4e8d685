"""The rows of simulated sources, and the windows that they make, said naively.

A row is (minute of its event, amount). An amount of `BAD` cannot be read. Others are multiples of `UNIT`: the suite refuses a window to
which `POISON` was added.
"""

from collections.abc import Sequence
from dataclasses import dataclass

Row = tuple[int, int]
Window = tuple[int, int, int, int, int]  # start, end, rows, sum of their amounts, minute of the batch
BAD, UNIT, POISON = 0, 1_000, 666
PRIME = 2**61 - 1


@dataclass(frozen=True, slots=True)
class Rule:
    """How windows follow from batches. `size`: minutes of a sliding window; None: windows by arrival. `grace`: minutes, or rows. `carry`:
    minutes that an amount lasts behind its minute. `late`: minutes for which rows revise a window that was closed.
    """

    size: int | None
    grace: int
    carry: int = 0
    late: int = 0


def good(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row[1] != BAD]


def is_poisoned(window: Window) -> bool:
    """Whether the suite refuses a sliding window."""
    return window[3] % UNIT != 0


def expected(rule: Rule, batches: Sequence[tuple[int, Sequence[Row]]]) -> list[Window]:
    """The windows of neighbouring batches (minute, readable rows), by the rule alone."""
    return _carried(batches, rule.grace) if rule.size is None else _sliding(batches, rule)


# batches   0   1   2        without grace batch n closes the windows that end with it,
# windows  [-2,   1)         over the rows of all batches up to n;
#              [-1,   2)     the first batch closes all that end before, too
def _sliding(batches: Sequence[tuple[int, Sequence[Row]]], rule: Rule) -> list[Window]:
    found = list[Window]()
    for place, (minute, _) in enumerate(batches):
        later = [rows for _, rows in batches[: None if rule.late else place + 1]]
        last = minute + 1 - rule.grace
        first = last if place else min([event for rows in later for event, _ in rows], default=last) + 1
        for end in range(first, last + 1):
            counting = [rows for at, rows in enumerate(later) if at <= place or end > _final(batches, at, rule)]
            found += [(*window, minute) for window in sliding(rule, [row for rows in counting for row in rows], end)]
    return found


def _final(batches: Sequence[tuple[int, Sequence[Row]]], place: int, rule: Rule) -> int:
    """The last end of a window for which rows of a batch come too late."""
    return batches[place - 1][0] + 1 - rule.grace - rule.late


def sliding(rule: Rule, known: Sequence[Row], end: int) -> list[tuple[int, int, int, int]]:
    """The window of an end, if it has a row, or if an amount lasts to it: start, end, rows, and the sum with the amount that lasts."""
    start = end - (rule.size or 0)
    inside = [amount for event, amount in known if start <= event < end]
    lasting = sorted((event, at, amount) for at, (event, amount) in enumerate(known) if start - rule.carry <= event < start)[-1:]
    return [(start, end, len(inside), sum(inside) + sum(amount for _, _, amount in lasting))] if inside or lasting else []


def _carried(batches: Sequence[tuple[int, Sequence[Row]]], salt: int) -> list[Window]:
    found, before = list[Window](), handed_on(salt)
    for minute, rows in batches:
        value = chained(before, rows)
        before = handed_on(value)
        if rows:
            found.append((minute, minute + 1, len(rows), value, minute))
    return found


def handed_on(value: int) -> int:
    """What the next batch goes on from: so little that it is often what it was before a batch was replaced."""
    return value % 3


def chained(before: int, rows: Sequence[Row]) -> int:
    """A number that depends on the rows, on their order, and on what was handed on before."""
    for event, amount in rows:
        before = (before * 1_000_003 + event * 7919 + amount) % PRIME
    return before
