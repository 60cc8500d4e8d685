"""Worked examples of unique, cumulating and cut windows: A is KIP-450's later text, B its early draft; the others are ours.

Times are seconds after `BASE`, as in `examples`, and so is the resolution.
"""

from muntin.testing.oracle.composed import Cumulating
from muntin.testing.oracle.kinds import SECOND, AllTime, Session
from tests.oracle.examples import Example, each_order
from tests.oracle.unique import Unique


def unique(size: int, grace: int = 0, on: str = "change") -> Unique:
    """In seconds."""
    return Unique(size * SECOND, SECOND, on, grace * SECOND)


def cumulating(max_size: int, step: int, grace: int = 0) -> Cumulating:
    """In seconds."""
    return Cumulating(max_size * SECOND, step * SECOND, grace * SECOND)


def session(gap: int, max_length: int, grace: int = 0, touching: str = "merge") -> Session:
    """In seconds."""
    return Session(gap * SECOND, grace * SECOND, touching, max_length * SECOND)


#      90       93    97  100 101 103 104  107 108 110 111 114 118
# A5   |--------------------A
#               |--------------------B
#                     |----------------------C
#                         |A---------B-------C-------D
#                             |------B-------C-------D---|
#                                        |---C-------D-------|
#                                                |---D-----------|
A5 = {
    (90, 100): [100], (93, 103): [100, 103], (97, 107): [100, 103, 107], (100, 110): [100, 103, 107, 110],
    (101, 111): [103, 107, 110], (104, 114): [107, 110], (108, 118): [110],
}  # fmt: skip
#      90       93    97  100 101 103 104  107     111 114
# A6   |--------------------A
#               |-----------A--------B
#                     |-----A--------B-------C
#                             |------B-------C---|
#                                        |---C-------|
A6 = {(90, 100): [100], (93, 103): [100, 103], (97, 107): [100, 103, 107], (101, 111): [103, 107], (104, 114): [107]}
#      100  103  106  109  112     each closes a window, and all but the last leave one open behind them
A10 = {
    (90, 100): [100], (93, 103): [100, 103], (96, 106): [100, 103, 106], (99, 109): [100, 103, 106, 109],
    (102, 112): [103, 106, 109, 112],
    (101, 111): [103, 106, 109], (104, 114): [106, 109, 112], (107, 117): [109, 112], (110, 120): [112],
}  # fmt: skip
#     90      93     100 101 103  111
# B9  |---------------AA
#             |-------AA------B
#                         |---B----|
B9 = {(90, 100): [100, 100], (93, 103): [100, 100, 103], (101, 111): [103]}
#     0   4   8   12      20      24
#     |1--|
#     |1----5-|
#     |1----5----|
#                |         21--|
#                |         21------|  to 24: the second window is [12, 24)
CUMULATING = {(0, 4): [1], (0, 8): [1, 5], (0, 12): [1, 5], (12, 24): [21]}

ONE_BATCH_MORE = [
    # both ends are inside
    Example("A3", unique(10), [[100, 110]], {(90, 100): [100], (100, 110): [100, 110], (101, 111): [110]}),
    Example("A5", unique(10), [[100, 103, 107, 110]], A5),
    *each_order("A6-A7", unique(10), [100, 103, 107], A6),
    Example("A10", unique(10), [[100, 103, 106, 109, 112]], A10),
    # records at one time add no window
    Example("A10-again", unique(10), [[100, 100, 100]], {(90, 100): [100, 100, 100]}),
    Example("B9-change", unique(10), [[100, 100, 103]], B9),
    Example("B9-enter", unique(10, on="enter"), [[100, 100, 103]], {(90, 100): [100, 100], (93, 103): [100, 100, 103]}),
    # released Kafka's own picture, in 200 ms
    Example(
        "Kafka-Javadoc",
        unique(25),
        [[40, 46, 62]],
        {(15, 40): [40], (21, 46): [40, 46], (37, 62): [40, 46, 62], (41, 66): [46, 62], (47, 72): [62]},
    ),
    Example("cumulating", cumulating(12, 4), [[1, 5, 21]], CUMULATING),
    # a prefix is there as soon as it holds an event, and goes on being there
    Example("cumulating-on", cumulating(12, 4), [[0]], {(0, end): [0] for end in (4, 8, 12)}),
    # 0  3  6  9| 12 15      10 long: 9 is the last inside, 12 begins the next
    Example("cut", session(5, 10), [[0, 3, 6, 9, 12, 15]], {(0, 10): [0, 3, 6, 9], (12, 20): [12, 15]}),
    # 0   5   |10            an event at exactly the end begins the next
    Example("cut-exact", session(5, 10), [[0, 5, 10]], {(0, 10): [0, 5], (10, 15): [10]}),
    # 0     7----|           the gap would end at 12: the limit is earlier, and nothing is cut off
    Example("cut-nothing", session(5, 10), [[0, 4, 7]], {(0, 10): [0, 4, 7]}),
    Example("cut-order", session(5, 10), [[12, 3, 0, 9, 6]], {(0, 10): [0, 3, 6, 9], (12, 17): [12]}),
    # thrice: each piece counts from its own first event
    Example("cut-thrice", session(4, 6), [range(0, 20, 4)], {(0, 6): [0, 4], (8, 14): [8, 12], (16, 20): [16]}),
]

BY_BATCH_MORE = [
    # one record a batch, grace enough: as all in one
    Example("A7", unique(10, grace=20), [[100], [107], [103]], A6),
    # C at 108 comes when time is 115: it missed [98, 108] and [101, 111]
    #   90   100      105  108 109   115   119
    #   |-----A
    #                 |-----C--------B
    #                          |-----B-----|
    Example("A8-A9", unique(10), [[100], [115], [108]], {(90, 100): [100], (105, 115): [108, 115], (109, 119): [115]}, {100: 1}),
    # W = 110 leaves [100, 110] open, W = 111 closes it
    Example("B8-unique", unique(10), [[110], [111]], {(100, 110): [110], (101, 111): [110, 111], (111, 121): [111]}, {110: 1}),
    # 125 does not move time on: nothing closes
    Example("B10-unique", unique(10, grace=10), [[130], [125]], {(115, 125): [125], (120, 130): [125, 130], (126, 136): [130]}),
    # one record closes three; grace keeps 103 from closing the first
    Example(
        "B13",
        unique(10, grace=3),
        [[100, 103], [130]],
        {(90, 100): [100], (93, 103): [100, 103], (101, 111): [103], (120, 130): [130]},
        {100: 1, 103: 1, 111: 1},
    ),
    # 105 comes with the batch that closes its windows, and counts
    Example(
        "B14-unique",
        unique(10),
        [[100], [130, 105]],
        {(90, 100): [100], (95, 105): [100, 105], (101, 111): [105], (120, 130): [130]},
        {100: 1, 105: 1, 111: 1},
    ),
    # 3 is late for [0, 4), which is closed, and in time for the longer ones
    Example(
        "cumulating-late",
        cumulating(12, 4),
        [[1], [5], [3], [12]],
        {(0, 4): [1], (0, 8): [1, 3, 5], (0, 12): [1, 3, 5], (12, 16): [12], (12, 20): [12], (12, 24): [12]},
        {4: 1, 8: 3, 12: 3},
    ),
    # W = 10 is the end of the cut piece: it closes; an uncut one would wait for W > 10
    Example("cut-closes", session(5, 10), [[0, 5], [10]], {(0, 10): [0, 5], (10, 15): [10]}, {10: 1}),
    Example("cut-not-cut", session(5, 10), [[0, 5], [12, 11], [12]], {(0, 10): [0, 5], (11, 17): [11, 12, 12]}, {10: 1}),
    # W = 11, the end of [0, 10) and the grace: another 0 is late for it, though nothing near enough would have cut it
    Example("cut-late-at-its-end", session(10, 10, grace=1), [[0, 9, 11], [0]], {(0, 10): [0, 9], (11, 21): [11]}, {10: 0}),
    # an earlier event moves the cut: 0 makes [0, 10) of what would have been [2, 12)
    Example("cut-moves", session(5, 10, grace=20), [[2, 6, 11], [0]], {(0, 10): [0, 2, 6], (11, 16): [11]}),
    # alone, 4 would be late at W = 12; it is of a piece that reaches an open session
    Example("cut-reaches", session(5, 10), [[8, 12], [4]], {(4, 14): [4, 8, 12]}),
    Example("cut-late", session(5, 10), [[20], [4]], {(20, 25): [20]}),
    # what lies behind a piece that has left goes on by itself
    Example("cut-leaves", session(5, 10), [[0, 4, 8, 12], [16]], {(0, 10): [0, 4, 8], (12, 21): [12, 16]}, {10: 0}),
    Example("all-time", AllTime(), [[100], [500], [7]], {(7, 500): [7, 100, 500]}),
]
