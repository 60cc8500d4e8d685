"""The values of rows that states are made of without SQL aggregates: which columns of states can be, and the
SQL of the rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from muntin.aggregates.lifts import Narrowed
from muntin.definition.expressions import EVERY_ROW, LISTS, Plain
from muntin.sources.casts import SIGNED
from muntin.sources.reading.lift import accepted_rows
from muntin.sources.reading.values_once import FLOATS, is_kept
from muntin.states.columns import EVENT_TIME, FIRST_EVENT, LAST_EVENT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muntin.aggregates.aggregate import Field
    from muntin.aggregates.lifts import Lift
    from muntin.definition.expressions import What
    from muntin.definition.frame_sets import FrameSet
    from muntin.definition.pipeline import Pipeline
    from muntin.sources.reading.refused_rows import Taken
    from muntin.sources.source import Columns

_COUNTED = ("BOOLEAN", "UTINYINT", "USMALLINT", "UINTEGER", *SIGNED)  # whose sum DuckDB makes of integers
_KEYS = (*SIGNED, "VARCHAR", "BOOLEAN", "DATE", "TIMESTAMP WITH TIME ZONE")
_OF_TIME = ("first", "last", "first_row", "last_row")
_MOST_KEYS = 3
_ENDLESS = 2**63 - 1  # what DuckDB's Arrow makes of 'infinity'


class Of(NamedTuple):
    """The origin of a column of states: the SQL of a row's value, and of what decides between rows."""

    what: What
    sql: str
    by: str = ""


class RowValue(NamedTuple):
    """A column of states, and the SQL of the value of a row that it is made of; `by`: of what decides between
    rows, cast.
    """

    what: What
    sql: str
    kind: str = "BIGINT"
    by: str = ""

    @property
    def cast(self) -> str:
        """The value as SQL, in the type of `kind`; of what is only counted whether it is no null; the time as
        it is.
        """
        if self.sql == EVENT_TIME:
            return EVENT_TIME
        return f"({self.sql})::{self.kind}" if self.what != "count" else f"({self.sql}) IS NOT NULL"


def row_values(fields: Sequence[Field], frames: FrameSet) -> dict[str, Of] | None:
    """Column of a state -> what it is made of, and the SQL of a row's value; None if a column cannot be
    computed from values.
    """
    lifts = {column: lift for each in fields for column, lift in each.lifts.items()}
    values = {column: _value(lift) for column, lift in lifts.items()}
    if frames.by_arrival or frames.lifts or any(each.is_state or each.source for each in fields):
        return None
    ends = {FIRST_EVENT: Of("least", EVENT_TIME), LAST_EVENT: Of("greatest", EVENT_TIME)}
    computable_values = {column: each for column, each in values.items() if each}
    return (
        (ends if frames.event_times else {}) | computable_values
        if len(computable_values) == len(values)
        else None
    )


def _value(lift: Lift) -> Of | None:
    match lift:
        case Plain(of="muntin_order", what=what, by=by):
            return Of(what, EVENT_TIME, by)  # the same, of frames by event time
        case Narrowed(Plain(what="first_row" | "last_row")):
            return None  # a null of the row, or a row that does not count: one value cannot say which
        case Narrowed(Plain(of=of, what=what, by=by), where):
            return Of(what, *(each and f"CASE WHEN ({where}) THEN ({each}) END" for each in (of, by)))
        case Plain(of=of, what=what, by=by):
            return Of(what, of, by)
    return None


def typed_values(
    values: Mapping[str, Of],
    of_values: Columns,
    natural: Columns,
    kinds: Columns,
) -> dict[str, RowValue] | None:
    """The values with their types; None if a value is of a type that other code takes.

    `natural`, `kinds`: column -> the SQL type that DuckDB's aggregate has, and that of the state.
    """
    row_value_of_column = {
        column: _typed(each, of_values, natural[column], kinds[column]) for column, each in values.items()
    }
    out = {column: each for column, each in row_value_of_column.items() if each}
    return out if len(out) == len(row_value_of_column) else None


def _typed(value: Of, of_values: Columns, natural: str, kind: str) -> RowValue | None:
    """A value with its type, if its states are as exact as DuckDB's."""
    what, sql, by = value
    of = of_values[sql]
    match what, natural, kind:
        case ("count", _, "BIGINT"):
            return RowValue(what, sql)
        case ("sum", "HUGEINT", "BIGINT") if of in _COUNTED:
            return RowValue(what, sql)
        case ("sum", "DOUBLE", "DOUBLE") | ("numbers", "DOUBLE[]", "DOUBLE[]") if (
            of in FLOATS or what == "numbers"
        ):
            return RowValue(what, sql, "DOUBLE")
        case _ if what in LISTS:
            return _listed(value, of, of_values.get(by)) if natural == kind else None
        case _ if of == natural == kind:
            return _at_extreme(value, of, of_values[by]) if by else _one_of(what, sql, of)
    return None


def _listed(value: Of, of: str, by: str | None) -> RowValue | None:
    """The value of a row, of which states have lists.

    `of`, `by`: the types of both; `by` is None where all rows count.
    """
    if by is not None:
        return _at_extreme(value, of, by) if of in (*SIGNED, "VARCHAR") else None
    return RowValue(value.what, value.sql, of) if of in SIGNED else None


def _at_extreme(value: Of, of: str, by: str) -> RowValue | None:
    """The value of the row where something else is least or greatest. `of`, `by`: the types of both."""
    decides = _one_of("least", value.by, by)
    return RowValue(value.what, value.sql, of, decides.cast) if is_kept(of) and decides else None


def _one_of(what: What, sql: str, of: str) -> RowValue | None:
    """The value of a row, of the values that a state keeps as they are."""
    if of == "FLOAT" and what in _OF_TIME:
        # DuckDB's arg_min and arg_max make 0.0 of a -0.0 that is a FLOAT
        return RowValue(what, f"({sql}) + 0::FLOAT", "DOUBLE")
    if of == "TIMESTAMP WITH TIME ZONE":
        ends = f"WHEN ({sql}) > 'epoch' THEN {_ENDLESS} WHEN ({sql}) < 'epoch' THEN -{_ENDLESS}"
        return RowValue(what, f"CASE WHEN isfinite({sql}) THEN epoch_us({sql}) {ends} END")
    return RowValue(what, sql, "DOUBLE") if of in FLOATS else RowValue(what, sql) if of in SIGNED else None


def values_of_columns(values: Mapping[str, RowValue]) -> dict[str, str]:
    """Column of a state -> the SQL of the values that fill it: what is counted shares them with another
    column where it can.

    >>> values_of_columns({"rows": RowValue("count", "1"), "count_x": RowValue("count", "x"),
    ...     "sum_x": RowValue("sum", "x")})
    {'rows': 'muntin_time', 'count_x': '(x)::BIGINT', 'sum_x': '(x)::BIGINT'}
    """
    own = {each.sql: each.cast for each in values.values() if each.what != "count" and not each.by}
    held = {EVERY_ROW: EVENT_TIME, EVENT_TIME: EVENT_TIME} | own
    return {
        column: held.get(each.sql, each.cast) if each.what == "count" else each.cast
        for column, each in values.items()
    }


def keys_fit(pipeline: Pipeline, kinds: Columns) -> bool:
    """Whether the keys are few and of types that Arrow can find."""
    return len(pipeline.keys) <= _MOST_KEYS and all(kinds[key] in _KEYS for key in pipeline.keys)


def values_query(
    pipeline: Pipeline,
    rows: str,
    times: Taken,
    columns: Columns,
    values: Columns,
    keys: Columns,
) -> str:
    """SQL for the accepted rows in order: the keys in the types of states, `EVENT_TIME`, and values."""
    return accepted_rows(pipeline, rows, times, columns, {EVENT_TIME: EVENT_TIME, **values}, keys)
