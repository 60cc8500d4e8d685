"""The contract of published windows with their readers, in the Open Data Contract Standard (Bitol, version
3).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from muntin.aggregates.aggregate import sealed
from muntin.definition.clocks import UTC_NAME
from muntin.definition.durations import spell
from muntin.definition.kinds import Unending
from muntin.definition.pipeline import Pipeline
from muntin.definition.relative_paths import is_object_store
from muntin.errors import DefinitionError, SourceError
from muntin.extensions.contracts.agreed import ON_FAILURE, agreed, read_contract
from muntin.extensions.contracts.breaks import Break, added, breaks
from muntin.files.paths import AnyPath
from muntin.jobs.check import types_bound
from muntin.jobs.inputs.inputs import first_inputs
from muntin.jobs.publish.validate import find_suite
from muntin.jobs.published.as_defined import as_readers_know
from muntin.jobs.published.promotion import texts
from muntin.jobs.published.window_tables import published
from muntin.jobs.schema_check.derive_expressions import derived, empty_row
from muntin.jobs.state.bound import Bound, bind
from muntin.quality.suite import load_suite
from muntin.sources.reading.scan import nulls
from muntin.sources.reading.sql_types import stored
from muntin.sources.sessions.duckdb_session import closed_session, described
from muntin.states.columns import INSTANT
from muntin.store.paths import digest_of
from muntin.store.state import WINDOWS

API = "v3.1.0"
_ROW = "muntin_row"
_SECOND = 1_000_000
_LOGICAL = {
    "BOOLEAN": "boolean",
    "FLOAT": "number",
    "DOUBLE": "number",
    "DATE": "date",
    "VARCHAR": "string",
    "BLOB": "string",
}
_BEGINNINGS = {"DECIMAL": "number", "TIMESTAMP": "timestamp", "STRUCT": "object", "MAP": "object"}


def contract(pipeline: Pipeline, *, root: str | AnyPath) -> dict[str, Any]:
    """The contract as a document of the standard: a table for each window that can be published.

    Types come from the state, or before the first run from the first files of the source, without which it is
    an error. `version` is a digest of what is agreed: equal content, equal version. Durations are seconds.
    """
    bound = as_readers_know(bind(pipeline, root))
    rows = windows_of_nothing(bound)
    published = [window for window, kind in bound.windows.items() if not isinstance(kind.follows, Unending)]
    agreed = {
        "schema": [_table(bound, window, rows[window]) for window in published],
        "slaProperties": [*_service(pipeline)],
    }
    head = {"apiVersion": API, "kind": "DataContract", "id": pipeline.name, "name": pipeline.name}
    said = {"description": {"purpose": pipeline.description}} if pipeline.description else {}
    version = digest_of(json.dumps(agreed).encode())
    return head | {"version": version, "status": "active"} | said | {"servers": [_server(bound)]} | agreed


def held_against(pipeline: Pipeline, root: AnyPath, path: Path) -> tuple[list[Break], list[str]]:
    """The promises of a contract that the definition breaks, and what it adds."""
    before, renamed = read_contract(path), pipeline.renamed_tables
    if before.pipeline not in (pipeline.name, pipeline.renamed.pipeline):
        raise DefinitionError(
            f"{path}: it is the contract of {before.pipeline!r}, and this pipeline is {pipeline.name!r}; give"
            " its own"
        )
    now = agreed(contract(pipeline, root=root), pipeline.name)
    return breaks(before, now, renamed), added(before, now, renamed)


def _server(bound: Bound) -> dict[str, str]:
    """Where the tables are: each in a folder of its name."""
    path = str(bound.home / WINDOWS)
    if not is_object_store(path):
        return {"server": "windows", "type": "local", "path": path, "format": "delta"}
    return {
        "server": "windows",
        "type": "s3" if path.startswith("s3://") else "custom",
        "location": path,
        "format": "delta",
    }


def _table(bound: Bound, window: str, row: pa.Table) -> dict[str, Any]:
    """A window as the standard's object. `row`: as `windows_of_nothing` has it."""
    session, words = closed_session(), texts(bound, window)
    session.register(_ROW, row)
    types = described(session, f"FROM {_ROW}")
    session.unregister(_ROW)
    unique = [*dict.fromkeys((*bound.keys_of(window), *bound.windows[window].order))]
    never_null = {
        "window_start",
        "window_end",
        "batch",
        *(name for name in bound.aggregates if row[name].null_count == 0),
    }
    columns = [
        {
            "name": name,
            **_typed(kind),
            "required": name in never_null,
            **({"primaryKey": True, "primaryKeyPosition": unique.index(name) + 1} if name in unique else {}),
            **_said(bound, name, words.comments.get(name)),
        }
        for name, kind in types.items()
    ]
    quality = (
        {"quality": [*_quality(bound, window)], **_asking(bound.pipeline)}
        if window in bound.pipeline.expectations
        else {}
    )
    return {
        "name": window, "physicalName": window, "logicalType": "object", "physicalType": "table",
        "description": words.description,
        "properties": columns, **quality,
    }  # fmt: skip


def _typed(kind: str) -> dict[str, str]:
    """Both types of a column; none where the type is not known yet."""
    if kind == '"NULL"':
        return {}
    logical = _LOGICAL.get(kind) or next(
        (logical_type for begin, logical_type in _BEGINNINGS.items() if kind.startswith(begin)), "integer"
    )
    return {"logicalType": "array" if kind.endswith("]") else logical, "physicalType": kind}


def _said(bound: Bound, name: str, comment: str | None) -> dict[str, Any]:
    unit = bound.aggregates[name].unit if name in bound.aggregates else ""
    more = {"customProperties": [{"property": "unit", "value": unit}]} if unit else {}
    return ({"description": comment} if comment else {}) | more


def _quality(bound: Bound, window: str) -> Iterator[dict[str, Any]]:
    path = find_suite(bound.pipeline.expectations[window])
    for each in load_suite(path).expectations:
        yield {
            "type": "custom", "engine": "great-expectations", "severity": each.severity,
            "implementation": {"type": each.type, "kwargs": each.kwargs},
            "customProperties": [{"property": "suite", "value": path.name}],
        }  # fmt: skip


def _asking(pipeline: Pipeline) -> dict[str, Any]:
    """The word for readers on a suite that fails, where a person is asked.

    Without it the windows are held back.
    """
    if pipeline.ask_within_us is None:
        return {}
    words = (
        "windows that fail a critical expectation are published if a person says so; reports then tell who"
        " did, and why (despite)"
    )
    return {"customProperties": [{"property": ON_FAILURE, "value": "ask", "description": words}]}


def _service(pipeline: Pipeline) -> Iterator[dict[str, Any]]:
    """The promises about time: how often windows come, how far behind they may be, how long they stay."""
    schedule = pipeline.intervals
    cron = {"scheduler": "cron", "schedule": schedule.cron} if schedule.cron else {}
    if schedule.step_us:
        yield _lasting("frequency", schedule.step_us, "the interval of a batch (schedule)") | cron
    else:
        where = "" if schedule.timezone == UTC_NAME else f" {schedule.timezone}"
        yield {"property": "frequency", "value": f"{schedule.cron}{where}", **cron}
    if pipeline.fresh_within_us is not None:
        yield _lasting(
            "latency",
            pipeline.fresh_within_us,
            "how long after its interval a batch is published (fresh_within)",
        )
    if pipeline.retention.windows_us is not None:
        yield _lasting(
            "retention", pipeline.retention.windows_us, "how long published windows are kept (retain)"
        )


def _lasting(name: str, us: int, words: str) -> dict[str, Any]:
    value = us // _SECOND if us % _SECOND == 0 else us / _SECOND
    return {"property": name, "value": value, "unit": "s", "description": f"{spell(us)}: {words}"}


def windows_of_nothing(bound: Bound) -> dict[str, pa.Table]:
    """Window -> a row of it without events, whose columns have the types of published windows.

    The type is null of a column that nothing tells yet, as of a table of spans that was not read.
    """
    states = _states(bound)
    return {
        window: _row(bound, window, states[frames.table])
        for frames in bound.frame_sets
        for window in frames.windows
    }


def _row(bound: Bound, window: str, states: pa.Table) -> pa.Table:
    """A window without events; derived columns and batch are null.

    Types that states do not tell come from published windows.
    """
    import pyarrow as pa

    row, there = empty_row(bound, window, states), published(bound.store, window).snapshot.schema
    whole = derived(bound, window, row.slice(0, 0)).schema.append(pa.field("batch", INSTANT))
    fields = [
        there.field(each.name) if pa.types.is_null(each.type) and there and each.name in there.names else each
        for each in whole
    ]
    return pa.table(
        {
            each.name: row[each.name] if each in row.schema else pa.nulls(len(row), each.type)
            for each in fields
        }
    )


def _states(bound: Bound) -> dict[str, pa.Table]:
    """Table of a frame set -> states without rows: as they are kept, else as the first
    files with rows say.
    """
    schemas = {frames.table: bound.store.snapshot(frames.table).schema for frames in bound.frame_sets}
    tables = {table: schema.empty_table() for table, schema in schemas.items() if schema is not None}
    if len(tables) == len(schemas):
        return tables
    types = types_bound(bound, first_inputs(bound))
    if not types or not all(types.values()):
        raise SourceError(
            f"the types of the columns of {bound.pipeline.name!r} are not known: nothing is read yet, and no"
            " file of its source says them; run a batch, or bring a file with rows"
        )
    return {
        table: sealed(
            stored(
                closed_session(),
                f"SELECT {nulls(columns)} LIMIT 0",
            ),
            bound.fields,
        )
        for table, columns in types.items()
    }
