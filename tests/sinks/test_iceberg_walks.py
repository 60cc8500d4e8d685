"""Random walks through definitions, types, batches, crashes, promotions and sweeps, with a mirror: each snapshot has what was published."""

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from pyiceberg.catalog import load_catalog

from muntin import sinks
from muntin.jobs.sending.send import send
from muntin.jobs.state.bound import bind
from tests.case_counts import random_seeds
from tests.storage.test_changing_definitions import TYPES, Walk
from tests.storage.three_batches import Small


def values(table: pa.Table) -> list[Any]:
    """Rows, by name and to the bit, whatever the width of their types."""
    return sorted(tuple(row.items()) for row in ({name: repr(value) for name, value in row.items()} for row in table.to_pylist()))


LOST_COLUMNS = 3389603  # between two sendings windows are published with columns, which the next definition does not have


@pytest.mark.parametrize("seed", [LOST_COLUMNS, *random_seeds(400)])
def test_each_snapshot_has_what_was_published(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    uri = f"sqlite:///{tmp_path}/lake.db"
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__URI", uri)
    small, chance, seen = Small(tmp_path), random.Random(seed), dict[int, Any]()
    walk = Walk(small, chance, small.pipeline, chance.choice(TYPES))
    for step in walk.steps(12):
        if not (tmp_path / "state/small/windows/hours/_delta_log").exists() or chance.random() < 0.2:
            continue
        there = DeltaTable(str(tmp_path / "state/small/windows/hours"))
        to = sinks.iceberg("lake", "shop.hours", window="hours")
        (sent,) = send(bind(replace(walk.definition, to=to), walk.root))
        assert not sent.failed, (walk.said, sent.failed)
        seen[there.version()] = values(there.to_pyarrow_table())
        with load_catalog("lake", uri=uri) as catalog:
            table = catalog.load_table("shop.hours")
        assert table.scan().to_arrow().column_names == there.to_pyarrow_table().column_names, (walk.said, step)
        assert values(table.scan().to_arrow()) == seen[there.version()], (walk.said, step)
        for snapshot in table.snapshots():
            if (version := int(snapshot.summary["muntin.version"])) in seen:
                assert values(table.scan(snapshot_id=snapshot.snapshot_id).to_arrow()) == seen[version], (walk.said, version)
