"""Whoever reads in a loop while definitions and sources change sees the windows of one moment, never a mixture of two."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from threading import Event, Thread

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable

from muntin import Pipeline, run, windows
from muntin import aggregates as agg
from muntin.jobs.upkeep.maintain import maintain
from muntin.jobs.upkeep.promote import promote, rollback
from tests.storage.three_batches import HERE, HOUR, OTHER, START, Small

FEWEST = 10  # readings by each reader


def content(rows: pa.Table) -> str:
    """A name of columns, types and rows, whatever their order."""
    kinds = sorted(f"{each.name} {each.type}" for each in rows.schema)
    return sha256(repr((kinds, sorted(repr(sorted(row.items())) for row in rows.to_pylist()))).encode()).hexdigest()


def by_deltalake(place: str) -> pa.Table:
    return DeltaTable(place).to_pyarrow_table()


def by_duckdb(place: str) -> pa.Table:
    dataset = DeltaTable(place).to_pyarrow_dataset()
    with duckdb.connect() as session:
        session.register("windows", dataset)
        return session.sql("FROM windows").to_arrow_table()


READERS = (by_deltalake, by_duckdb)


@dataclass
class Watched:
    """A table, what two readers saw of it, and what it held after each step."""

    place: str
    seen: dict[str, list[str]] = field(default_factory=lambda: {reader.__name__: [] for reader in READERS})
    held: list[dict[str, str]] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    done: Event = field(default_factory=Event)

    def inspect(self) -> None:
        try:
            while not self.done.is_set() or min(map(len, self.seen.values())) < FEWEST:
                for reader in READERS:
                    self.seen[reader.__name__].append(content(reader(self.place)))
        except Exception as wrong:  # noqa: BLE001 - a thread's error is lost otherwise
            self.wrong.append(repr(wrong))

    def note(self) -> None:
        self.held.append({reader.__name__: content(reader(self.place)) for reader in READERS})

    @contextmanager
    def in_a_loop(self) -> Iterator[None]:
        self.note()
        thread = Thread(target=self.inspect)
        thread.start()
        yield
        self.done.set()
        thread.join()


def test_readers_see_one_moment(tmp_path: Path) -> None:
    small, root = Small(tmp_path), tmp_path / "state"
    small.write_all()
    for file in (tmp_path / "data").iterdir():
        retyped(file, pa.float32())
    small.run("state")
    now = small.pipeline

    def ran(pipeline: Pipeline, **options: object) -> None:
        run(pipeline, root=root, start=START, end=START + 3 * HOUR, spark=HERE, **options)

    watched = Watched(str(root / "small/windows/hours"))
    graced = replace(now, windows={**now.windows, "hours": windows.sliding("2h", step="1h", grace="30m")})
    more = replace(graced, aggregates={**now.aggregates, "most": agg.max("x")})
    with watched.in_a_loop():
        small.write(1, OTHER)
        retyped(tmp_path / "data/01.parquet", pa.float32())
        for step in (
            lambda: ran(now),
            lambda: ran(graced),
            lambda: ran(more, promoting=False),
            lambda: promote(more, root=root, spark=HERE),
            lambda: retyped(tmp_path / "data/02.parquet", pa.float64()),
            lambda: ran(more),
            lambda: rollback(more, root=root),
            lambda: promote(more, root=root, spark=HERE, incomplete=True),
            lambda: maintain(more, root=root, older_than_us=3_600_000_000),
            lambda: ran(replace(now, keys=[])),
        ):
            step()
            watched.note()
    assert watched.wrong == []
    for reader, seen in watched.seen.items():
        assert {*seen} <= {moment[reader] for moment in watched.held}
        assert len({*seen}) > 3, "the readers are too slow to see anything change"
    assert len({*(moment["by_deltalake"] for moment in watched.held)}) > 5


def retyped(file: Path, kind: pa.DataType) -> None:
    """Give `x` another type."""
    table = pq.read_table(file, partitioning=None)
    pq.write_table(table.set_column(2, "x", table["x"].cast(kind)), file)
