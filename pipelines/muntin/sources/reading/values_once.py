"""Held and derived columns of a state that is a row; derived columns follow from held columns, which hold
each value once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from muntin.aggregates.lifts import Narrowed
from muntin.definition.expressions import EVERY_ROW, LISTS, Plain
from muntin.sources.casts import SIGNED
from muntin.states.columns import FRAME

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from muntin.aggregates.lifts import Lift
    from muntin.definition.expressions import What
    from muntin.sources.source import Columns
    from muntin.states.derived_columns import How

    Follows = dict[str, tuple[How, str] | None]

FLOATS = ("FLOAT", "DOUBLE")
_KEPT = (*FLOATS, *SIGNED, "BOOLEAN", "VARCHAR", "DATE", "TIMESTAMP WITH TIME ZONE")


@dataclass(frozen=True, slots=True)
class _OfRow:
    """The origin of a column: the SQL of the row's value, and the SQL type of the column."""

    what: What
    value: str
    kind: str

    @classmethod
    def of(cls, lift: Lift, natural: str, kind: str) -> Self | None:
        plain = lift.lift if isinstance(lift, Narrowed) else lift
        if not isinstance(plain, Plain) or plain.what in LISTS:
            return None
        value, by = (
            f"CASE WHEN ({lift.where}) THEN {each} END" if isinstance(lift, Narrowed) else each
            for each in (plain.of, plain.by)
        )
        if plain.by:
            extreme = at_extreme(value, natural)
            return (
                cls(plain.what, f"CASE WHEN ({by}) IS NOT NULL THEN {extreme} END", kind) if extreme else None
            )
        if natural == "FLOAT" and plain.startswith("arg_"):
            value = f"({value}) + 0::FLOAT"  # DuckDB's arg_min and arg_max make 0.0 of a -0.0 that is a FLOAT
        return cls(plain.what, value, kind)

    @property
    def cast(self) -> str:
        return f"({self.value})::{self.kind}"

    @property
    def is_instant(self) -> bool:
        """Whether the column may be an instant in microseconds, as it is."""
        return self.what == "value" and self.kind == "BIGINT"

    @property
    def is_number(self) -> bool:
        """Whether the value in this type is null where the value is null, and nowhere else:

        JSON has a null of its own.
        """
        return self.kind in (*SIGNED, "FLOAT", "DOUBLE") or self.kind.startswith("DECIMAL")


def at_extreme(value: str, kind: str) -> str | None:
    """SQL of a value as DuckDB's arg_min and arg_max by a struct give it: of floats one zero, and one NaN.

    None: of other types.
    """
    if kind in FLOATS:
        return f"CASE WHEN isnan({value}) THEN 'nan'::{kind} ELSE ({value}) + 0::{kind} END"
    return f"({value})" if is_kept(kind) else None


def is_kept(kind: str) -> bool:
    """Whether DuckDB's arg_min and arg_max by a struct are known to give values of a type as they are, of
    floats but for zeros and NaNs.
    """
    return kind in _KEPT or kind.startswith("DECIMAL(")


def values_once(
    lifts: Mapping[str, Lift],
    natural: Columns,
    kinds: Columns,
    of_frame: Callable[[str], bool] = lambda _: False,
) -> tuple[dict[str, str], Follows] | None:
    """Held column -> the SQL of what a row has in it; and column -> how it follows from a held one, as
    `footer_for` takes it.

    None if a lift cannot be computed from one row. `natural`, `kinds`: column -> the SQL type that DuckDB's
    aggregate has, and that of the state; `of_frame`: whether the SQL of a row's value gives the start of its
    frame in microseconds.

    >>> lifts = {"rows": Plain("count(*)", "count", "1"), "sum": Plain("sum(x)", "sum", "x"),
    ...     "max": Plain("max(x)", "greatest", "x")}
    >>> values_once(lifts, {"rows": "BIGINT", "sum": "HUGEINT", "max": "INTEGER"}, {"rows": "BIGINT",
    ...     "sum": "BIGINT", "max": "INTEGER"})
    ({'max': '(x)::INTEGER'}, {'rows': ('one', ''), 'sum': ('total', 'max'), 'max': None})
    """
    rows = {
        column: each
        for column, lift in lifts.items()
        if (each := _OfRow.of(lift, natural[column], kinds[column]))
    }
    if len(rows) < len(lifts):
        return None
    instants: Follows = {
        column: ("instant", FRAME)
        for column, each in rows.items()
        if each.is_instant and of_frame(each.value)
    }
    others = {column: each for column, each in rows.items() if column not in instants}
    holders = _holders(others)
    follows = {
        column: instants.get(column) or _follows(column, each, holders, others)
        for column, each in rows.items()
    }
    held = {
        column: f"(({each.value}) IS NOT NULL)::{each.kind}" if each.what == "count" else each.cast
        for column, each in others.items()
        if follows[column] in (None, ("total", column))
    }
    return held, follows


def _holders(rows: Mapping[str, _OfRow]) -> dict[str, str]:
    """SQL of a value in a type -> the column that holds it: with the value itself rather than a sum."""
    ordered = sorted(rows.items(), key=lambda item: item[1].what == "sum")
    column_of_value: dict[str, str] = {}
    for column, each in ordered:
        if each.what != "count" and not (each.what == "sum" and _narrower(each, column_of_value)):
            column_of_value.setdefault(each.cast, column)
    return column_of_value


def _narrower(total: _OfRow, holders: Columns) -> str | None:
    """The column with the same whole number in a narrower type, of which a sum's 64 bits follow exactly."""
    kinds = SIGNED if total.kind == "BIGINT" else ()
    return next((holders[cast] for kind in kinds if (cast := f"({total.value})::{kind}") in holders), None)


def _follows(
    column: str, each: _OfRow, holders: Columns, rows: Mapping[str, _OfRow]
) -> tuple[How, str] | None:
    if each.what == "count":
        same = (
            column
            for column in holders.values()
            if rows[column].value == each.value and rows[column].is_number
        )
        return (
            ("one", "") if each.value == EVERY_ROW else next((("present", column) for column in same), None)
        )
    if each.what == "sum":
        return "total", _narrower(each, holders) or holders[each.cast]
    return None if holders[each.cast] == column else ("value", holders[each.cast])
