"""Tiers, the pure part: which tiles are due, what they are called, which cover a window."""

import numpy as np
import pytest

from muntin import windows
from muntin.definition.instants import AFTER_ALL, BEFORE_ALL
from muntin.definition.kinds import Even
from muntin.timeline.batches import Batches
from muntin.timeline.tiers import NO_TILES, Scale, Stretch, Tiles, cover, due, joined_stretches, names, newest, uncut
from muntin.windows.kind import Window
from muntin.windows.kinds.sliding import Sliding
from muntin.windows.kinds.tumbling import Tumbling

BY_FOUR = Scale(width_us=1, base=4)


def batches(*frames: tuple[int, int]) -> Batches:
    """Batches of ten instants with these first and last frames."""
    return Batches.of((10 * at, 10 * at + 10, 100 + at, 0, low, high, 1) for at, (low, high) in enumerate(frames))


def tiles(*places: tuple[int, int]) -> Tiles:
    level, number = np.array(places, np.int64).reshape(-1, 2).T
    return Tiles(level, number, np.ones(len(places), np.uint64), np.ones(len(places), np.bool_))


# frames    0       10        20        30
#           |---------|---------|---------|
# ends [20]          [begins             ends)       a window of 10: it begins at 10, ends at 20
@pytest.mark.parametrize(
    ("wanted", "parts"),
    [
        ([], [(0, 30)]),
        ([(20, 20)], [(0, 10), (10, 20), (20, 30)]),
        ([(20, 22)], [(0, 10), (12, 20), (22, 30)]),  # begins at 10, 11, 12
        ([(20, 29)], [(0, 10), (19, 20), (29, 30)]),
        ([(18, 28)], [(0, 8), (28, 30)]),  # the last begins when the first ends
        ([(15, 25)], [(0, 5), (25, 30)]),
        ([(40, 45)], [(0, 30)]),
    ],
)
def test_no_wanted_window_begins_or_ends_inside_a_part(wanted: list[Stretch], parts: list[Stretch]) -> None:
    assert uncut((0, 30), [(Even(10, 1, 0), ends) for ends in wanted]) == parts


def test_windows_of_several_sizes_cut_together() -> None:
    assert uncut((0, 30), [(Even(10, 1, 0), (25, 25)), (Even(20, 1, 0), (25, 26))]) == [(0, 5), (6, 15), (15, 25), (26, 30)]


# frames     0   4   8   12  16  20  24  28  32
# level 2    |---------------|---------------|
# level 1    |---|---|---|---|---|---|---|---|
@pytest.mark.parametrize(
    ("parts", "usable", "chosen"),
    [
        ([(0, 32)], [(2, 0), (2, 1), (1, 0)], [(2, 0), (2, 1)]),
        ([(2, 30)], [(2, 0), (2, 1), (1, 0), (1, 1), (1, 7)], [(1, 1)]),
        ([(2, 32)], [(2, 0), (2, 1), (1, 1), (1, 3), (0, 3), (0, 1)], [(2, 1), (1, 1), (1, 3), (0, 3)]),
        ([(0, 6), (6, 32)], [(2, 0), (2, 1), (1, 0), (1, 1)], [(2, 1), (1, 0)]),
        ([(5, 7)], [(2, 0), (1, 1)], []),
        ([(-16, 0)], [(2, -1)], [(2, -1)]),
    ],
)
def test_the_largest_tiles_first(parts: list[Stretch], usable: list[tuple[int, int]], chosen: list[tuple[int, int]]) -> None:
    by_level = {level: np.array(sorted(number for one, number in usable if one == level)) for level, _ in usable}
    assert cover(BY_FOUR, parts, by_level) == chosen


# frames       0   4   8   12
# batch 0      ====
# batch 1        ====
# batch 2             ====      late, and then gone
def test_a_name_tells_the_batches_with_frames_in_the_tile() -> None:
    numbers = np.array([2, 0, 1, 3])
    both, three = batches((0, 3), (2, 5)), batches((0, 3), (2, 5), (7, 10))
    before, after = names(BY_FOUR, 1, numbers, both), names(BY_FOUR, 1, numbers, three)
    assert before[3] == after[3] == 0
    assert (before == after).tolist() == [False, True, False, True]
    assert before[1] != before[2]
    alone = names(BY_FOUR, 1, np.array([1]), both.take(slice(1, 2)))
    assert alone[0] == before[2]


def test_another_version_is_another_name() -> None:
    first, other = batches((0, 3)), Batches.of([(0, 10, 7, 0, 0, 3, 1)])
    assert names(BY_FOUR, 1, np.array([0]), first) != names(BY_FOUR, 1, np.array([0]), other)


def test_a_batch_without_states_names_nothing() -> None:
    assert names(BY_FOUR, 0, np.arange(-9, 9), batches((AFTER_ALL, BEFORE_ALL))).tolist() == [0] * 18


def test_names_add_up_as_a_loop_says() -> None:
    dice = np.random.default_rng(7)
    for _ in range(50):
        low = np.sort(dice.integers(-50, 50, 12))
        some = batches(*zip(low.tolist(), (low + dice.integers(0, 30, 12)).tolist(), strict=True))
        numbers, level = dice.permutation(np.arange(-6, 9)), int(dice.integers(0, 3))
        span = BY_FOUR.span_us(level)
        touching = [(some.low_us < (number + 1) * span) & (some.high_us >= number * span) for number in numbers]
        alone = [int(names(BY_FOUR, level, numbers[:1], some.take(slice(at, at + 1)))[0]) for at in range(12)]
        whole = [Batches.of([(*row, 0, -1000, 1000, 1)]) for row in zip(some.start_us, some.end_us, some.version, strict=True)]
        hashes = [int(names(BY_FOUR, 0, np.array([0]), one)[0]) for one in whole]
        expected = [sum(each for each, one in zip(hashes, mask, strict=True) if one) % 2**64 for mask in touching]
        assert names(BY_FOUR, level, numbers, some).tolist() == expected
        assert all(each in (0, known) for each, known in zip(alone, hashes, strict=True))


# settled = 40, windows of 32: they begin from 8 on
# level 2            |---------------|-------         16..32
# level 1    |---|---|---|---|---|---|---|---         8..40
# level 0            ========                         windows begin next in [8, 12) and [12, 16)
def test_tiles_are_due_where_the_next_windows_lie() -> None:
    found = due(BY_FOUR, [(Even(32, 1, 0), 40)], batches((0, 40)))
    assert found.at(0).number.tolist() == [*range(8, 16)]
    assert found.at(1).number.tolist() == [*range(2, 10)]
    assert found.at(2).number.tolist() == [1]
    assert set(found.level.tolist()) == {0, 1, 2}


def test_the_longest_window_and_the_slowest_to_close_decide() -> None:
    found = due(BY_FOUR, [(Even(16, 1, 0), 40), (Even(32, 1, 0), 36)], batches((0, 40)))
    assert found.at(0).number.tolist() == [*range(4, 12), *range(24, 32)]
    assert found.at(1).number.tolist() == [*range(1, 9)]


def test_nothing_is_due_where_no_batch_has_frames() -> None:
    assert not len(due(BY_FOUR, [(Even(32, 1, 0), 400)], batches((0, 40))))


# tiles of level 1    0     1     2     3     4
# files                aaaaaaaaaaaaaaaaa bbbbb ccc       rows 50, 30, 20
@pytest.mark.parametrize(
    ("most", "chosen"),
    [(0, [4]), (20, [4]), (49, [4]), (50, [3, 4]), (99, [3, 4]), (100, [0, 1, 2, 3, 4])],
)
def test_a_slice_takes_whole_files(most: int, chosen: list[int]) -> None:
    low, high, rows = np.array([0, 12, 16]), np.array([11, 15, 18]), np.array([50, 30, 20])
    found = newest(BY_FOUR, tiles(*((1, at) for at in range(5))), low, high, rows, most)
    assert found.number.tolist() == chosen


def test_frames_go_with_the_tile_above() -> None:
    asked = tiles((0, 8), (0, 9), (1, 2), (1, 4))
    found = newest(BY_FOUR, asked, np.array([0]), np.array([40]), np.array([9]), 1)
    assert found.number.tolist() == [4]
    assert joined_stretches(BY_FOUR, asked) == [(8, 12), (16, 20)]


def test_among() -> None:
    assert tiles((0, 8), (1, 8), (1, -1)).among(tiles((1, 8), (1, -1), (2, 3))).tolist() == [False, True, True]
    assert tiles((0, 8)).among(NO_TILES).tolist() == [False]


@pytest.mark.parametrize("kind", [Sliding(30, 10, 3), Sliding(20, 20), Tumbling(20, 7), Tumbling(5)])
def test_windows_of_one_size_lie_on_their_grid(kind: Sliding | Tumbling) -> None:
    assert kind.even is not None
    for instant in range(-40, 40):
        for start, end in kind.windows_for(instant):
            assert end - start == kind.even.size_us
            assert kind.even.ends(end - 1, end) == (end, end)
            assert kind.even.ends(end, end + kind.even.step_us) == (end + kind.even.step_us, end + kind.even.step_us)
            assert kind.even.ends(end, end + kind.even.step_us - 1) is None


@pytest.mark.parametrize(
    "kind",
    [
        windows.session("2m"),
        windows.cumulating("1h", step="5m"),
        windows.tumbling("1mo"),
        windows.tumbling("1d", timezone="Europe/Berlin"),
        windows.trailing(3),
        windows.unique_sliding("2m"),
        windows.all_time(),
        windows.arrival(windows.by_count(3)),
    ],
    ids=lambda kind: type(kind).__name__,
)
def test_other_windows_have_none(kind: Window) -> None:
    assert kind.even is None
