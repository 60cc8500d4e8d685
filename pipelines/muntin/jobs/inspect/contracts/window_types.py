"""The types of the columns of published windows, as a definition says them, whether anything is published or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.aggregates.aggregate import sealed
from muntin.errors import SourceError
from muntin.jobs.check import types_bound
from muntin.jobs.inputs.inputs import first_inputs
from muntin.jobs.published.window_tables import published
from muntin.jobs.schema_check.derive_expressions import derived, empty_row
from muntin.sources.reading.scan import quoted
from muntin.sources.reading.sql_types import stored
from muntin.sources.sessions.duckdb_session import closed_session
from muntin.states.columns import INSTANT

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from muntin.jobs.state.bound import Bound


def windows_of_nothing(bound: Bound) -> dict[str, pa.Table]:
    """Window -> a row of it without events, whose columns have the types of published windows.

    The type is null of a column that nothing tells yet, as of a table of spans that was not read.

    Raises:
        SourceError: nothing is read yet, and no file of the source says the types.
        DefinitionError: the definition does not fit its source.
    """
    states = _states(bound)
    return {window: _row(bound, window, states[frames.table]) for frames in bound.frame_sets for window in frames.windows}


def _row(bound: Bound, window: str, states: pa.Table) -> pa.Table:
    """A window without events; derived columns and batch are null. Types that states do not tell come from published windows."""
    import pyarrow as pa

    row, there = empty_row(bound, window, states), published(bound.store, window).snapshot.schema
    whole = derived(bound, window, row.slice(0, 0)).schema.append(pa.field("batch", INSTANT))
    fields = [there.field(each.name) if pa.types.is_null(each.type) and there and each.name in there.names else each for each in whole]
    return pa.table({each.name: row[each.name] if each in row.schema else pa.nulls(len(row), each.type) for each in fields})


def _states(bound: Bound) -> dict[str, pa.Table]:
    """Table of a frame set -> states without rows: as they are kept, else as the first files with rows say."""
    schemas = {frames.table: bound.store.snapshot(frames.table).schema for frames in bound.frame_sets}
    tables = {table: schema.empty_table() for table, schema in schemas.items() if schema is not None}
    if len(tables) == len(schemas):
        return tables
    types = types_bound(bound, first_inputs(bound))
    if not types or not all(types.values()):
        raise SourceError(
            f"the types of the columns of {bound.pipeline.name!r} are not known: nothing is read yet, and no file of its source says them; "
            "run a batch, or bring a file with rows"
        )
    return {table: sealed(stored(closed_session(), _select(columns)), bound.fields) for table, columns in types.items()}


def _select(columns: Mapping[str, str]) -> str:
    return f"SELECT {', '.join(f'NULL::{kind} AS {quoted(name)}' for name, kind in columns.items())} LIMIT 0"
