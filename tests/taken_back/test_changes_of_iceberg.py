"""Rows that snapshots of a table of Iceberg update and delete: the windows are those of the rows that are left."""

import random
from pathlib import Path

import pytest

from tests.case_counts import seeds
from tests.taken_back.iceberg_shop import IcebergShop
from tests.taken_back.test_changes_of_tables import check_a_story


@pytest.mark.parametrize("seed", seeds(6))
def test_windows_are_those_of_the_rows_that_are_left(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dice = random.Random(f"a table of Iceberg {seed}")
    shop = IcebergShop(tmp_path, dice.randint(1, 4))
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__URI", shop.lake.uri)
    check_a_story(shop, dice)
