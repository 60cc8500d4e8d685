"""A replaced batch recomputes the batches that close a window over its frames, and no other. The windows stand above.

Batches are five minutes long, a time is a minute; W(n) is the end of batch n.
"""

from dataclasses import dataclass

import pytest

from muntin.testing import oracle
from muntin.testing.oracle import Batch
from muntin.windows.kind import Window
from muntin.windows.kinds.session import Session
from muntin.windows.kinds.sliding import Sliding
from muntin.windows.kinds.tumbling import Tumbling
from tests.catalogue.random_times import LENGTH, MINUTE
from tests.properties.random_cases import Case
from tests.properties.random_histories import Desk


@dataclass(frozen=True)
class Example:
    """`times[n]`: what batch n brings; batch `at` then brings `anew`; only `recomputed` are derived again."""

    window: Window
    times: list[list[int]]
    at: int
    anew: list[int]
    recomputed: tuple[int, ...]
    policy: str = "interval"


def tumbling(size: int, grace: int = 0) -> Window:
    return Tumbling(size * MINUTE, 0, None, grace * MINUTE)


def sliding(size: int, step: int) -> Window:
    return Sliding(size * MINUTE, step * MINUTE)


def session(gap: int, touching: str = "merge") -> Window:
    return Session(gap * MINUTE, touching)


DAY = [[1], [6], [11], [16], [21], [26], [31]]
EXAMPLES = {
    # batch      0    1    2    3    4
    # minute 0    5    10   15   20
    #                  |11--|              [10, 15), closed by batch 2
    "tumbling: its own windows": Example(tumbling(5), DAY, 2, [12], (2,)),
    #        |----------|                  11 becomes 6: [5, 10) was closed before batch 2 came
    "tumbling: late rows are in no window": Example(tumbling(5), DAY, 2, [6], (2,)),
    #                  |11--|18--|         [10, 15) by batch 2, [15, 20) by batch 3
    "tumbling: early rows are in a later one": Example(tumbling(5), DAY, 2, [18], (2, 3)),
    #        |.........11........|         [0, 20), closed by batch 3; batch 2 itself closes nothing, yet its entry is new
    "tumbling: closed later": Example(tumbling(20), DAY, 2, [12], (2, 3)),
    #                  |11--|....|         grace 5: [10, 15) waits for W = 20
    "tumbling: grace": Example(tumbling(5, grace=5), DAY, 2, [12], (2, 3)),
    #             |----11---|              [5, 15) by batch 2
    #                  |11-------|         [10, 20) by batch 3
    "sliding: as far as it reaches": Example(sliding(10, 5), DAY, 2, [12], (2, 3)),
    #                  |11-----------------|    [10, 30) is the last over frame [10, 15)
    "sliding: farther": Example(sliding(20, 5), DAY, 2, [12], (2, 3, 4, 5)),
    #                             |26--    what batch 2 had at 11, it has at 26 now: both places
    "sliding: old place and new": Example(sliding(5, 5), DAY, 2, [26], (2, 3, 4, 5)),
    #                  emptied: the windows over what it held
    "sliding: emptied": Example(sliding(10, 5), DAY, 2, [], (2, 3)),
    #                  11->12  16          gap 2: [11, 13) becomes [12, 14); a frame does not say that nothing is open at 15
    "session: nothing left open": Example(session(2), DAY, 2, [12], (2, 3)),
    #                  11   14->           gap 3: open after batch 2, closed by batch 3, 16 joins
    "session: while one is open": Example(session(3), DAY, 2, [14], (2, 3)),
    #          W: 1, 6, 11, 16...          the same W: [10, 15) is closed by 16, in batch 3
    "events: the watermark stays": Example(tumbling(5), [*DAY[:2], [10, 11], *DAY[3:]], 2, [11], (2, 3), "events"),
    #          W after batch 2 is 15: it closes [10, 15) in the place of batch 3; [15, 20) is closed by 21, in batch 4
    "events: the watermark moves": Example(tumbling(5), DAY, 2, [11, 15], (2, 3, 4), "events"),
}


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES.keys())
def test_only_what_can_have_changed_is_recomputed(example: Example) -> None:
    desk = started(example)
    desk.accumulate(example.at, [event(t) for t in example.anew])
    assert tuple(desk.finalize().positions.tolist()) == example.recomputed
    assert desk.wrong() == []


def test_the_same_rows_again_recompute_nothing() -> None:
    desk = started(EXAMPLES["sliding: farther"])
    desk.accumulate(2, [event(11)])
    assert tuple(desk.finalize().positions.tolist()) == ()


@pytest.mark.parametrize(("window", "after"), [(tumbling(5), (6,)), (sliding(20, 5), (6,)), (session(3), (6,))])
def test_a_new_batch_recomputes_no_old_one(window: Window, after: tuple[int, ...]) -> None:
    example = Example(window, DAY, 6, [31], after)
    desk = started(example, count=6)
    desk.accumulate(6, [event(31)])
    assert tuple(desk.finalize().positions.tolist()) == after
    assert desk.wrong() == []


# states of batches before the first one recomputed are read from `low` on, those behind the last window not at all
def test_only_the_states_in_reach_are_read() -> None:
    desk = started(EXAMPLES["sliding: as far as it reaches"])
    desk.accumulate(2, [event(12)])
    todo = desk.to_do([])
    assert [minute // MINUTE for minute in (todo.work.low_us, todo.work.high_us)] == [0, 20]
    frames = desk.read(todo).states["frame"].combine_chunks().view("int64").to_pylist()
    assert [frame // MINUTE for frame in frames] == [5, 10, 15]


def started(example: Example, count: int = 7) -> Desk:
    """The first `count` batches, finalised one by one."""
    batches = tuple(Batch(n * LENGTH, (n + 1) * LENGTH, [event(t) for t in times]) for n, times in enumerate(example.times))
    width = example.window.frame_us(5 * MINUTE)
    desk = Desk(Case(0, example.window, oracle.Tumbling(1), width, ("k",), example.policy, batches))
    for at in range(count):
        desk.finalize([desk.accumulate(at, batches[at].rows)])
    return desk


def event(minute: int) -> dict[str, object]:
    return {"t": minute * MINUTE, "k": "a", "v": 1, "x": 0.1, "s": "s"}
