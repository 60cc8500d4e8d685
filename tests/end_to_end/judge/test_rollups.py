"""Rollups through the public API: the oracle's windows of fewer keys, in every way to run them the same to the last bit.

Where values are exact, they are those of a pipeline whose keys are the fewer keys from the start, bit for bit.

`MUNTIN_JUDGE=100` takes all aggregates instead of some.
"""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from muntin import Pipeline, read, run, sources, windows
from muntin.jobs.finalize import shard
from tests.case_counts import some
from tests.catalogue.kinds import JUDGED
from tests.end_to_end.judge import test_every_aggregate as every
from tests.end_to_end.judge import user_files as face
from tests.end_to_end.judge.scenario_on_disk import Bench, bench
from tests.end_to_end.judge.scenarios import Scenario, scenario
from tests.end_to_end.judge.test_random_batches import in_pieces, replaced, reversed_, two_at_once
from tests.end_to_end.judge.verdict import bits, differences, truth
from tests.storage.three_batches import HERE

FEWER = {"by_name": ("name",), "by_shard": ("shard",), "all": ()}
ROUNDED = ("spent", "mean_x", "spread", "spread_all", "deviation", "deviation_all")
BY_ARRIVAL = ("opening", "closing", "closing_v")
"""Of rows at one time and in one batch, a rollup takes those of one key first, whichever came first."""
KINDS = ("thirty", "so_far", "quiet", "cut", "changes", "ever", "season", "day")
AGGREGATES = {
    name: each
    for at, (name, each) in enumerate(every.AGGREGATES.items())
    if "MUNTIN_JUDGE" in os.environ or at % 24 == 0 or each.name in ("least", "approx_quantiles", "approx_count_distinct")
}
WAYS: tuple[Callable[[Bench], None], ...] = (reversed_, in_pieces, replaced)


def rolled_up(seed: int, rollup: str) -> Scenario:
    """A random scenario with a rollup; every second kind of windows."""
    chosen = {name: JUDGED[name] for name in KINDS[seed % 2 :: 2]}
    return replace(scenario(seed), windows=chosen, keys=("name", "shard"), rollups={rollup: FEWER[rollup]})


@pytest.mark.parametrize(("seed", "rollup"), some([(1, "all"), (2, "by_shard")]))
def test_every_way_publishes_what_the_oracle_says_of_fewer_keys(seed: int, rollup: str, tmp_path: Path) -> None:
    judged(bench(rolled_up(seed, rollup), tmp_path, HERE), WAYS[seed % len(WAYS)], rollup)


def test_so_it_is_on_spark_in_several_shards(tmp_path: Path, spark: object) -> None:
    judged(bench(rolled_up(4, "by_name"), tmp_path, spark), in_shards, "by_name")


def in_shards(made: Bench) -> None:
    """By two threads, the keys of a window in several tasks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shard, "SHARD_ROWS", 40)
        two_at_once(made)


def judged(made: Bench, way: Callable[[Bench], None], rollup: str) -> None:
    """Published and open windows against the oracle; then those of a clean run, and of a pipeline with fewer keys, bit by bit."""
    way(made)
    replace(made, spark=HERE).run("clean")
    apart = bench(replace(made.case, keys=FEWER[rollup], rollups={}), made.folder / "apart", HERE)
    apart.run("state")
    ours, clean, plain = made.tables("state"), made.tables("clean"), apart.tables("state")
    for name in made.case.windows:
        window = f"{name}.{rollup}"
        assert bits(ours[window]) == bits(clean[window]), (way.__name__, window)
        exact = [column for column in plain[name].column_names if column not in (*ROUNDED, *BY_ARRIVAL)]
        assert bits(ours[window].select(exact)) == bits(plain[name].select(exact)), window
        said = truth(apart.case, name)
        found = face.published(made.pipeline, window, made.folder / "state", made.case.batches, provisional=True)
        found = [{column: value for column, value in row.items() if column not in BY_ARRIVAL} for row in found]
        wanted = [[{c: v for c, v in row.items() if c not in BY_ARRIVAL} for row in rows] for rows in (said.published, said.still_open)]
        assert differences(apart.case, [row for row in found if not row["provisional"]], wanted[0]) == [], window
        assert differences(apart.case, [row for row in found if row["provisional"]], wanted[1]) == [], window


def test_every_aggregate_of_a_rollup_is_that_of_a_clean_run(tmp_path: Path) -> None:
    """Sketches, lists, own aggregates and doubles that sum differently in every order: batches one by one, the last first, in shards."""
    for number in every.BATCHES:
        every.write(tmp_path / "data", number, every.batch(3, number))
    pipeline = Pipeline(
        name="p",
        source=sources.files(str(tmp_path / "data/{start:%H%M}.parquet"), event_time="t"),
        schedule="10m",
        start=every.BEGIN,
        keys=["k", "s"],
        rollups={"by_k": ["k"]},
        windows={"session": windows.session("90s", grace="4m")},
        aggregates=AGGREGATES,
    )
    run(pipeline, root=tmp_path / "clean", start=every.BEGIN, end=every.BEGIN + len(every.BATCHES) * every.STEP, spark=HERE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shard, "SHARD_ROWS", 20)
        for number in reversed(every.BATCHES):
            start = every.BEGIN + number * every.STEP
            run(pipeline, root=tmp_path / "state", start=start, end=start + every.STEP, spark=HERE)
    tables = [read(pipeline, "session.by_k", root=tmp_path / root, provisional=True) for root in ("state", "clean")]
    assert len(tables[0]) > len(every.BATCHES)
    assert repr(tables[0].to_pylist()) == repr(tables[1].to_pylist())  # of doubles the shortest text that is this double
