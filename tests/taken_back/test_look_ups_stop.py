"""Wherever a run stops whose rows change and look up, the next run ends with the windows of a clean run: by the rates of then, too."""

import random
import shutil
from contextlib import suppress
from pathlib import Path

import pytest

from muntin import run, windows
from muntin.jobs.inputs.dimensions.changed_rows import lookup_changes
from muntin.jobs.state.bound import bind
from muntin.tasks import Local
from tests.case_counts import long, seeds, some
from tests.end_to_end.hourly import hour
from tests.forgetting.stops import Stop
from tests.storage.crashing import Crash
from tests.taken_back.rated_shop import RatedShop
from tests.taken_back.test_random_stories import HOURS, rows, signs, story

PARTS = 4
HOUR = {"hour": windows.tumbling("1h", grace="2h")}
RATES = [[("Graz", 0, 1.0), ("Linz", 0, 2.0)], [("Graz", 0, 1.0), ("Linz", 0, 3.0)], [("Graz", 15, 4.0), ("Linz", 0, 3.0)]]


# hour    0                  1               2: the run that stops
# 7       c, 3.0, Graz       u, 8.0, Linz
# 8       c, 1.0, Graz                       d
# 9                                          c, 2.0, Graz
# Linz    2.0                                3.0
@pytest.mark.parametrize("part", range(PARTS) if long() else [0])
def test_a_run_ends_when_it_is_run_again(part: int, tmp_path: Path) -> None:
    shop, kept = RatedShop(tmp_path), tmp_path / "kept"
    shop.hours.other["windows"] = shop.clean.other["windows"] = HOUR  # type: ignore[index]
    shop.rates.write(RATES[0])
    shop.tell({0: [("c", 7, 10, 3.0), ("c", 8, 20, 1.0)], 1: [("u", 7, 10, 8.0)]})
    here(shop, 0, 1)
    shutil.copytree(shop.hours.root, kept)
    shop.tell({2: [("d", 8, None, None), ("c", 9, 130, 2.0)]})
    shop.rates.write(RATES[1])
    whole = Stop()
    with whole.watching():
        here(shop, 2)
    assert euros(shop) == [24.0, 2.0]
    shop.rates.write(RATES[2])
    here(shop, 2)
    assert euros(shop) == [24.0, 8.0]
    points = [(at, after) for at in range(whole.count) for after in (False, True)]
    assert len(points) > 60
    for number, (at, after) in enumerate(some(points)[part::PARTS]):
        shutil.rmtree(shop.hours.root)
        shutil.copytree(kept, shop.hours.root)
        shop.rates.write(RATES[1])
        with Stop(at, after=after).watching(), pytest.raises(Crash):
            here(shop, 2)
        shop.rates.write(RATES[1 + number % 2])
        here(shop, 2)
        assert euros(shop) == [[24.0, 2.0], [24.0, 8.0]][number % 2], (at, after)
        assert lookup_changes(bind(shop.pipeline, shop.hours.root)).why == {}, (at, after)


@pytest.mark.parametrize("seed", seeds(10))
def test_runs_of_a_random_story_stop(seed: int, tmp_path: Path) -> None:
    look_ups_that_stop(seed, tmp_path)


def look_ups_that_stop(seed: int, folder: Path) -> None:
    """Random changes and rates; each run stops somewhere, or ends; at last the last hour is run alone, until it ends."""
    dice = random.Random(f"stopped {seed}")
    shop = RatedShop(folder, dice.randint(1, 4), "parquet", required=dice.random() < 0.4, **signs(dice))
    shop.tell(story(dice))
    shop.rates.write([("Graz", -150, 1.5), ("Linz", 60, 1.25)])
    for _ in range(dice.randint(2, 4)):
        first = dice.randrange(HOURS)
        shop.rates.draw(dice)
        if dice.random() < 0.4:
            shop.tell({first: rows(dice, first)})
        _stopped(shop, dice, first, min(first + dice.randint(0, 3), HOURS - 1))
    here(shop, 0, HOURS - 1)
    shop.rates.draw(dice)
    _stopped(shop, dice, HOURS - 1)
    here(shop, HOURS - 1)
    shop.check()


def _stopped(shop: RatedShop, dice: random.Random, first: int, last: int | None = None) -> None:
    with Stop(dice.randrange(120), after=dice.random() < 0.5).watching(), suppress(Crash):
        here(shop, first, last)


def here(shop: RatedShop, first: int, last: int | None = None) -> None:
    """One task at a time: none goes on while the world has stopped."""
    run(shop.pipeline, root=shop.hours.root, start=hour(first), end=hour((first if last is None else last) + 1), spark=Local(1))


def euros(shop: RatedShop) -> list[float]:
    return [each for each in shop.read("hour")["euros"].to_pylist() if each is not None]
