"""Windows do not depend on the number of cores."""

from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
import pytest

from muntin import Pipeline, read, run, windows
from muntin.jobs.run import finalize
from muntin.jobs.shards import shard
from muntin.testing.in_process import Context, InProcess
from tests.storage.lifted_rows import AGGREGATES, ARRIVED, START, definition, write_rows


class OfThree(Context):
    defaultParallelism = 3  # noqa: N815 - Spark's name


class ThreeCores(InProcess):
    sparkContext = OfThree  # noqa: N815 - Spark's name


def test_windows_do_not_depend_on_the_number_of_cores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shard, "WORTH_A_TASK", 10)
    write_rows(tmp_path / "data", 3, ("texts",))  # without NaN, which equals nothing
    kinds = {"wide": windows.tumbling("30m"), "gaps": windows.session("1m"), **ARRIVED}
    pipeline = definition(tmp_path / "data", 1, kinds, AGGREGATES)
    with mock.patch.object(finalize, "run_tasks", wraps=finalize.run_tasks) as asked:
        found = [_windows(tmp_path / name, pipeline, spark) for name, spark in (("one", InProcess()), ("three", ThreeCores()))]
    one, three = (len(call.args[2]) for call in asked.call_args_list)
    assert three == one + 2  # of rows with a marker, which ends the windows of all keys, one task takes all
    for alone, shared in zip(*found, strict=True):
        assert alone.equals(shared)


def _windows(root: Path, pipeline: Pipeline, spark: Any) -> list[pa.Table]:
    run(pipeline, root=root, start=START, end=START + timedelta(hours=1), spark=spark)
    return [read(pipeline, name, root=root).sort_by([("k0", "ascending"), ("window_start", "ascending")]) for name in pipeline.windows]
