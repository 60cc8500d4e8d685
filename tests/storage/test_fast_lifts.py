"""Each fast way from rows to states writes the very files that DuckDB's GROUP BY leads to: their names tell their content."""

import dataclasses
from pathlib import Path
from unittest import mock

import numpy as np
import pyarrow.parquet as pq
import pytest

from muntin import aggregates as agg
from muntin import read, windows
from muntin.jobs.accumulate import accumulate_split, slot_lift
from muntin.states import slot_tables
from muntin.states.rows_in_slots import rows_in_slots
from tests.case_counts import some
from tests.storage.lifted_rows import AGGREGATES, OF_SEVERAL_ROWS, definition, slots_made, write_rows, written

LAYOUTS = ("dense", "linked")


@pytest.mark.parametrize(
    "keys",
    some(
        [
            (),
            ("integers",),
            ("small",),
            ("ever more",),
            ("texts",),
            ("far apart",),
            ("integers", "texts"),
            ("ever more", "texts"),
            ("texts", "integers", "far apart"),
        ],
        one_in=4,
    ),
)
@pytest.mark.parametrize("seed", some(range(3)))
def test_slots_give_what_groups_give(tmp_path: Path, seed: int, keys: tuple[str, ...]) -> None:
    write_rows(tmp_path / "data", seed, keys)
    pipeline = definition(tmp_path / "data", len(keys), {"wide": windows.tumbling("30m"), "gaps": windows.session("30m")}, AGGREGATES)
    expected = written(tmp_path, "groups", pipeline)
    for layout in LAYOUTS:
        with slots_made(layout) as made:
            assert written(tmp_path, layout, pipeline) == expected
        assert any(made) or seed % 3


# seconds of a gap      1: nearly each row is a state      60: some rows are
@pytest.mark.parametrize("seconds", some([1, 60], one_in=2))
@pytest.mark.parametrize("seed", some(range(4)))
def test_linked_states_of_many_frames(tmp_path: Path, seed: int, seconds: int) -> None:
    """Rows of odd seeds come in no order of time."""
    write_rows(tmp_path / "data", 3 * seed, ("ever more",))
    kinds = {"gaps": windows.session(f"{seconds}s"), "short": windows.tumbling(f"{seconds}s")}
    pipeline = definition(tmp_path / "data", 1, kinds, AGGREGATES)
    expected = written(tmp_path, "groups", pipeline)
    with slots_made("linked") as made, mock.patch.object(slot_tables, "_LINKS_PER_ROW", 10_000):
        assert written(tmp_path, "linked", pipeline) == expected
    assert made
    assert made
    assert all(made)


EXACT = ("n", "positive", "known", "whole", "least", "narrow")


# seconds of a gap      1: hardly two events are near each other      60: many are; rows of odd seeds, in no order, join runs
@pytest.mark.parametrize("seconds", some([1, 4, 60], one_in=2))
@pytest.mark.parametrize("seed", some(range(4)))
def test_runs_of_rows_are_those_of_frames(tmp_path: Path, seed: int, seconds: int) -> None:
    write_rows(tmp_path / "data", 3 * seed, ("ever more",))
    kinds = {"gaps": windows.session(f"{seconds}s"), "splits": windows.session(f"{seconds}s", touching="split")}
    pipeline = definition(tmp_path / "data", 1, kinds, {name: AGGREGATES[name] for name in EXACT})
    expected = written(tmp_path, "groups", pipeline)
    assert "runs" in expected[0]
    with slots_made("linked") as made, mock.patch.object(slot_tables, "_LINKS_PER_ROW", 10_000):
        assert written(tmp_path, "linked", pipeline) == expected
    assert made
    assert made
    assert all(made)


def test_floats_of_runs_differ_in_the_last_bits_only(tmp_path: Path) -> None:
    """And in which of 0.0 and -0.0 is the least."""
    write_rows(tmp_path / "data", 6, ("integers",))
    names = ("n", "float", "half", "low", "high", "nearly", "spread", "skewed", "together")
    pipeline = definition(tmp_path / "data", 1, {"gaps": windows.session("40s")}, {name: AGGREGATES[name] for name in names})
    written(tmp_path, "groups", pipeline)
    with slots_made("linked") as made:
        written(tmp_path, "linked", pipeline)
    assert made
    assert all(made)
    frames, rows = (read(pipeline, "gaps", root=tmp_path / name) for name in ("groups", "linked"))
    for name in rows.column_names:
        if name in names:
            assert np.allclose(*(table[name].to_numpy().astype(float) for table in (frames, rows)), rtol=1e-9, equal_nan=True), name
        else:
            assert rows[name].equals(frames[name]), name


@pytest.mark.parametrize("layout", some(LAYOUTS, one_in=2))
@pytest.mark.parametrize("seed", some(range(4)))
def test_moments_of_any_floats(tmp_path: Path, seed: int, layout: str) -> None:
    """No sum is among the aggregates: it would leave NaN and infinities to groups."""
    write_rows(tmp_path / "data", seed, ("ever more",))
    pipeline = definition(tmp_path / "data", 1, {"wide": windows.tumbling("30m")}, {name: AGGREGATES[name] for name in OF_SEVERAL_ROWS})
    expected = written(tmp_path, "groups", pipeline)
    with slots_made(layout) as made:
        assert written(tmp_path, "slots", pipeline) == expected
    assert made
    assert all(made), "none was left to groups"


@pytest.mark.parametrize("seed", some(range(2)))
def test_slots_of_frames_of_several_lengths(tmp_path: Path, seed: int) -> None:
    """Nepal's clocks, once 5:30 and now 5:45 ahead: frames of 20 minutes begin at :10, :15, :30, :35, :50 and :55."""
    write_rows(tmp_path / "data", seed, ("texts",))
    pipeline = definition(tmp_path / "data", 1, {"local": windows.tumbling("20m", timezone="Asia/Kathmandu")}, AGGREGATES)
    expected = written(tmp_path, "groups", pipeline)
    assert all(path.split("/")[3] == "20m_at_10m_15m" for path in expected)
    with (
        mock.patch.object(accumulate_split, "MANY_ROWS", 1),
        mock.patch.object(slot_lift, "rows_in_slots", wraps=rows_in_slots) as slots,
    ):
        assert written(tmp_path, "slots", pipeline) == expected
    assert slots.called


@pytest.mark.parametrize("key", some(["v0", "0", "n"], one_in=2))
def test_a_key_may_have_any_name(tmp_path: Path, key: str) -> None:
    write_rows(tmp_path / "data", 0, ("texts",))
    (file,) = (tmp_path / "data").iterdir()
    pq.write_table(pq.read_table(file).rename_columns({"k0": key}), file)
    pipeline = dataclasses.replace(
        definition(tmp_path / "data", 1, {"wide": windows.tumbling("30m")}, {"whole": agg.sum("i"), "high": agg.max("f")}), keys=(key,)
    )
    expected = written(tmp_path, "groups", pipeline)
    with (
        mock.patch.object(accumulate_split, "MANY_ROWS", 1),
        mock.patch.object(slot_lift, "rows_in_slots", wraps=rows_in_slots) as slots,
    ):
        assert written(tmp_path, "slots", pipeline) == expected
    assert slots.called


# 3,600 frames of five keys, which all come with the first rows; 360 frames of ever more keys, of which few do
@pytest.mark.parametrize(("keys", "width", "made_of"), [("far apart", "1s", [True]), ("ever more", "10s", [False, True])])
def test_slots_are_linked_where_there_would_be_too_many(tmp_path: Path, keys: str, width: str, made_of: list[bool]) -> None:
    write_rows(tmp_path / "data", 0, (keys,))
    pipeline = definition(tmp_path / "data", 1, {"short": windows.tumbling(width)}, AGGREGATES)
    expected = written(tmp_path, "groups", pipeline)
    with slots_made("dense") as made:
        assert written(tmp_path, "slots", pipeline) == expected
    assert [each is not None for each in made] == made_of
