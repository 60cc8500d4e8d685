"""Borders of batches in a log, against a log that grows while they are asked for in any order."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from muntin.timeline.batches import between_neighbours, highest

Log = dict[int, list[int]]
"""Partition -> the times of its messages, in the order of their offsets."""
PARTITIONS, LAST = 3, 8
grown = st.dictionaries(st.integers(0, PARTITIONS - 1), st.lists(st.integers(0, LAST), max_size=4))
asked = st.sets(st.integers(0, LAST), min_size=1, max_size=3)


def first(log: Log, instant: int) -> dict[int, int]:
    """What a broker says: per partition the first offset of this time or later, else the end."""
    return {at: next((offset for offset, time in enumerate(times) if time >= instant), len(times)) for at, times in log.items()}


@given(st.lists(st.tuples(grown, asked), min_size=1, max_size=8))
def test_every_offset_is_between_two_borders_whatever_is_asked_when(history: list[tuple[Log, set[int]]]) -> None:
    log, noted = Log(), dict[int, dict[int, int]]()
    for more, instants in history:
        for at, times in more.items():
            log.setdefault(at, []).extend(times)
        before = dict(noted)
        noted |= between_neighbours(noted, {instant: first(log, instant) for instant in instants - set(noted)})
        assert {instant: noted[instant] for instant in before} == before
        borders = [noted[instant] for instant in sorted(noted)]
        for one, other in pairwise(borders):
            assert all(one.get(at, 0) <= other.get(at, 0) for at in range(PARTITIONS))
        assert all(offset <= len(log[at]) for border in borders for at, offset in border.items())


@given(grown, st.sets(st.integers(0, LAST), min_size=2))
def test_where_times_ascend_a_batch_holds_its_interval(messages: Log, instants: set[int]) -> None:
    log = {at: sorted(times) for at, times in messages.items()}
    noted = between_neighbours({}, {instant: first(log, instant) for instant in instants})
    for start, end in pairwise(sorted(instants)):
        for at, times in log.items():
            held = times[noted[start][at] : noted[end][at]]
            assert held == [time for time in times if start <= time < end]


# offsets      0 1 2 3        20 is noted as 2 while the log ended there; 10 cannot be behind it
def test_a_border_that_comes_later_lies_between_its_neighbours() -> None:
    assert between_neighbours({20: {0: 2}}, {10: {0: 3}}) == {10: {0: 2}}
    assert between_neighbours({5: {0: 2}}, {10: {0: 1}}) == {10: {0: 2}}


# partition 1 is new: it was not there when 10 was noted, so all of it is behind 10, and behind what is noted before
def test_a_partition_that_a_later_border_does_not_know_is_behind_it() -> None:
    assert between_neighbours({10: {0: 2}}, {5: {0: 1, 1: 4}, 15: {0: 3, 1: 4}}) == {5: {0: 1, 1: 0}, 15: {0: 3, 1: 4}}


def test_highest() -> None:
    assert highest({0: 1, 1: 5}, {0: 2}) == {0: 2, 1: 5}
