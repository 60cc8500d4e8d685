"""Rows that later rows change or take back: the windows are those of the rows that are left, however the changes come."""

from pathlib import Path

import pytest

from tests.taken_back.stories import Shop

# hour    0                      1                     2
# 7       c, minute 10, 3.0      u, minute 10, 8.0
# 8       c, minute 20, 1.0                            d
# 9                              c, minute 70, 2.0
STORY = {
    0: [("c", 7, 10, 3.0), ("c", 8, 20, 1.0)],
    1: [("u", 7, 10, 8.0), ("c", 9, 70, 2.0)],
    2: [("d", 8, None, None), ("c", 10, 130, 4.0)],
}


@pytest.mark.parametrize("form", ["parquet", "csv", "jsonl"])
def test_rows_are_changed_and_taken_back_by_later_batches(tmp_path: Path, form: str) -> None:
    shop = Shop(tmp_path, form=form)
    shop.tell(STORY)
    shop.run(0, 2)
    assert [(row["n"], row["first"]) for row in shop.read("hour").to_pylist()] == [(1, 8.0), (1, 2.0), (1, 4.0)]
    shop.check()


def test_hour_by_hour_is_as_at_once(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    for hour in range(3):
        shop.tell({hour: STORY[hour]})
        shop.run(hour)
        shop.check()
