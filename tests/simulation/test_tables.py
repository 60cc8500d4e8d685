"""Tables in memory obey the same rules as Delta tables: whatever is committed, the same commits succeed, and leave the same files."""

from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from muntin.errors import MuntinError
from muntin.store.delta import DeltaStore
from muntin.store.parquet import write_named
from muntin.store.store import Change, File, Snapshot, Store
from tests.case_counts import random_seeds
from tests.simulation.disk import Disk
from tests.simulation.place import Place
from tests.simulation.tables import MemoryStore, Tables

SCHEMA = pa.schema([("n", pa.int64())])
COMMITS = 8


def outcome(store: Store, base: Snapshot, change: Change) -> str:
    try:
        store.commit("t", base, change)
    except MuntinError as wrong:
        return type(wrong).__name__
    return "done"


def new_file(folder: Path, number: int, disk: Disk, root: Place) -> File:
    """A file on both disks."""
    file = File(**write_named(pa.table({"n": [number]}, SCHEMA), folder / "t", lambda digest: f"{digest}.parquet"))
    disk.write(f"{root}/t/{file.path}", b"x" * file.size)
    return file


def drawn(dice: Random, file: File, base: Snapshot) -> Change:
    removes = [known for known in base.files if dice.random() < 0.2]
    return Change(SCHEMA, [file], removes, [name for name in ("a", "b") if dice.random() < 0.3])


@pytest.mark.parametrize("seed", random_seeds(60))
def test_both_stores_accept_the_same_commits(tmp_path: Path, seed: int) -> None:
    dice, disk, root = Random(seed), Disk(), Place("/memory")
    real, memory = DeltaStore(tmp_path), MemoryStore(root, Tables(disk, strict=True))
    seen: list[tuple[Any, Any]] = [(real.snapshot("t"), memory.snapshot("t"))]
    for number in range(COMMITS):
        base = dice.choice(seen[-3:])
        change = drawn(dice, new_file(tmp_path, number, disk, root), base[0])
        assert outcome(real, base[0], change) == outcome(memory, base[1], change), (number, base[0].version, change)
        seen.append((real.snapshot("t"), memory.snapshot("t")))
        assert [file.path for file in seen[-1][0].files] == [file.path for file in seen[-1][1].files]
