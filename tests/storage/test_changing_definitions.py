"""Random walks through definitions, types, batches, crashes and replacements end at the windows of a clean run of the last definition."""

import random
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from muntin import Pipeline, read, run, windows
from muntin import aggregates as agg
from muntin.errors import StateError
from muntin.jobs.published.promotion import superseded
from muntin.jobs.state.bound import bind
from muntin.jobs.upkeep.maintain import maintain
from muntin.jobs.upkeep.promote import promote, rollback
from muntin.jobs.upkeep.rebuild import to_rebuild
from muntin.store.delta import DeltaStore
from tests.case_counts import random_seeds
from tests.properties.equal_values import bitwise
from tests.storage.crashing import Crash, Crashing
from tests.storage.three_batches import HERE, HOUR, START, Small

STEPS = ("next", "replace", "change", "crash", "rebuild", "promote", "roll back", "maintain")
WEIGHTS = (30, 15, 25, 10, 10, 5, 3, 2)
TYPES = (
    (pa.float64(),),
    (pa.float32(), pa.float64()),
    (pa.int32(), pa.int64()),
    (pa.int32(), pa.float64()),
    (pa.decimal128(12, 2), pa.decimal128(14, 2), pa.decimal128(18, 4)),
)
"""Of `x`, narrowest first: files of a walk have some type of a row. Results are exact in all of them."""


@dataclass
class Walk:
    """A folder with data and state, the definition as it is now, the types of `x`, and the chance that decides what happens."""

    small: Small
    chance: random.Random
    definition: Pipeline
    types: tuple[pa.DataType, ...]
    batches: int = 0
    said: list[str] = field(default_factory=list)

    @property
    def root(self) -> Path:
        return self.small.folder / "state"

    def steps(self, count: int) -> Iterator[str]:
        """So many steps; a superseded definition refuses, and then the walk goes on with it as the current one."""
        for _ in range(count):
            step = self.chance.choices(STEPS, WEIGHTS)[0] if self.batches else "next"
            self.said.append(step)
            with suppress(StateError):
                getattr(self, step.replace(" ", "_"))()
            if superseded(bind(self.definition, self.root)):
                promote(self.definition, root=self.root, spark=HERE, incomplete=True)
            yield step

    def write(self, at: int) -> None:
        minutes = [at * 60 + self.chance.uniform(-45, 60) for _ in range(self.chance.randrange(1, 6))]
        self.small.write(at, [minute if minute > 0 else None for minute in minutes])
        file, kind = self.small.folder / f"data/{at:02d}.parquet", self.chance.choice(self.types)
        table = pq.read_table(file, partitioning=None)
        x = table["x"] if pa.types.is_floating(kind) and len(self.types) == 1 else pa.compute.floor(table["x"])
        pq.write_table(table.set_column(2, "x", x.cast(kind, safe=False)), file)

    def run(self, first: int, last: int, **options: object) -> None:
        run(self.definition, root=self.root, start=START + first * HOUR, end=START + (last + 1) * HOUR, spark=HERE, **options)

    def next(self) -> None:
        for at in range(self.batches, self.batches + self.chance.choice((1, 1, 3))):
            self.write(at)
            self.batches = at + 1
        self.rebuild() if self.chance.random() < 0.3 else self.run(self.batches - 1, self.batches - 1)

    def replace(self) -> None:
        at = self.chance.randrange(self.batches)
        self.write(at)
        self.run(at, at)

    def change(self) -> None:
        self.definition = other(self.definition, self.chance)
        self.run(self.batches - 1, self.batches - 1)

    def crash(self) -> None:
        folder, at = bind(self.definition, self.root, claim=True).folder, self.chance.randrange(40)
        with suppress(Crash):
            self.run(0, self.batches - 1, store=Crashing(DeltaStore(folder), at, after=self.chance.random() < 0.5))

    def rebuild(self) -> None:
        for batch in to_rebuild(bind(self.definition, self.root)):
            run(self.definition, root=self.root, start=batch.interval_start, end=batch.interval_end, spark=HERE)

    def promote(self) -> None:
        promote(self.definition, root=self.root, spark=HERE)

    def roll_back(self) -> None:
        rollback(self.definition, root=self.root)

    def maintain(self) -> None:
        maintain(self.definition, root=self.root, older_than_us=0, superseded=self.chance.random() < 0.5)

    def end(self) -> None:
        """All batches under the last definition, which is current then."""
        self.run(0, self.batches - 1)
        promote(self.definition, root=self.root, spark=HERE, incomplete=True)


def other(now: Pipeline, chance: random.Random) -> Pipeline:
    """A definition that differs in one thing."""
    grace, size = (timedelta(minutes=chance.choice((0, 30, 60, 120))) for _ in range(2))
    changes: dict[str, object] = chance.choice(
        (
            {"windows": {**now.windows, "hours": windows.sliding("2h", step="1h", grace=grace)}},
            {"windows": {**now.windows, "hours": windows.tumbling(chance.choice(("20m", "1h", "2h")))}},
            {"windows": {name: kind for name, kind in now.windows.items() if name != "visits"}},
            {"windows": {**now.windows, "visits": windows.session("20m", grace=size)}},
            {"windows": {**now.windows, "threes": windows.arrival(windows.by_count(3))}},
            {"keys": [] if now.keys else ["k"]},
            {"where": chance.choice((None, "x > 0", "x < 1e9"))},
            {"aggregates": {"n": agg.count(), "total": agg.sum("x"), "spread": agg.stddev("x"), "mean": agg.mean("x")}},
            {"aggregates": {"n": agg.count(), "spread": agg.max("x"), "total": chance.choice((agg.sum("x"), agg.count()))}},
        )
    )
    return replace(now, **changes)


def as_wide(clean: pa.Table, types: pa.Schema) -> pa.Table:
    """A clean run's windows in the types that a table has: these stay wide once a file had a wide `x`, though another took its place."""
    assert clean.column_names == types.names
    assert all(wide == kind or is_wider(wide, kind) for wide, kind in zip(types.types, clean.schema.types, strict=True))
    return clean.cast(types, safe=True)


def is_wider(wide: pa.DataType, kind: pa.DataType) -> bool:
    if pa.types.is_decimal(wide) and pa.types.is_decimal(kind):
        return wide.scale >= kind.scale
    return wide.bit_width >= kind.bit_width and not (pa.types.is_floating(kind) and not pa.types.is_floating(wide))


@pytest.mark.parametrize("seed", random_seeds(500))
def test_the_last_definition_counts(tmp_path: Path, seed: int) -> None:
    """Many short walks, and every tenth a long one."""
    small, chance = Small(tmp_path), random.Random(seed)
    walk = Walk(small, chance, small.pipeline, chance.choice(TYPES))
    for _ in walk.steps(chance.randrange(3, 6) if seed % 10 else 12):
        for table in (tmp_path / "state/small/windows").glob("*"):
            DeltaTable(str(table)).to_pyarrow_table()  # readers can always read
    walk.end()
    pipeline, end = walk.definition, START + walk.batches * HOUR
    run(pipeline, root=tmp_path / "clean", start=START, end=end, spark=HERE)
    for name in pipeline.windows:
        ours, clean = (read(pipeline, name, root=tmp_path / root, provisional=True) for root in ("state", "clean"))
        assert len(ours) == len(clean) == 0 or bitwise(ours, as_wide(clean, ours.schema)), (seed, name, walk.types, walk.said)
        known = DeltaTable(str(tmp_path / "state/small/windows" / name)).to_pyarrow_table()
        assert len(known) == len(read(pipeline, name, root=tmp_path / "clean")), (seed, name, walk.said)
