"""Bind a definition to the source's columns before anything is read: unknown columns and impossible types fail here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb

from pipelines.aggregates.aggregate import ORDINAL, ROWS, sealed
from pipelines.definition.frame_sets import frame_sets
from pipelines.engine.frames import FIRST, FRAME, LAST
from pipelines.errors import DefinitionError, SourceError
from pipelines.jobs.derive import check_derived
from pipelines.jobs.sql_types import NEEDS, meets, stored, stored_type
from pipelines.sources.lift import states
from pipelines.sources.scan import event_time, quoted, scan, staged
from pipelines.sources.session import described, explained, kept_session, said

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from pipelines.definition.frame_sets import FrameSet
    from pipelines.definition.pipeline import Pipeline


def bound_types(pipeline: Pipeline, known: Mapping[str, pa.Schema | None], pieces: Sequence[Sequence[str]]) -> dict[str, dict[str, str]]:
    """For each frame set's table the SQL type of its columns: as in the state, else as the first files with rows say.

    Raises:
        SourceError: a file cannot be read, or the event time's column is missing or no time.
        DefinitionError: an aggregate, the filter or a key does not fit the columns.
    """
    session = kept_session(pipeline.source.timezone)
    paths = next((piece for piece in pieces if _has_rows(session, pipeline, piece)), pieces[0])
    columns = described(session, f"FROM {scan(pipeline.source, paths)}")
    event_time(pipeline.source, columns)
    rows = f"({staged(pipeline.source, paths, columns, ordinal=True)})"
    _check_keys(pipeline, columns)
    _check_where(session, pipeline, rows, columns)
    _check_aggregates(session, pipeline, rows, columns)
    _check_windows(session, pipeline, rows, columns)
    _check_derived(session, pipeline, rows, columns)
    return {frames.table: _types(session, pipeline, frames, rows, columns, known.get(frames.table)) for frames in frame_sets(pipeline)}


def _has_rows(session: duckdb.DuckDBPyConnection, pipeline: Pipeline, paths: Sequence[str]) -> bool:
    try:
        return bool(session.execute(f"SELECT 1 FROM {scan(pipeline.source, paths)} LIMIT 1").fetchall())
    except duckdb.Error as wrong:
        raise explained(wrong, paths) from wrong


def _types(
    session: duckdb.DuckDBPyConnection, pipeline: Pipeline, frames: FrameSet, rows: str, columns: Mapping[str, str], known: pa.Schema | None
) -> dict[str, str]:
    here = {name: stored_type(kind) for name, kind in described(session, states(pipeline, frames, rows, 0, columns)).items()}
    if known is None:
        return here
    session.register("muntin_known", known.empty_table())
    before = described(session, "FROM muntin_known")
    ours = {FRAME, FIRST, LAST, ORDINAL, *(column for each in pipeline.fields if each.seal for column in each.lifts)}
    return {name: kind if name in ours else before.get(name, kind) for name, kind in here.items()}


def _check_keys(pipeline: Pipeline, columns: Mapping[str, str]) -> None:
    for key in pipeline.keys:
        if key not in columns:
            raise DefinitionError(f"keys: no column {key!r} in the source; there are {', '.join(columns)}")


def _check_where(session: duckdb.DuckDBPyConnection, pipeline: Pipeline, rows: str, columns: Mapping[str, str]) -> None:
    if pipeline.where:
        _try(session, f"SELECT 1 FROM {rows} WHERE {pipeline.where}", f"where: {pipeline.where!r}", columns)


def _check_aggregates(session: duckdb.DuckDBPyConnection, pipeline: Pipeline, rows: str, columns: Mapping[str, str]) -> None:
    for name, aggregate in pipeline.aggregates.items():
        for field in aggregate.fields:
            for lift in field.lifts.values():
                _try(session, f"SELECT {lift} AS {quoted(name)} FROM {rows} AS {ROWS}", f"aggregates[{name!r}]: {aggregate}", columns)
            for sql, need in (*field.needs, *([(field.where, "condition")] if field.where else [])):
                kind = _try(session, f"SELECT ({sql}) AS it FROM {rows} AS {ROWS}", f"aggregates[{name!r}]: {aggregate}", columns)["it"]
                if not meets(kind, need):
                    raise DefinitionError(
                        f"aggregates[{name!r}]: {aggregate} needs {NEEDS[need]}, and {sql!r} is {kind}. The source has: {_listed(columns)}"
                    )


def _check_windows(session: duckdb.DuckDBPyConnection, pipeline: Pipeline, rows: str, columns: Mapping[str, str]) -> None:
    for name, window in pipeline.windows.items():
        for lift in window.lifts.values():
            _try(session, f"SELECT {lift} AS {quoted(name)} FROM {rows}", f"windows[{name!r}]", columns)


def _check_derived(session: duckdb.DuckDBPyConnection, pipeline: Pipeline, rows: str, columns: Mapping[str, str]) -> None:
    for frames in frame_sets(pipeline) if pipeline.derive else ():
        none = sealed(stored(session, f"{states(pipeline, frames, rows, 0, columns)} LIMIT 0"), pipeline.fields)
        for window in frames.windows:
            check_derived(pipeline, window, none)


def _listed(columns: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {kind}" for name, kind in columns.items())


def _try(session: duckdb.DuckDBPyConnection, query: str, what: str, columns: Mapping[str, str]) -> dict[str, str]:
    try:
        return described(session, query)
    except (duckdb.BinderException, duckdb.ParserException, duckdb.CatalogException) as wrong:
        raise DefinitionError(f"{what} does not fit the source: {said(wrong)}. The source has: {_listed(columns)}") from wrong
    except duckdb.Error as wrong:
        raise SourceError(f"{what}: {wrong}") from wrong
