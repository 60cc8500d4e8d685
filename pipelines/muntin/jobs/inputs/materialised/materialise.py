"""The inputs of a run; rows that a function reads by Spark are files of the state for this run.

No row goes through the driver.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

from muntin import errors
from muntin.definition.instants import from_us, label, spell_instant
from muntin.errors import MuntinError, SourceError
from muntin.files.paths import remove_folder
from muntin.jobs.inputs.listings.listing import Inputs
from muntin.jobs.inputs.listings.of_several import check_kept
from muntin.jobs.inputs.materialised.written import ordered, quoted
from muntin.sources.listing import SourceFile
from muntin.spark.workers_python import about_python
from muntin.store.paths import MATERIALISED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from muntin.definition.schedule import Interval
    from muntin.jobs.state.bound import Bound
    from muntin.sources.spark_frames import SparkSource
    from muntin.tasks import Runner


TOGETHER = 16
"""So many batches are read by one Spark job."""
_AROUND, _OF_A_JOB = ("An error occurred while calling",), "Job aborted due to stage failure"
_SHOWN = 300  # characters of an error of Spark's


def materialise(
    bound: Bound, spark: SparkSession, intervals: Sequence[Interval]
) -> dict[Interval, list[SourceFile]]:
    """Read the rows of some batches by Spark, and write them below the state: the files of each batch, none
    of a batch without rows.
    """
    source: SparkSource = bound.source  # type: ignore[assignment]  # other sources are not materialised
    files_of_batches: dict[Interval, list[SourceFile]] = {interval: [] for interval in intervals}
    by_start = {interval.start_us: interval for interval in intervals}
    for near in _alike([(interval, _frame(source, spark, interval)) for interval in intervals]):
        for row in _written(bound, spark, near):
            path = f"{bound.folder}/{MATERIALISED}/{row['path']}"
            files_of_batches[by_start[row["batch"]]].append(SourceFile(path, row["size"], 0))
    return {
        interval: sorted(files, key=lambda file: file.path) for interval, files in files_of_batches.items()
    }


def remove_materialised(bound: Bound, intervals: Iterable[Interval]) -> None:
    """Remove the files of some batches: what counts of their rows is in the states."""
    for interval in intervals:
        remove_folder(bound.folder / MATERIALISED / label(interval.start_us))


def _frame(source: SparkSource, spark: SparkSession, interval: Interval) -> DataFrame:
    """The rows of a batch, with the columns that are needed; nothing is read yet."""
    try:
        frame = source.read(spark, from_us(interval.start_us), from_us(interval.end_us))
        names = frame.columns
    except Exception as wrong:
        if isinstance(wrong, MuntinError):
            raise
        if isinstance(wrong, AttributeError) and "columns" in str(wrong):
            raise SourceError(
                f"{_call(source, interval)} gives no DataFrame of Spark; let it return one"
            ) from wrong
        raise SourceError(
            f"{_call(source, interval)} failed: {_reported(wrong)}; mend the function, or what it reads"
        ) from wrong
    needed = source.needed or names
    if missing_columns := [name for name in (*needed, source.event_time) if name not in names]:
        raise SourceError(
            f"{_call(source, interval)}: no column {missing_columns[0]!r} in its rows; there are"
            f" {', '.join(names)}; mend the function, or the names in sources.spark(...)"
        )
    return frame.select(*map(quoted, needed))


def _alike(frames: Sequence[tuple[Interval, DataFrame]]) -> Iterator[list[tuple[Interval, DataFrame]]]:
    """Neighbours with the same columns, which one job reads."""
    near: list[tuple[Interval, DataFrame]] = []
    for interval, frame in frames:
        if near and (len(near) == TOGETHER or _types(frame) != _types(near[0][1])):
            yield near
            near = []
        near.append((interval, frame))
    if near:
        yield near


def _types(frame: DataFrame) -> list[tuple[str, str]]:
    return [(field.name, field.dataType.simpleString()) for field in frame.schema.fields]


def _written(
    bound: Bound, spark: SparkSession, near: Sequence[tuple[Interval, DataFrame]]
) -> list[dict[str, Any]]:
    """The files of neighbours, by one Spark job."""
    folder, source = bound.table(MATERIALISED), bound.source

    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from muntin.jobs.inputs.materialised.written import reported

        yield from reported(batches, folder)

    rows = ordered([(interval.start_us, frame) for interval, frame in near], source.event_time)
    try:
        outcomes = [json.loads(row.outcome) for row in rows.mapInArrow(task, "outcome string").collect()]
    except Exception as wrong:
        if at_fault := about_python(spark, wrong):
            raise at_fault from wrong
        call = _call(source, near[0][0]) + (f" and {len(near) - 1} more" if len(near) > 1 else "")  # type: ignore[arg-type]
        raise SourceError(
            f"{call}: the rows cannot be read: {_reported(wrong)}; mend the function, or what it reads"
        ) from wrong
    for outcome in outcomes:
        if "error" in outcome:
            raise getattr(errors, outcome["error"], errors.StateError)(outcome["text"])
    return outcomes


def _call(source: SparkSource, interval: Interval) -> str:
    return (
        f"sources.spark: {source.named}(spark, {spell_instant(interval.start_us)},"
        f" {spell_instant(interval.end_us)})"
    )


def _reported(wrong: Exception) -> str:
    """The message and the cause of an error of Spark, without Java's stack and without the job and the call
    in which it came.
    """
    lines = [line.strip() for line in str(wrong).splitlines() if line.strip()]
    caused = [line.partition("Caused by: ")[2] for line in lines if line.startswith("Caused by: ")][:1]
    own = [
        line.removeprefix(": ") for line in lines if not line.startswith((*_AROUND, "Caused by: ", "at "))
    ][:1]
    texts = caused if caused and _OF_A_JOB in str(wrong) else [*own, *caused]
    return ", caused by ".join(map(_short, texts)) or type(wrong).__name__


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


@contextmanager
def materialised(
    bound: Bound, runner: Runner, intervals: Sequence[Interval], *, allow_missing: bool
) -> Iterator[Inputs]:
    """The inputs of batches that Spark reads, as `inputs_of_run` gives them."""
    try:
        files_of_batches = materialise(bound, runner.spark, intervals)
        if not allow_missing:
            check_kept(bound, [interval for interval, files in files_of_batches.items() if not files], "row")
        # tasks do without the function, and what it holds
        yield Inputs(files_of_batches, {}, replace(bound.source, read=_was_read))
    finally:
        remove_materialised(bound, intervals)


def _was_read(*_: Any) -> NoReturn:  # noqa: ANN401 - as a function of a definition
    raise AssertionError("tasks read the files that were written of the rows")
