"""Random stories of commits that come late, change rows, compact: a run that names no batch publishes what a first run does."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from muntin import Limits, Pipeline, run, sources, windows
from muntin import aggregates as agg
from muntin.jobs.inputs.inputs import source_changes
from muntin.jobs.state.bound import bind
from muntin.tasks import Local
from tests.case_counts import at_length, random_seeds, some
from tests.end_to_end.hourly import START, hour, times
from tests.end_to_end.test_random_changes import KINDS, published, stopped
from tests.tables.delta_tables import append, dated
from tests.tables.iceberg_tables import Lake
from tests.taken_back.delta_shop import DeltaShop, tell
from tests.taken_back.iceberg_shop import IcebergShop

HOURS = 6


class Delta:
    """A Delta table that gets rows."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "table"
        self.source = sources.table(str(self.path), event_time="at")

    def append(self, more: pa.Table, at: float) -> None:
        append(self.path, more, hour(at))

    def compact(self, at: float) -> None:
        before = DeltaTable(self.path).version()
        DeltaTable(self.path).optimize.compact()
        if DeltaTable(self.path).version() > before:
            dated(self.path, hour(at))


class Iceberg:
    """A table of Iceberg that gets rows."""

    def __init__(self, folder: Path) -> None:
        self.lake = Lake(folder)
        self.source = sources.iceberg("lake", "shop.orders", event_time="at")

    def append(self, more: pa.Table, at: float) -> None:
        self.lake.append(more, hour(at))

    def compact(self, at: float) -> None:
        self.lake.compact(hour(at))


TABLES: dict[str, Callable[[Path], Any]] = {"delta": Delta, "iceberg": Iceberg}
NOW_US = 0


def rows(chance: Random, at: int) -> pa.Table:
    minutes = sorted(chance.randint(0, 59) for _ in range(chance.randint(1, 4)))
    return pa.table({
        "at": times(*(60 * at + each for each in minutes)),
        "k": chance.choices("ab", k=len(minutes)),
        "x": [chance.randint(0, 9) / 3 for _ in minutes],
    })  # fmt: skip


def over(source: Any) -> tuple[Pipeline, Pipeline]:
    """The pipeline over a table, and a pipeline over its windows."""
    common: dict[str, Any] = {"schedule": "1h", "start": START, "limits": Limits(max_quarantined=None)}
    aggregates = {"n": agg.count(), "x": agg.sum("x"), "first": agg.first("x")}
    orders = Pipeline(name="orders", source=source, keys=["k"], windows=KINDS, aggregates=aggregates, **common)
    pairs = {"pair": windows.tumbling("2h")}
    return orders, Pipeline(name="over", source=sources.windows(orders, "hour"), windows=pairs, aggregates={"n": agg.sum("n")}, **common)


def lived(seed: int, kind: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir()
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__URI", Lake(folder).uri)
    table, chance = TABLES[kind](folder), Random(f"commits {seed}")
    pipelines = over(table.source)

    def run_both(start: Any, state: str = "state") -> None:
        for each in pipelines:
            run(each, root=folder / state, start=start, end=hour(HOURS), spark=Local(2))

    for at in range(HOURS):
        table.append(rows(chance, at), at + 0.5)
    run_both(START)
    for _ in range(chance.randint(1, 3)):
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(HOURS - 1)
            if chance.random() < 0.3:
                table.compact(at + 0.8)
            else:
                table.append(rows(chance, at), at + 0.7)
        if chance.random() < 0.4:
            with stopped(chance, monkeypatch):
                run_both(hour(HOURS - 1))
    runs = chance.choice([[None], [hour(HOURS - 1)], [None, hour(HOURS - 1)]])  # by itself, of the next batch, both at once
    with ThreadPoolExecutor(2) as threads:
        [*threads.map(run_both, runs)]
    run_both(START, "clean")
    assert published(pipelines, folder / "state") == published(pipelines, folder / "clean"), seed
    table.compact(HOURS - 0.2)
    assert source_changes(bind(pipelines[0], folder / "state"), NOW_US).why == {}


def changed(seed: int, kind: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are updated, deleted, merged, overwritten and restored, with a feed and without; runs stop; the last names no batch."""
    chance = Random(f"changes {seed}")
    shop = (DeltaShop if kind == "delta" else IcebergShop)(folder, chance.randint(1, 4), chance.random() < 0.6)
    folder.mkdir()
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__URI", Lake(folder).uri)
    for now in tell(shop, chance, HOURS):
        if chance.random() < 0.5:
            with stopped(chance, monkeypatch):
                shop.run(now)
    run(shop.pipeline, root=folder / "state", end=hour(HOURS), spark=Local(2))
    shop.check(HOURS)


STORIES = {"late": lived, "changed": changed}


@pytest.mark.parametrize(("story", "kind"), some(product(STORIES, TABLES), one_in=4))
def test_a_story(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, story: str, kind: str) -> None:
    for seed in random_seeds(100):
        STORIES[story](seed, kind, tmp_path / str(seed), monkeypatch)


@at_length
@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("story", STORIES)
@pytest.mark.parametrize("seed", range(40))
def test_stories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, story: str, kind: str, seed: int) -> None:
    STORIES[story](seed, kind, tmp_path / "story", monkeypatch)
