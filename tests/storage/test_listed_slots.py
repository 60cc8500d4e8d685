"""Lists of distinct values in slots: what came is put together in between, and what does not fit is left to groups."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import aggregates as agg
from muntin import windows
from muntin.states import listed_slots
from muntin.states.listed_slots import Occurrences
from tests.storage.lifted_rows import START, definition, slots_made, write_rows, written

LISTS = {
    "kinds": agg.count_distinct("i"),
    "some": agg.mode("s", where="i > 3"),
    "at": agg.max_by("i", "s", ties=True),
    "high": agg.count_if("i > 3"),
}


def test_pairs_are_counted_whatever_is_put_together_in_between() -> None:
    dice, found, came = np.random.default_rng(0), Occurrences(keys=3), Counter[tuple[int, int]]()
    with mock.patch.object(listed_slots, "_AT_LEAST", 50):
        for _ in range(40):
            slot, value, valid = dice.integers(0, 6, 30), dice.integers(-4, 4, 30), dice.random(30) < 0.8
            assert found.take(slot, value, valid)
            came.update(zip(slot[valid].tolist(), value[valid].tolist(), strict=True))
        assert len(found.pieces) < 10
        found.widened(5)
    slot, value, often = (each.tolist() for each in found.together() or ())
    wider = {(slot // 3 * 5 + slot % 3, value): count for (slot, value), count in came.items()}
    assert dict(zip(zip(slot, value, strict=True), often, strict=True)) == wider


def test_lists_in_slots_are_those_of_groups(tmp_path: Path) -> None:
    write_rows(tmp_path / "data", 0, ("ever more",))
    pipeline = definition(tmp_path / "data", 1, {"wide": windows.tumbling("30m")}, LISTS)
    expected = written(tmp_path, "groups", pipeline)
    with slots_made("dense") as made, mock.patch.object(listed_slots, "_AT_LEAST", 50):
        assert written(tmp_path, "slots", pipeline) == expected
    assert made
    assert all(made), "none was left to groups"


@pytest.mark.parametrize("in_order", [np.tile, np.repeat])
def test_values_that_are_too_far_apart_are_left_to_groups(tmp_path: Path, in_order: Callable[..., np.ndarray]) -> None:
    """They do not fit 62 bits beside the slot: those of the first rows at hand, or only those of all rows together."""
    (tmp_path / "data").mkdir()
    values = in_order([-(2**62), 2**62], 700)
    times = pa.array([START] * len(values), pa.timestamp("us", tz="UTC"))
    pq.write_table(pa.table({"t": times, "i": values}), tmp_path / "data/rows.parquet", row_group_size=700)
    pipeline = definition(tmp_path / "data", 0, {"wide": windows.tumbling("10m")}, {"kinds": agg.count_by("i")})
    expected = written(tmp_path, "groups", pipeline)
    with slots_made("dense") as made:
        assert written(tmp_path, "slots", pipeline) == expected
    assert made == [None]
