"""A run of a definition over given rows, in this process, in a folder that is gone afterwards.

A definition's file, and a run over the files of its source, without Airflow and without Spark.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa

from muntin.definition.instants import from_us
from muntin.definition.pipeline import Pipeline, at_home
from muntin.definition.schedule import Interval
from muntin.definition.spelling import did_you_mean
from muntin.errors import DefinitionError
from muntin.jobs.inspect.read import read
from muntin.jobs.records.reports import BatchReport, RunReport
from muntin.jobs.run import run
from muntin.jobs.state.definition_files import run_file
from muntin.jobs.state.home import dags_holder
from muntin.sources.file_source import FileSource
from muntin.sources.upstream_windows import WindowSource
from muntin.tasks import Local
from muntin.testing.given_rows import (
    Batches,
    as_files,
    intervals_of,
    of_source,
    source_in,
    tables_of,
    write_rows,
)


def pipeline_of(file: str | Path, *, name: str | None = None, home: str | Path | None = None) -> Pipeline:
    """The pipeline of a definition's file, its relative paths below a folder. Airflow is not needed for it.

    Args:
        file: a Python file, as Airflow's DAG files are.
        name: which, if the file holds several.
        home: where relative paths start; the folder that holds `dags/` if left out, else the present one.

    Raises:
        DefinitionError: no such file, an error in it, no pipeline, or several and no name.
    """
    path = Path(file)
    if not path.is_file():
        raise DefinitionError(f"there is no file {path}")
    pipelines = {each.name: each for each in run_file(path).pipelines}
    if not pipelines:
        raise DefinitionError(f"{path} holds no Pipeline")
    chosen = name or next(iter(pipelines))
    if chosen not in pipelines or (name is None and len(pipelines) > 1):
        asked = f"there is no {name!r}{did_you_mean(name, pipelines)}" if name else "say which by name="
        raise DefinitionError(f"{path} holds {', '.join(sorted(pipelines))}; {asked}")
    return at_home(pipelines[chosen], Path(home).absolute() if home else dags_holder(path) or Path.cwd())


def run_here(pipeline: Pipeline, *, root: str | Path, start: datetime, end: datetime) -> RunReport:
    """The batches from `start` to `end`, from the source's files to published windows, in this process.
    Suites are not tried.

    Raises:
        MuntinError: as `run`.
    """
    return run(pipeline, root=root, start=start, end=end, spark=Local(), validate=False)


def windows_of(
    pipeline: Pipeline,
    batches: Batches,
    *,
    window: str | None = None,
    provisional: bool = False,
    dense: bool | None = None,
) -> pa.Table:
    """The windows that a run of these batches publishes.

    The whole definition counts but for its expectations: filter, keys, watermark, grace, late rows,
    quarantine, derive expressions. The jobs are the jobs of a run. The source's files are not read: the rows
    stand for them.

    Args:
        pipeline: the definition. One over the windows of another gets the rows of that other one.
        batches: the rows of each batch, in order of arrival, as dicts or as a pyarrow.Table; a list begins at
            the pipeline's start and leaves out no interval; a mapping has starts of intervals as keys. Where
            the pipeline has several sources, a batch is a mapping from their names to rows.
        window: the name of a window; may be left out where the pipeline has one.
        provisional: whether to add the windows that are not closed after the last batch.
        dense: whether to add empty windows; see `read`.

    Returns:
        As `read`: key columns, window_start, window_end, columns of the kind, aggregates, `derive`, batch,
            and provisional if asked.

    Raises:
        DefinitionError: no such window, no such interval, or a definition that does not fit the rows.
        SourceError: rows that no source could have.
    """
    pipeline, name = _of_rows(pipeline), window or _only_window(pipeline)
    with _ran(pipeline, batches) as (root, _):
        return read(pipeline, name, root=root, provisional=provisional, dense=dense)


def report_of(pipeline: Pipeline, batches: Batches) -> tuple[BatchReport, ...]:
    """The report on each batch: rows accepted, quarantined and late, windows closed, the watermark.

    Args and errors as `windows_of`.
    """
    with _ran(_of_rows(pipeline), batches) as (_, reports):
        return reports


def _only_window(pipeline: Pipeline) -> str:
    if len(pipeline.windows) != 1:
        raise DefinitionError(
            f"window: say which, as window={next(iter(pipeline.windows))!r}; there are"
            f" {', '.join(pipeline.windows)}"
        )
    return next(iter(pipeline.windows))


def _of_rows(pipeline: Pipeline) -> Pipeline:
    """The same pipeline over files, where it is over a table or Spark: the source determines its state."""
    source = pipeline.source
    if isinstance(source, WindowSource):
        below = _of_rows(source.upstream)
        return (
            pipeline
            if below is source.upstream
            else replace(pipeline, source=replace(source, upstream=below))
        )
    given = pipeline.sources or {"": pipeline.origin}
    file_sources = {
        name: each if isinstance(each, FileSource) else as_files(each)  # type: ignore[arg-type]
        for name, each in given.items()
    }
    return replace(pipeline, source=file_sources if pipeline.sources else file_sources[""])


@contextmanager
def _ran(pipeline: Pipeline, batches: Batches) -> Iterator[tuple[str, tuple[BatchReport, ...]]]:
    """The root of a state in which these batches were run, and their reports."""
    with TemporaryDirectory(prefix="muntin-") as folder:
        intervals = intervals_of(pipeline, batches)
        root = str(Path(folder, "state"))
        lowest, *above = _lowest_first(pipeline)
        lowest = _with_rows(lowest, Path(folder), intervals, batches)
        reports: tuple[BatchReport, ...] = ()
        for each in (lowest, *above):
            reports = tuple(
                report for stretch in _stretches(intervals) for report in _run(each, root, stretch)
            )
        yield root, reports


def _with_rows(pipeline: Pipeline, folder: Path, intervals: Sequence[Interval], batches: Batches) -> Pipeline:
    """The same pipeline over files that hold the rows."""
    if not pipeline.sources:
        source = source_in(folder, pipeline.source)  # type: ignore[arg-type]
        write_rows(source, intervals, tables_of(batches))
        return replace(pipeline, source=source)
    file_sources = {}
    for name, each in pipeline.sources.items():
        file_sources[name] = source_in(folder / name, each)  # type: ignore[arg-type]
        (folder / name).mkdir()
        write_rows(file_sources[name], intervals, tables_of(of_source(batches, name, pipeline.sources)))
    return replace(pipeline, source=file_sources)


def _lowest_first(pipeline: Pipeline) -> list[Pipeline]:
    """The pipelines behind this pipeline, upstreams first."""
    source = pipeline.source
    return [*(_lowest_first(source.upstream) if isinstance(source, WindowSource) else ()), pipeline]


def _run(pipeline: Pipeline, root: str, intervals: Sequence[Interval]) -> tuple[BatchReport, ...]:
    start = from_us(intervals[0].start_us)
    end = from_us(intervals[-1].end_us)
    return run(pipeline, root=root, start=start, end=end, spark=Local(), validate=False).batches


def _stretches(intervals: Sequence[Interval]) -> list[Sequence[Interval]]:
    """The intervals cut where they are no neighbours."""
    cuts = [at + 1 for at, (one, next_) in enumerate(pairwise(intervals)) if one.end_us != next_.start_us]
    bounds = [0, *cuts, len(intervals)] if intervals else []
    return [intervals[low:high] for low, high in pairwise(bounds)]
