"""Rows of which no state can be made: each row is made a state of its own, and the rows for which that fails
are named.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress

import duckdb
import pyarrow as pa

from muntin.aggregates.aggregate import Field
from muntin.definition.frame_sets import FrameSet
from muntin.errors import DefinitionError, MuntinError, SourceError
from muntin.jobs.accumulate.shares import Share, Split, taken
from muntin.jobs.accumulate.split_rows import SplitRows
from muntin.jobs.quarantine.refused_places import Fault
from muntin.jobs.quarantine.refused_rows_kept import KEPT
from muntin.sources.reading.lift import states
from muntin.sources.reading.scan import aliased, quoted
from muntin.sources.reading.sql_types import storable, targets_of
from muntin.sources.sessions.duckdb_session import described
from muntin.states.columns import ORDINAL

Found = defaultdict[tuple[str, str], set[int]]  # field and reason -> rows


_LONE = "muntin_lone"
_AT_ONCE = 50_000  # rows


def may_be_of_a_row(wrong: Exception) -> bool:
    """Whether an error may come of some rows:

    DuckDB's, one of the source, or one of the user's own functions.
    """
    # its time or its memory is over
    if isinstance(wrong, duckdb.InterruptException | duckdb.OutOfMemoryException):
        return False
    return isinstance(wrong, (duckdb.Error, SourceError, DefinitionError)) or not isinstance(
        wrong, (MuntinError, OSError, MemoryError)
    )


def lone_faults(
    session: duckdb.DuckDBPyConnection, share: Share, split: Split, rows: SplitRows
) -> list[Fault]:
    """The faults of rows in `KEPT`, each with the condition on its rows.

    A function of the user that fails for every row is a fault of the function, and no row is named for it.
    """
    fault_places: Found = defaultdict(set)
    tried, failed = Counter[str](), Counter[str]()
    with suppress(duckdb.Error):
        for field, lone in _lone(session, share, split, rows, fault_places):
            each = range(len(lone)) if _fails(field, lone) is not None else ()
            wrong = {at: reason for at in each if (reason := _fails(field, lone.slice(at, 1)))}
            tried[field.stem] += len(lone)
            failed[field.stem] += len(wrong)
            for at, reason in wrong.items():
                fault_places[field.stem, reason].add(lone[ORDINAL][at].as_py())
    names = {
        field.stem: f"aggregates[{name!r}]"
        for name, each in share.bound.aggregates.items()
        for field in each.fields
    }
    return [
        Fault(
            f"{names.get(stem, stem)}: {reason}",
            None,
            f"{ORDINAL} IN ({', '.join(map(str, sorted(places)))})",
        )
        for (stem, reason), places in fault_places.items()
        if failed[stem] < tried[stem] or not failed[stem]
    ]


def _lone(
    session: duckdb.DuckDBPyConnection, share: Share, split: Split, rows: SplitRows, fault_places: Found
) -> Iterator[tuple[Field, pa.Table]]:
    """Each field with a function, and states of a few rows; `fault_places` gets values that do not fit."""
    last = session.execute(f"SELECT coalesce(max({ORDINAL}), 0) FROM {KEPT}").fetchall()[0][0]
    for frames in share.bound.frame_sets:
        for first in range(1, last + 1, _AT_ONCE):
            some = f"(FROM {KEPT} WHERE {ORDINAL} BETWEEN {first} AND {first + _AT_ONCE - 1})"
            typed = _typed(session, share, split, frames, rows._replace(rows=some), fault_places)
            yield from ((each, typed) for each in share.bound.fields if each.seal is not None)


def _typed(
    session: duckdb.DuckDBPyConnection,
    share: Share,
    split: Split,
    frames: FrameSet,
    rows: SplitRows,
    fault_places: Found,
) -> pa.Table:
    """A state of each row, in the types of states."""
    bound = share.bound
    own = frames.by_arrival or any(each.is_state for each in share.bound.fields)
    query = states(
        bound.pipeline,
        bound.fields,
        frames,
        rows.rows,
        taken(bound, split),
        rows.columns,
        also=[] if own else [ORDINAL],
    )
    natural = described(session, query)
    kinds = targets_of(natural, {**share.targets[frames.table], ORDINAL: "BIGINT"}, rows.paths)
    session.register(_LONE, session.sql(query).to_arrow_table())
    fitting = {name: f"TRY_CAST({quoted(name)} AS {kind})" for name, kind in kinds.items()}
    for each in bound.fields:
        for column in each.lifts:
            if natural[column] != kinds[column]:
                lost = f"{quoted(column)} IS NOT NULL AND {fitting[column]} IS NULL"
                if places := session.execute(f"SELECT {ORDINAL} FROM {_LONE} WHERE {lost}").fetchall():
                    reason = f"the value does not fit {kinds[column]}"
                    fault_places[each.stem, reason].update(place for (place,) in places)
    return storable(session.sql(f"SELECT {aliased(fitting)} FROM {_LONE}").to_arrow_table())


def _fails(field: Field, lone: pa.Table) -> str | None:
    """The error of a field's function for some rows; None if it takes them."""
    try:
        field.seal(*(lone[column].combine_chunks() for column in field.lifts))  # type: ignore[misc]  # it has one
    except Exception as wrong:  # noqa: BLE001 - the user's
        return f"{type(wrong).__name__}: {wrong}"
    return None
