"""The benchmark of a month as people have it finds what a look-back leaves wrong, and nothing of ours."""

from pathlib import Path

import pytest

from benchmarks.living.__main__ import lines, live
from benchmarks.living.world import World
from benchmarks.nexmark.engines import has_flink
from tests.case_counts import at_length


@at_length
def test_days_that_a_look_back_leaves_wrong_are_right_in_ours(tmp_path: Path) -> None:
    said = list[str]()
    world = World(tmp_path / "events", days=20, more=6, events=500, keys=5)
    outcomes = live(["duckdb", "muntin", "look-back"], world, tmp_path, said.append)
    assert world.replaced
    assert [sum(map(sum, outcomes[name].wrong.values())) for name in ("duckdb", "muntin")] == [0, 0]
    assert all(max(outcomes["look-back"].wrong[table]) > 0 for table in ("day", "visit"))
    assert (len(said), len(lines(outcomes))) == (6, 3)


@at_length
def test_flink_knows_late_rows_of_days_and_no_file_that_is_written_anew(tmp_path: Path) -> None:
    if not has_flink():
        pytest.skip("no Maven and JDK for Flink's jars")
    world = World(tmp_path / "events", days=15, more=5, events=500, keys=5)
    (day,) = world.replaced
    wrong = live(["duckdb", "flink"], world, tmp_path, list[str]().append)["flink"].wrong["day"]
    assert wrong[: day - world.days] == [0] * (day - world.days)
    assert all(wrong[day - world.days :])
