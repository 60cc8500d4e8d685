"""Look-ups: for each row of a key and an instant, the windows that were known then.

Look-ups from Parquet files to Parquet files: a task for each file, a piece of its rows at a time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

import pyarrow as pa
import pyarrow.parquet as pq

from muntin.definition.durations import positive
from muntin.definition.relative_paths import is_object_store
from muntin.errors import DefinitionError, SourceError
from muntin.files.paths import path_of, relative
from muntin.jobs.inspect.selection import no_window
from muntin.jobs.lookups.answers import Answers
from muntin.jobs.lookups.asked_rows import gathered, instants_of, keys_of, parquet_files, pieces, with_columns
from muntin.jobs.lookups.windows_then import WindowsThen
from muntin.jobs.published.as_defined import as_readers_know
from muntin.jobs.published.pending import pending_window
from muntin.jobs.records.lost_publications import check_published
from muntin.jobs.state.bound import bind
from muntin.jobs.upkeep.rebuild import check_rebuilt
from muntin.tasks.local import cores
from muntin.tasks.runner import register
from muntin.timeline.closing import Knowledge

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame

    from muntin.definition.durations import Duration
    from muntin.definition.pipeline import Pipeline
    from muntin.files.paths import AnyPath
    from muntin.tasks.runner import Runner
    from muntin.windows.kind import Window

Wanted: TypeAlias = "Mapping[str, tuple[Pipeline, str]]"
"""A pipeline and the name of its window, by what columns of several windows begin with; "" of one alone."""


def as_of(
    pipeline: Pipeline | Mapping[str, Pipeline | tuple[Pipeline, str]],
    window: Any,  # noqa: ANN401 - a name, several, or the rows where `pipeline` names the windows
    rows: Any = None,  # noqa: ANN401 - whatever speaks Arrow, the path of files, or a DataFrame of Spark
    *,
    at: str,
    root: str | AnyPath,
    known: Knowledge = "closed",
    within: Duration | None = None,
    provisional: bool = False,
    prefix: str = "",
) -> pa.Table:
    """The rows, in their order, each with the window of its key that ended last by its instant, as it was
    known then.

    Of windows on a grid (tumbling, sliding, cumulating, calendar, trailing) it is the window of the grid,
    also if the key had no event in it: counts are 0, lists empty, most else is null. Of windows that data
    make (session, unique) it is the last of the key; of windows by arrival the one with the highest
    `window_index`.

    Args:
        pipeline: the definition. Or windows of several definitions, for one row of features:
            `as_of({"day": orders, "visits": (shop, "day")}, rows, at=..., root=...)`; a name is that of a
            window, unless the value names it.
        window: the name of one of its windows, or a list of them. Columns of several windows begin with the
            name of theirs, as `day_revenue`.
        rows: anything with `__arrow_c_stream__` (pyarrow, pandas, Polars, DuckDB), or the path of a Parquet
            file or of a folder of them: the key columns of each window, a timestamp, and whatever else; or a
            DataFrame of Spark with such columns.
        at: the column with the instant of each row; a timestamp without a zone is in UTC.
        root: folder that state lives below.
        known: "closed": only windows whose batch had ended by the instant, which a run on schedule would have
            published by then: nothing from the future, neither late rows nor later batches. "ended": the
            window that had ended by the instant, as it is published now.
        within: how long before the instant a window that data make may have ended, as "30d"; None: at any
            time. Windows on a grid beside it are not limited.
        provisional: whether the window may be one that was not published by then, derived from the states of
            the batches that had ended.
        prefix: put before the name of each column that is added.

    Returns:
        All columns of the rows, and behind them window_start, window_end (timestamp us UTC), further columns
        of the kind of window, the aggregates and what is derived of them, batch (start of the interval that
        closed it) and, with `provisional`, provisional (bool).
        All of these are null where no window was known. Of a DataFrame of Spark: a DataFrame, whose rows have
            no order.

    Raises:
        DefinitionError: no such window; a column is missing, of another type, or there already; or an
            argument does not fit the window.
        SourceError: a file of the rows cannot be read.
        StateError: nothing is published, or windows or states that the rows ask for are removed or damaged.
    """
    wanted, rows = _wanted(pipeline, window, rows)
    answers = answers_for(wanted, prefix, root=root, known=known, within=within, provisional=provisional)
    if hasattr(rows, "mapInArrow"):
        for start, each in answers.items():
            rows = _on_spark(rows, each, at, start)
        return rows
    return pa.concat_tables(found_for(answers, rows, at))


def _wanted(pipeline: Any, window: Any, rows: Any) -> tuple[Wanted, Any]:  # noqa: ANN401 - as `as_of` takes them
    """The windows that are asked for, and the rows."""
    if not isinstance(pipeline, Mapping):
        if rows is None:
            raise DefinitionError(
                "as_of: there are no rows; write as_of(pipeline, WINDOW, ROWS, at=..., root=...), or"
                " as_of({WINDOW: pipeline}, ROWS, at=..., root=...)"
            )
        if isinstance(window, str):
            return {"": (pipeline, window)}, rows
        return {name: (pipeline, name) for name in window}, rows
    if rows is not None or (isinstance(window, str) and window in pipeline):
        raise DefinitionError(
            "as_of: a dict names its windows itself; write as_of({WINDOW: pipeline}, ROWS, at=..., root=...)"
        )
    return {
        name: each if isinstance(each, tuple) else (each, name) for name, each in pipeline.items()
    }, window


def answers_for(
    wanted: Wanted,
    prefix: str = "",
    *,
    root: str | AnyPath,
    known: Knowledge,
    within: Duration | None,
    provisional: bool,
) -> dict[str, Answers]:
    """Answers of the tables of windows as they are now, by what the names of their columns begin with; see
    `as_of`.
    """
    if not wanted:
        raise DefinitionError("as_of: no window is named")
    if known not in get_args(Knowledge):
        raise DefinitionError(
            f'known: {known!r} is neither "closed", what a run on schedule had published, nor "ended"'
        )
    within_us = None if within is None else positive(within, "within")
    answers: dict[str, Answers] = {}
    for name, (pipeline, window) in wanted.items():
        if window not in pipeline.windows:
            raise no_window(pipeline, window)
        bound = as_readers_know(bind(pipeline, root))
        kind = bound.windows[window]
        limit_us = None if kind.grid is not None and len(wanted) > 1 else within_us
        _check(window, kind, limit_us)
        check_rebuilt(bound, window)
        todo = pending_window(bound, window)
        check_published(bound, todo)
        start = f"{prefix}{name}_" if name else prefix
        answers[start] = Answers(WindowsThen(bound, todo, known), limit_us, provisional)
    return answers


def found_for(answers: Mapping[str, Answers], rows: Any, at: str) -> Iterator[pa.Table]:  # noqa: ANN401 - as `as_of` takes it
    """The rows with what is found for them, a piece at a time, in order; as many pieces at once as there are
    cores.
    """

    def looked_up(piece: pa.Table) -> pa.Table:
        row, instants = piece, instants_of(piece, at)
        for start, each in answers.items():
            row = with_columns(row, each.of(keys_of(piece, each.then.keys), instants), start)
        return row

    ahead = deque[Future[pa.Table]]()
    with ThreadPoolExecutor(cores()) as threads:
        for piece in pieces(rows):
            ahead.append(threads.submit(looked_up, piece))
            if len(ahead) > 2 * cores():
                yield ahead.popleft().result()
        yield from (each.result() for each in ahead)


def _check(name: str, kind: Window, within_us: int | None) -> None:
    if kind.rows_out:
        raise DefinitionError(
            f"{name}: a window of this kind gives several rows, so that there is no one row to look up; use"
            " read"
        )
    if within_us is not None and kind.grid is not None:
        raise DefinitionError(
            f"within: {name!r} has a grid, so that its last window ended at most a step before; leave"
            " within out"
        )


def _on_spark(rows: DataFrame, answers: Answers, at: str, prefix: str) -> DataFrame:
    """The rows with what is found for them, in no order.

    Rows of a key are of one task, which reads the windows of its keys.
    """
    from pyspark.sql.pandas.types import from_arrow_schema

    keys = answers.then.keys
    none = rows.limit(0).toArrow()
    schema = with_columns(none, answers.of(keys_of(none, keys), instants_of(none, at)), prefix).schema
    register()

    def found(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for piece in gathered(pa.Table.from_batches([batch]) for batch in batches):
            windows = answers.of(keys_of(piece, keys), instants_of(piece, at))
            yield from with_columns(piece, windows, prefix).combine_chunks().to_batches()

    spread = rows.repartition(*keys) if keys else rows
    return spread.mapInArrow(found, from_arrow_schema(schema, prefer_timestamp_ntz=True))


_FORM: Mapping[str, Any] = {
    "compression": "zstd",
    "write_page_checksum": True,
    "dictionary_pagesize_limit": 2**17,
}
"""Of files written: dictionaries of many values, as columns of numbers have them, take half of the time to
write and save little.
"""


@dataclass(frozen=True, slots=True)
class FileToFile:
    """A file of rows, and the file that is written of it; both paths as text."""

    rows: str
    out: str


def as_of_files(
    runner: Runner,
    wanted: Wanted,
    rows: str,
    out: str,
    *,
    at: str,
    prefix: str,
    **how: Any,  # noqa: ANN401 - see `answers_for`
) -> int:
    """Write what `as_of` gives for a Parquet file, or for each below a folder, to a file or below a folder;
    the number of rows written.

    A file is there once it is whole. Memory is that of the windows and of a few pieces of rows, whatever the
    files hold. `rows`, `out`: both of a file, or both of a folder; `out` lies neither in an object store nor
    among the rows. `how`: root, known, within and provisional; see `as_of`.
    """
    answers_for(wanted, **how)  # wrong arguments are refused before a task begins
    place, target = path_of(rows).absolute(), path_of(out).absolute()
    if is_object_store(str(target)):
        raise DefinitionError(
            f"out: {target} lies in an object store; write to a file or folder of this machine, and copy it"
            " from there"
        )
    if f"{target}/".startswith(f"{place}/"):
        raise DefinitionError(f"out: {target} is where the rows lie; write to another place")
    files = [
        FileToFile(str(file), str(target if file == place else target / relative(file, place)))
        for file in parquet_files(place)
    ]
    return sum(runner.run(partial(_written, wanted, at, prefix, how), files))


def _written(wanted: Wanted, at: str, prefix: str, how: dict[str, Any], file: FileToFile) -> int:
    """Write the answers for one file, and return their number."""
    out, count = Path(file.out), 0
    tables = found_for(answers_for(wanted, prefix, **how), file.rows, at)
    first, draft = next(tables), out.with_name(f".{out.name}.draft")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with draft.open("wb") as target, pq.ParquetWriter(target, first.schema, **_FORM) as writer:
            for piece in chain([first], tables):
                writer.write_table(piece)
                count += len(piece)
        draft.rename(out)
    except OSError as wrong:
        raise SourceError(f"out: {out} cannot be written: {wrong}") from wrong
    finally:
        draft.unlink(missing_ok=True)
    return count
