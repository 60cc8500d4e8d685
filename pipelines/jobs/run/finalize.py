"""Finalize: reconcile published windows with the states, and stage the files of all that changed, in one Spark job."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from pipelines.errors import ConflictError
from pipelines.jobs.pending import to_do
from pipelines.jobs.run.finalize_task import finalize_shards
from pipelines.jobs.shards import shards_together
from pipelines.jobs.staged_windows import Staged, staged_window
from pipelines.spark.tasks import run_tasks
from pipelines.store.disk import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import SparkSession

    from pipelines.jobs.bound import Bound
    from pipelines.jobs.pending import Todo
    from pipelines.store.store import Store

NOTE = "staged.json"


def finalize(bound: Bound, spark: SparkSession, asked: Iterable[int]) -> Staged:
    """Stage the windows of everything that changed since they were published.

    Args:
        pipeline, store, spark: the definition, its state, the session.
        asked: starts of the batches asked for; they say where history begins while nothing is published.
    """
    folder = f"staging/{uuid4().hex}"
    todo = to_do(bound, asked)
    results: dict[str, list[dict[str, Any]]] = {}
    for found in run_tasks(spark, finalize_shards, shards_together(bound, todo, folder)):
        for result in found:
            results.setdefault(result["window"], []).append(result)
    windows = [staged_window(bound, one, results.get(one.window, [])) for one in todo if one.work.positions]
    staged = Staged(folder, windows, _missing(todo), [remark for one in todo for remark in one.remarks])
    if windows:
        write_whole(Path(bound.folder, folder, NOTE), staged.dumps().encode())
    return staged


def _missing(todo: list[Todo]) -> list[list[int]]:
    return [list(hole) for hole in sorted({(hole.start_us, hole.end_us) for one in todo for hole in one.history.missing})]


def load_staged(store: Store, folder: str) -> Staged:
    """What an earlier finalize staged in a folder.

    Raises:
        ConflictError: the folder is gone: an earlier attempt published it, or somebody tidied up.
    """
    try:
        return Staged.loads(Path(store.root, folder, NOTE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConflictError(f"{folder}: the staged files are gone, published or tidied up; finalize again") from None
