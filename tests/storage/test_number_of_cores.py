"""Windows do not depend on the number of cores."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from muntin import Pipeline, read, run, windows
from muntin.jobs.finalize import shard
from muntin.jobs.finalize.finalize_task import finalize_shards
from muntin.tasks import Local
from tests.storage.lifted_rows import AGGREGATES, ARRIVED, START, definition, write_rows


def test_windows_do_not_depend_on_the_number_of_cores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shard, "WORTH_A_TASK", 10)
    write_rows(tmp_path / "data", 3, ("texts",))  # without NaN, which equals nothing
    kinds = {"wide": windows.tumbling("30m"), "gaps": windows.session("1m"), **ARRIVED}
    pipeline = definition(tmp_path / "data", 1, kinds, AGGREGATES)
    asked: list[int] = []
    run_tasks = Local.run

    def counted(self: Local, work: Any, items: Sequence[Any]) -> list[Any]:
        if work is finalize_shards:
            asked.append(len(items))
        return run_tasks(self, work, items)

    monkeypatch.setattr(Local, "run", counted)
    found = [_windows(tmp_path / f"on_{cores}", pipeline, Local(cores)) for cores in (1, 3)]
    one, three = asked
    assert three == one + 2  # of rows with a marker, which ends the windows of all keys, one task takes all
    for alone, shared in zip(*found, strict=True):
        assert alone.equals(shared)


def _windows(root: Path, pipeline: Pipeline, spark: Any) -> list[pa.Table]:
    run(pipeline, root=root, start=START, end=START + timedelta(hours=1), spark=spark)
    return [read(pipeline, name, root=root).sort_by([("k0", "ascending"), ("window_start", "ascending")]) for name in pipeline.windows]
