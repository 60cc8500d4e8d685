"""Rows of which no state can be made: each row is made a state of its own, and those for which that fails are named."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import duckdb

from pipelines.errors import DefinitionError, MuntinError, SourceError
from pipelines.jobs.run.refused_places import KEPT
from pipelines.jobs.run.row_faults import Fault
from pipelines.jobs.run.shares import taken
from pipelines.sources.duckdb_session import described
from pipelines.sources.lift import states
from pipelines.sources.scan import quoted
from pipelines.sources.sql_types import storable, targets_of
from pipelines.states.columns import ORDINAL

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa

    from pipelines.aggregates.aggregate import Field
    from pipelines.definition.frame_sets import FrameSet
    from pipelines.jobs.run.shares import Share, Split
    from pipelines.jobs.run.split_rows import SplitRows


def may_be_of_a_row(wrong: Exception) -> bool:
    """Whether an error may come of some rows: DuckDB's, one of the source, or one of the user's own functions."""
    return isinstance(wrong, (duckdb.Error, SourceError, DefinitionError)) or not isinstance(wrong, (MuntinError, OSError, MemoryError))


def lone_faults(session: duckdb.DuckDBPyConnection, share: Share, split: Split, rows: SplitRows) -> list[Fault]:
    """What cannot be done with some of the rows in `KEPT`, each with the condition on these rows.

    A function of the user that fails for every row is a fault of the function, and no row is named for it.
    """
    found = list[Fault]()
    with suppress(duckdb.Error):
        for frames in share.bound.frame_sets:
            found += _faults(session, share, split, frames, rows)
    return found


def _faults(session: duckdb.DuckDBPyConnection, share: Share, split: Split, frames: FrameSet, rows: SplitRows) -> Iterator[Fault]:
    bound, own = share.bound, frames.by_arrival or any(each.is_state for each in share.bound.fields)
    also = [] if own else [ORDINAL]
    query = states(bound.pipeline, bound.fields, frames, KEPT, taken(bound, split), rows.columns, also=also)
    natural = described(session, query)
    kinds = targets_of(natural, {**share.targets[frames.table], ORDINAL: "BIGINT"}, rows.paths)
    lone = session.sql(query).to_arrow_table()
    session.register("muntin_lone", lone)
    names = {field.stem: f"aggregates[{name!r}]" for name, each in bound.aggregates.items() for field in each.fields}
    for each in bound.fields:
        for column in each.lifts:
            if natural[column] != kinds[column]:
                yield from _unfit(session, names.get(each.stem, each.stem), column, kinds[column])
    fitting = ", ".join(f"TRY_CAST({quoted(name)} AS {kind}) AS {quoted(name)}" for name, kind in kinds.items())
    typed = storable(session.sql(f"SELECT {fitting} FROM muntin_lone").to_arrow_table())
    for each in bound.fields:
        yield from _failing(names.get(each.stem, each.stem), each, typed)


def _unfit(session: duckdb.DuckDBPyConnection, name: str, column: str, kind: str) -> Iterator[Fault]:
    """The rows with a value that the type of the state does not hold."""
    lost = f"{quoted(column)} IS NOT NULL AND TRY_CAST({quoted(column)} AS {kind}) IS NULL"
    places = session.execute(f"SELECT {ORDINAL} FROM muntin_lone WHERE {lost}").fetchall()
    if places:
        yield Fault(f"{name}: the value does not fit {kind}", None, _is_one_of([place for (place,) in places]))


def _failing(name: str, field: Field, lone: pa.Table) -> Iterator[Fault]:
    """The rows for which a function of a field fails."""
    if field.seal is None or _fails(field, lone) is None:
        return
    failed = {at: wrong for at in range(len(lone)) if (wrong := _fails(field, lone.slice(at, 1)))}
    if 0 < len(failed) < len(lone):
        for reason, places in _by_reason(failed, lone[ORDINAL].to_pylist()).items():
            yield Fault(f"{name}: {reason}", None, _is_one_of(places))


def _fails(field: Field, lone: pa.Table) -> str | None:
    """What the function of a field says to some rows; None if it takes them."""
    assert field.seal is not None  # noqa: S101 - asked before
    try:
        field.seal(*(lone[column].combine_chunks() for column in field.lifts))
    except Exception as wrong:  # noqa: BLE001 - the user's
        return f"{type(wrong).__name__}: {wrong}"
    return None


def _by_reason(failed: Mapping[int, str], places: Sequence[int]) -> dict[str, list[int]]:
    found = dict[str, list[int]]()
    for at, reason in failed.items():
        found.setdefault(reason, []).append(places[at])
    return found


def _is_one_of(places: Sequence[int]) -> str:
    return f"{ORDINAL} IN ({', '.join(map(str, places))})"
