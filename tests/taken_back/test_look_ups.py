"""Rows that change and look up: each row that is left has what was valid at its time, whichever of rows and dimension came first."""

import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from muntin import RunReport, plan, read, run
from muntin.jobs.inspect.explain import explain
from muntin.jobs.inspect.late import quarantined
from tests.case_counts import seeds
from tests.end_to_end.hourly import START, hour
from tests.taken_back.rated_shop import RatedShop, RatedTable
from tests.taken_back.test_changes_of_tables import check_a_story
from tests.taken_back.test_random_stories import HOURS, rows, signs, story

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize("seed", seeds(10))
def test_windows_are_those_of_the_rows_that_are_left(seed: int, tmp_path: Path) -> None:
    changes_that_look_up(seed, tmp_path)


def changes_that_look_up(seed: int, folder: Path) -> None:
    """Random changes and rates; hours are run and replaced, and rates change, in any order; in the end the last hour is run alone."""
    dice = random.Random(f"looked up {seed}")
    shop = RatedShop(folder, dice.randint(1, 4), dice.choice(["parquet", "parquet", "csv"]), required=dice.random() < 0.4, **signs(dice))
    shop.tell(story(dice))
    shop.rates.write([("Graz", -150, 1.5), ("Linz", 60, 1.25)])
    for _ in range(dice.randint(0, 4)):
        first = dice.randrange(HOURS)
        if dice.random() < 0.6:
            shop.rates.draw(dice)
        if dice.random() < 0.4:
            shop.tell({first: rows(dice, first)})
        shop.run(first, min(first + dice.randint(0, 3), HOURS - 1))
    shop.run(0, HOURS - 1)
    shop.rates.draw(dice)
    shop.run(HOURS - 1)
    shop.check()


@pytest.mark.parametrize("seed", seeds(10))
def test_windows_are_those_of_the_rows_that_a_table_has(seed: int, tmp_path: Path) -> None:
    changes_of_table_that_look_up(seed, tmp_path)


def changes_of_table_that_look_up(seed: int, folder: Path) -> None:
    """Random commits; rates change before hours are run, and once more before the last hour is run alone."""
    dice = random.Random(f"a table looks up {seed}")

    class Restless(RatedTable):
        def run(self, *hours: Any) -> RunReport:
            self.rates.draw(dice)
            return super().run(*hours)

    shop = Restless(folder, dice.randint(1, 4), dice.random() < 0.6)
    shop.rates.write([(1, -150, 1.5)])
    check_a_story(shop, dice)
    shop.run(HOURS - 1)
    shop.check(HOURS)


# hour    0                      1                        2
# 1       added, 3.0             updated, 8.0
# 2       added, 1.0                                      deleted
# 3                              added, 2.0
# rates   1: 1.0, 2: 2.0, 3: 3.0                          1: 4.0 from its minute 10 on
def test_a_table_that_changes_looks_up_on_spark(tmp_path: Path, spark: "SparkSession") -> None:
    shop = RatedTable(tmp_path)
    shop.rates.write([(1, -60, 1.0), (2, -60, 2.0), (3, -60, 3.0)])
    shop.add(0, {1: (10, 3.0, "Graz"), 2: (20, 1.0, "Graz")})
    shop.add(1, {3: (70, 2.0, "Graz")})
    shop.update(1.1, 1, 8.0)
    shop.run(0, 1, spark)
    assert cents(shop) == [1000, 600]
    shop.delete(2, (2).__eq__, '"order" = 2')
    shop.rates.write([(1, -60, 1.0), (1, 10, 4.0), (2, -60, 2.0), (3, -60, 3.0)])
    report = shop.run(2, spark=spark)
    assert [each.interval_start for each in report.batches] == [hour(0), hour(1), hour(2)]
    assert cents(shop) == [3200, 600]
    shop.check(3)


def cents(shop: RatedTable) -> list[int]:
    return read(shop.pipeline, "hour", root=shop.folder / "state", provisional=True)["euros"].to_pylist()


def test_a_stream_of_changes_looks_up_on_spark(tmp_path: Path, spark: "SparkSession") -> None:
    shop = RatedShop(tmp_path, required=True)
    shop.rates.write([("Graz", 0, 1.0)])
    shop.tell({0: [("c", 7, 10, 3.0), ("c", 8, 20, 1.0)], 1: [("u", 7, 10, 8.0)], 2: [("d", 8, None, None), ("c", 9, 130, 2.0)]})
    run(shop.pipeline, root=shop.hours.root, start=START, end=hour(2), spark=spark)
    shop.rates.write([("Graz", 0, 1.5), ("Linz", 0, 2.0)])
    run(shop.pipeline, root=shop.hours.root, start=hour(2), end=hour(3), spark=spark)
    assert euros(shop) == [16.0, 3.0]
    shop.check()


# hour    0                  1               2
# 7       c, 3.0, Graz       u, 8.0, Linz
# 8       c, 1.0, Graz                       d
# 9                                          c, 2.0, Graz
def test_batches_are_read_again_whose_changed_rows_met_what_changed(tmp_path: Path) -> None:
    shop = RatedShop(tmp_path)
    shop.rates.write([("Graz", 0, 1.0), ("Linz", 0, 2.0)])
    shop.tell({0: [("c", 7, 10, 3.0), ("c", 8, 20, 1.0)], 1: [("u", 7, 10, 8.0)], 2: [("d", 8, None, None), ("c", 9, 130, 2.0)]})
    shop.run(0, 2)
    assert euros(shop) == [16.0, 2.0]
    (window,) = explain(shop.pipeline, "hour", root=shop.hours.root, at=hour(0)).windows
    assert ("Linz",) in [row.key for row in window.met]
    assert [change.what for change in window.changes] == ["changes a row", "takes a row back"]
    shop.rates.write([("Graz", 0, 1.0), ("Linz", 0, 3.0)])
    found = plan(shop.pipeline, root=shop.hours.root, start=hour(2), end=hour(3)).batches
    assert [each.interval_start.hour for each in found if each.reading == "changed"] == [0, 1], "hour 2 met Graz alone"
    shop.run(2)
    assert euros(shop) == [24.0, 2.0]


# hour    0                  1                        2
# 7       c, 3.0, Graz       u, 8.0, Linz: no rate
# 8       c, 1.0, Graz                                d: it needs no rate
def test_a_change_that_finds_no_row_it_needs_waits_for_the_row(tmp_path: Path) -> None:
    shop = RatedShop(tmp_path, required=True)
    shop.rates.write([("Graz", 0, 1.0)])
    shop.tell({0: [("c", 7, 10, 3.0), ("c", 8, 20, 1.0)], 1: [("u", 7, 10, 8.0)], 2: [("d", 8, None, None)]})
    shop.run(0, 2)
    assert euros(shop) == [3.0]
    assert quarantined(shop.pipeline, root=shop.hours.root)["reason"].to_pylist() == [
        "rates has no row that is valid at the event time for Linz"
    ]
    shop.rates.write([("Graz", 0, 1.0), ("Linz", 0, 2.0)])
    shop.run(2)
    assert euros(shop) == [16.0]
    assert not len(quarantined(shop.pipeline, root=shop.hours.root))


def euros(shop: RatedShop) -> list[float]:
    return [each for each in shop.read("hour")["euros"].to_pylist() if each is not None]
