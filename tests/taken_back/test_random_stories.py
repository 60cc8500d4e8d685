"""Random stories of orders, told in any order, in bulk, and told anew: in the end the windows are those of the rows that are left."""

import random
from pathlib import Path

import pytest

from tests.case_counts import some
from tests.taken_back.stories import Row, Shop, Story

HOURS = 7
DELETED, DELETED_OTHERWISE = "op IN ('d', '-U')", "op = '?'"  # with `operation` beside it, `d` and `-U` take back in either case


def story(dice: random.Random) -> Story:
    return {hour: rows(dice, hour) for hour in range(HOURS)}


def rows(dice: random.Random, hour: int) -> list[Row]:
    """Some operations on few orders; of some nobody knows what they are."""
    return [row(dice, hour) for _ in range(dice.randint(0, 6))]


def row(dice: random.Random, hour: int) -> Row:
    op = dice.choice(["c", "c", "u", "u", "+U", "-U", "d", "d", "?"])
    order = dice.choice([None, *range(5)]) if dice.random() < 0.9 else dice.randint(100, 200)
    minute = round(60 * hour + dice.uniform(-150, 60), 3)
    return op, order, None if dice.random() < 0.1 else minute, dice.choice([None, dice.uniform(0, 10)])


def signs(dice: random.Random) -> dict[str, str | None]:
    """Whether words or a condition, or both, tell what rows do; with a condition alone nothing tells an update from a new row."""
    return dice.choice([{}, {"deletes": DELETED_OTHERWISE}, {"deletes": DELETED}, {"deletes": DELETED, "operation": None}])


@pytest.mark.parametrize("seed", some(range(20), one_in=20))
@pytest.mark.parametrize("newest_by", [None, "rank"])
def test_windows_are_those_of_the_rows_that_are_left(seed: int, newest_by: str | None, tmp_path: Path) -> None:
    stream_of_changes(seed, tmp_path, newest_by)


def stream_of_changes(seed: int, folder: Path, newest_by: str | None = None) -> None:
    """Random changes of some hours; hours are run and replaced in any order; then all, beside a clean run.

    `newest_by`: the column by which the newest row counts; None: the last row counts.
    """
    dice = random.Random(f"taken back {seed}")
    newest = {"newest_by": newest_by} if newest_by else {}
    shop = Shop(folder, dice.randint(1, 4), dice.choice(["parquet", "parquet", "csv", "jsonl"]), **signs(dice), **newest)
    told = story(dice)
    shop.tell(told)
    stretches = [(hour, min(hour + dice.randint(0, 3), HOURS - 1)) for hour in range(HOURS)] * 2
    for first, last in dice.sample(stretches, dice.randint(0, 5)):
        shop.run(first, last)
        if dice.random() < 0.5:
            again = dice.randint(first, last)
            shop.tell({again: rows(dice, again)})
            shop.run(again)
    shop.run(0, HOURS - 1)
    shop.check()
