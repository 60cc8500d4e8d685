"""Finalize: compare the published windows with the states, and stage the files of all windows that changed, in one Spark job."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from pipelines.definition.amounts import many
from pipelines.definition.instants import from_us, label
from pipelines.errors import StateError
from pipelines.files.paths import path_of
from pipelines.jobs.duplicates.settle import settled
from pipelines.jobs.kept_states import check_work
from pipelines.jobs.promotion import check_not_superseded
from pipelines.jobs.shards.shard import shards_together
from pipelines.jobs.staged_windows import Staged, staged_window
from pipelines.jobs.staging_folders import STAGED_FILE
from pipelines.jobs.window_tables import place
from pipelines.spark.tasks import parallelism, run_tasks
from pipelines.store.disk import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pyspark.sql import SparkSession

    from pipelines.jobs.bound import Bound
    from pipelines.jobs.pending import Pending
    from pipelines.jobs.shards.shard import Shard


def finalize(bound: Bound, spark: SparkSession, asked: Iterable[int], *, again: bool = False) -> Staged:
    """Stage the windows of all batches that changed since these windows were published.

    Args:
        bound, spark: the pipeline, the session.
        asked: starts of the batches asked for; while nothing is published they say where history begins.
        again: whether a superseded definition is to be current again.

    Raises:
        StateError: the definition is superseded, or states are gone that windows to be derived are made of.
    """
    if not again:
        check_not_superseded(bound)
    folder = f"staging/{uuid4().hex}"
    windows = settled(bound, spark, asked)
    for pending in windows:
        _check_states(bound, pending)
        check_work(bound, pending)
    results = _results(spark, shards_together(bound, windows, folder, parallelism(spark)))
    changed = [staged_window(bound, pending, results[pending.window]) for pending in windows if pending.work]
    staged = Staged(folder, changed, _missing(windows), [remark for pending in windows for remark in pending.remarks])
    if changed:
        write_whole(path_of(bound.folder, folder, STAGED_FILE), staged.dumps().encode())
    return staged


def _check_states(bound: Bound, pending: Pending) -> None:
    """Refuse to take published windows away because their states are gone.

    Raises:
        StateError: states of batches that windows were published from are not there.
    """
    starts = pending.published.starts
    gone = starts[pending.history.batches.position(starts) < 0]
    if len(gone):
        raise StateError(
            f"{place(bound.folder, pending.published.table)} holds windows of {many(len(gone), 'batch')} whose states are gone from "
            f"{bound.folder}, the first of {label(int(gone[0]))}; was the folder removed? Run all of them at once: muntin backfill FILE "
            f"--root {bound.root} --start {from_us(int(gone[0])):%Y-%m-%dT%H:%M} "
            f"--end {from_us(bound.pipeline.intervals.after(int(gone[-1]))):%Y-%m-%dT%H:%M}"
        )


def _results(spark: SparkSession, tasks: list[list[Shard]]) -> Mapping[str, list[dict[str, Any]]]:
    """Window -> the results of its shards."""
    from pipelines.jobs.run.finalize_task import finalize_shards  # and with it the kernels, which validate and publish do not need

    results: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for of_one_task in run_tasks(spark, finalize_shards, tasks):
        for result in of_one_task:
            results[result["window"]].append(result)
    return results


def _missing(windows: list[Pending]) -> list[list[int]]:
    """The missing intervals (start, end), over all windows."""
    return [list(hole) for hole in sorted({(hole.start_us, hole.end_us) for pending in windows for hole in pending.history.missing})]
