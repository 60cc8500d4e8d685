"""The worked examples of the systems Muntin learns from, drawn and as values.

Times are seconds after `BASE`, a multiple of every size here; J and K are Hazelcast Jet's, B is Kafka's KIP-450.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

from muntin.testing.oracle.judgement import Window
from muntin.testing.oracle.kinds import SECOND, Session, Sliding, Tumbling
from muntin.testing.oracle.time import Batch

BASE = 1_704_067_200
"""2024-01-01T00:00Z."""


@dataclass(frozen=True)
class Example:
    """`arrivals[n]`: the times in batch n, in order of arrival. `held`: (start, end) -> times."""

    name: str
    window: Window
    arrivals: Sequence[Sequence[int]]
    held: dict[tuple[int, int], list[int]]
    closed: dict[int, int] = field(default_factory=dict)
    """End -> number of the batch that closes the window, where that is the point."""


def tumbling(size: int, grace: int = 0) -> Tumbling:
    """In seconds."""
    return Tumbling(size * SECOND, grace * SECOND)


def sliding(size: int, step: int) -> Sliding:
    """In seconds."""
    return Sliding(size * SECOND, step * SECOND)


def session(gap: int, touching: str = "merge", grace: int = 0) -> Session:
    """In seconds."""
    return Session(gap * SECOND, grace * SECOND, touching)


def each_order(name: str, window: Window, times: list[int], held: dict[tuple[int, int], list[int]]) -> list[Example]:
    """The same events in every order."""
    orders = enumerate(itertools.permutations(times))
    return [Example(f"{name}-{n}", window, [order], held) for n, order in orders]


#     0 1 2 3 4 5 6
# -2 |---|
#  0     |-------|
#  2         |-------|
J1 = {(-2, 2): [0, 1], (0, 4): [0, 1, 2, 3], (2, 6): [2, 3, 4, 5], (4, 8): [4, 5, 6], (6, 10): [6]}
#     0 1 2 3 4 5 6
#    |---|---|---|---
J2 = {(0, 2): [0, 1], (2, 4): [2, 3], (4, 6): [4, 5], (6, 8): [6]}
# ten-second frames from 60: 3, 2, 3, 4, 3 events
J9_TIMES = [60, 61, 62, 70, 71, 80, 81, 82, 90, 91, 92, 93, 100, 101, 102]
J9 = {(end - 30, end): [t for t in J9_TIMES if end - 30 <= t < end] for end in range(70, 131, 10)}

ONE_BATCH = [
    Example("J1", sliding(4, 2), [range(7)], J1),
    Example("J2-tumbling", tumbling(2), [range(7)], J2),
    Example("J2-sliding", sliding(2, 2), [range(7)], J2),
    # one event at 150: a window for each step that reaches it
    Example("J4-10", sliding(100, 10), [[150]], {(s, s + 100): [150] for s in range(60, 151, 10)}),
    Example("J4-100", sliding(100, 100), [[150]], {(100, 200): [150]}),
    Example("J9", sliding(30, 10), [J9_TIMES], J9),
    # keys are apart: this one has J1's events too
    Example("J10", sliding(4, 2), [range(7)], J1),
    # 10---15---20   a gap of exactly 5 does not exceed 5
    Example("J12-joined", session(5), [[10, 15]], {(10, 20): [10, 15]}),
    # 10----15 16----21
    Example("J12-apart", session(5), [[10, 16]], {(10, 15): [10], (16, 21): [16]}),
    # [1, 3] and [3, 5] share 3
    Example("J13", session(2), [[1, 3]], {(1, 5): [1, 3]}),
    # unless sessions that touch are split: [1, 3) and [3, 5)
    Example("J13-split", session(2, "split"), [[1, 3]], {(1, 3): [1], (3, 5): [3]}),
    Example("J14", session(5), [[10]], {(10, 15): [10]}),
    # 10----15
    #    12----17
    Example("J15", session(5), [[10, 12]], {(10, 17): [10, 12]}),
    #                  20----25
    Example("J16", session(5), [[10, 12, 20]], {(10, 17): [10, 12], (20, 25): [20]}),
    # 16 reaches back to 17's end and forward to 20
    *each_order("J17-J18", session(5), [10, 12, 20, 16], {(10, 25): [10, 12, 16, 20]}),
    # 3 is in [0, 4) and [2, 6)
    Example("K2", sliding(4, 2), [[3]], {(0, 4): [3], (2, 6): [3]}),
    *each_order("K4", sliding(4, 2), [1, 2, 2, 5], {(-2, 2): [1], (0, 4): [1, 2, 2], (2, 6): [2, 2, 5], (4, 8): [5]}),
    # an event at 0 is in 100 windows, ends 1..100
    Example("K6", sliding(100, 1), [[0]], {(end - 100, end): [0] for end in range(1, 101)}),
]

BY_BATCH = [
    # W = 5, 20, then 16 comes and bridges: all is open until W > 17 + 8
    Example("J17-late", session(5, grace=8), [[10, 12], [20], [16], [40]], {(10, 25): [10, 12, 16, 20], (40, 45): [40]}, {25: 3}),
    # largest time 9: open; 10: closed
    Example("K3", tumbling(10), [[0, 9], [10]], {(0, 10): [0, 9], (10, 20): [10]}, {10: 1}),
    # grace 10: 125 does not move time on, and closes nothing
    Example("B10", tumbling(10, grace=10), [[130], [125], [140]], {(120, 130): [125], (130, 140): [130], (140, 150): [140]}, {130: 2}),
    # the batch that closes [0, 10) brings 3, late by the event and in time by the batch
    Example("B14", tumbling(10), [[1], [12, 3], [4]], {(0, 10): [1, 3], (10, 20): [12]}, {10: 1}),
    # touching sessions close only when time is past their end
    Example("B8", session(5), [[5], [10], [16]], {(5, 15): [5, 10], (16, 21): [16]}, {15: 2}),
    Example("B8-split", session(5, "split"), [[5], [10], [16]], {(5, 10): [5], (10, 15): [10], (16, 21): [16]}, {10: 1, 15: 2}),
]


def batches(example: Example, key: str, length: int) -> list[Batch]:
    """The example's batches, `length` seconds each, from `BASE` on; `v` is the event's second."""
    return [
        Batch(
            (BASE + n * length) * SECOND,
            (BASE + (n + 1) * length) * SECOND,
            [{"t": (BASE + t) * SECOND, "key": key, "v": t} for t in times],
        )
        for n, times in enumerate(example.arrivals)
    ]


def summary(held: dict[tuple[int, int], list[int]]) -> dict[tuple[int, int], tuple[int, ...]]:
    """(start, end) -> (count, sum, min, max, first, last) of what a window holds."""
    return {border: (len(times), sum(times), min(times), max(times), min(times), max(times)) for border, times in held.items()}
