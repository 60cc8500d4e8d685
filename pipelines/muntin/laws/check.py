"""The laws: `check` tries them on combinations of example values and shows the smallest counter-example."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from muntin.aggregates.aggregate import Aggregate
from muntin.aggregates.algebra import Sum
from muntin.errors import DefinitionError, LawError
from muntin.laws.states import Kinds, Row, Rows, combined, finished, lifted, ranges
from muntin.sources.sessions.duckdb_session import said

Triple = tuple[Rows, Rows, Rows]

_EACH, _LONGER = 1_000, 200  # how many cases of a short length are tried, and of a longer length
_CLOCKS = ((0, 0, 1, 1, 2, 3, 3, 4), (2, 0, 1, 1, 3, 0, 2, 1))  # in order with ties, and as late rows come


def rows_of(aggregate: Aggregate, examples: Sequence[Any], types: Kinds | None) -> tuple[list[Row], Kinds]:
    """Examples as rows, and the Arrow types of their columns."""
    if not examples:
        raise DefinitionError(
            "laws.check: no example values; give a few, null and the ones that hurt among them"
        )
    plain = not isinstance(examples[0], Mapping)
    rows: list[Row] = [{_column(aggregate): value} if plain else dict(value) for value in examples]
    guessed = pa.Table.from_pylist(rows).schema
    return rows, {name: (types or {}).get(name, guessed.field(name).type) for name in guessed.names}


def _column(aggregate: Aggregate) -> str:
    named = re.match(r"(?:DISTINCT )?([A-Za-z_]\w*)\s*(?:,|$)", aggregate.of)
    if aggregate.of and not named:
        raise DefinitionError(
            f'laws.check: {aggregate} is not about one column; give rows, as [{{"price": 2.0, "quantity": '
            f"3}}, ...]"
        )
    return named[1] if named else "x"


def triples(rows: Sequence[Row]) -> list[Triple]:
    """Lists of rows in three parts, the shortest first. Each row gets a `time`; some are equal, some late."""
    cases: list[Triple] = []
    for length in range(9):
        several = islice(product(rows, repeat=length), _EACH) if length <= 3 else _sampled(rows, length)  # noqa: PLR2004 - every short list
        for at, chosen in enumerate(several):
            clock = _CLOCKS[at % 2]
            timed = [{**row, "time": clock[place]} for place, row in enumerate(chosen)]
            cases += [(timed[:i], timed[i:j], timed[j:]) for i, j in _cuts(length, at)]
    return cases


def _cuts(length: int, at: int) -> list[tuple[int, int]]:
    """Where a list is cut: a short list everywhere, a longer list in two of the ways."""
    every = [(i, j) for i in range(length + 1) for j in range(i, length + 1)]
    return every if length <= 2 else [every[at % len(every)], every[(7 * at + 3) % len(every)]]  # noqa: PLR2004


def _sampled(rows: Sequence[Row], length: int) -> Iterator[list[Row]]:
    dice = random.Random(length)  # noqa: S311 - equal examples give equal cases
    for _ in range(_LONGER // length):
        yield [dice.choice(rows) for _ in range(length)]


@dataclass(frozen=True, slots=True)
class Breach:
    """A broken law, the case that breaks it, and what differs."""

    law: str
    case: int
    column: str
    shown: Any
    wanted: Any


def check(aggregate: Aggregate, example_values: Sequence[Any], *, types: Kinds | None = None) -> None:
    """Try the laws on an aggregate. Nothing happens if it keeps them.

    Args:
        aggregate: for example `agg.own(...)`, or an `Aggregate` of your own fields.
        example_values: values of the column that the aggregate is about, or rows as dicts. Give difficult
            values: None, zero, negative and equal values.
        types: column -> Arrow type, where the examples do not show it, as `{"x": pa.decimal128(38, 2)}`.

    Raises:
        LawError: the aggregate breaks a law. The error names the law, the fewest rows that break it, and what
            follows.
        DefinitionError: no examples, or the aggregate's SQL does not fit them.
    """
    rows, kinds = rows_of(aggregate, example_values, types)
    prove(aggregate, triples(rows), kinds)


def prove(aggregate: Aggregate, cases: Sequence[Triple], kinds: Kinds) -> None:
    """All laws on cases of three lists of rows, each list later to arrive than the list before.

    `aggregate`: of any kind. `cases`: three lists of rows with a `time` in microseconds. The shortest case
    comes first. `kinds`: column -> Arrow type.
    """
    breaches = [each for each in _breaches(aggregate, cases, kinds) if each]
    if breaches:
        worst = min(breaches, key=lambda breach: breach.case)
        others = sorted({breach.law.split(":")[0] for breach in breaches} - {worst.law.split(":")[0]})
        more = f" Other laws that it breaks: {', '.join(others)}." if others else ""
        raise LawError(_reported(aggregate, worst, cases[worst.case]) + more)


def _breaches(aggregate: Aggregate, cases: Sequence[Triple], kinds: Kinds) -> Iterator[Breach | None]:
    x, y, z, whole, empty = _states(aggregate, cases, kinds)
    alone = combined(aggregate, x)
    together = combined(aggregate, x, y, z)
    left = combined(aggregate, combined(aggregate, x, y), z)
    right = combined(aggregate, x, combined(aggregate, y, z))
    yield _differ(aggregate, "associative: (x y) z == x (y z)", left, right)
    yield _differ(aggregate, "identity: x with no rows == x", combined(aggregate, x, empty), alone)
    yield _differ(aggregate, "identity: no rows with x == x", combined(aggregate, empty, x), alone)
    rows = np.arange(len(x))
    yield _differ(
        aggregate,
        "empty: a window without states == no rows",
        ranges(aggregate, x, rows, rows * 0, (rows, rows, rows)),
        combined(aggregate, empty),
    )
    yield _differ(aggregate, "accumulate == combine . lift", together, combined(aggregate, whole))
    for mid in (1, 2):
        yield _differ(
            aggregate,
            f"two blocks == one, the second from {mid}",
            combined(aggregate, x, y, z, mid=mid),
            together,
        )
    if not any(field.monoid.ordered for field in aggregate.fields):
        yield _differ(
            aggregate, "commutative: x y == y x", combined(aggregate, x, y), combined(aggregate, y, x)
        )
    if _deducts(aggregate, x):
        yield _differ(
            aggregate,
            "deduct: (x y z) without x == y z",
            _deducted(aggregate, x, y, z),
            combined(aggregate, y, z),
            exactly=True,
        )
    yield _inspect(aggregate, together)


def _states(aggregate: Aggregate, cases: Sequence[Triple], kinds: Kinds) -> list[pa.Table]:
    """The states of each case: the state of each part, the state of all rows, and the state of no rows."""
    lists = [case[part] for part in range(3) for case in cases]
    lists += [[row for rows in case for row in rows] for case in cases] + [[] for _ in cases]
    try:
        states = lifted(aggregate, lists, kinds)
    except duckdb.Error as wrong:
        spelled = ", ".join(f"{name} {kind}" for name, kind in kinds.items())
        raise DefinitionError(
            f"laws: {aggregate} does not fit the examples, which have {spelled}: {said(wrong)}; give rows "
            "with its columns, or say types="
        ) from wrong
    return [states.slice(at * len(cases), len(cases)) for at in range(5)]


def _deducts(aggregate: Aggregate, x: pa.Table) -> bool:
    """Whether the engine would deduct: all fields are exact sums, or objects with a `deduct`."""
    exact = all(
        isinstance(field.monoid, Sum) or getattr(field.monoid, "deduct", None) is not None
        for field in aggregate.fields
    )
    return exact and not any(map(pa.types.is_floating, x.schema.types))


def _deducted(aggregate: Aggregate, x: pa.Table, y: pa.Table, z: pa.Table) -> pa.Table:
    """The window of y and z, as the engine deducts it from a running total that begins with x."""
    rows = len(x)
    order = np.arange(3 * rows).reshape(3, rows).T.ravel()
    block = np.arange(rows).repeat(3)
    lo = 3 * np.arange(rows) + 1
    return ranges(aggregate, pa.concat_tables([x, y, z]), order, block, (lo, lo, lo + 2))


def _inspect(aggregate: Aggregate, states: pa.Table) -> Breach | None:
    """Whether `finish` gives an equal result twice and does not change the state."""
    before = _shown(aggregate, states)
    one = finished(aggregate, states).to_pylist()
    other = finished(aggregate, states).to_pylist()
    for case, (first, second) in enumerate(zip(one, other, strict=True)):
        if not close(first, second):
            return Breach("finish twice == finish once", case, "the result", second, first)
    after = _shown(aggregate, states)
    touched = getattr(aggregate.finish, "touched", None)
    if touched is not None:
        after = {name: touched(states[name].combine_chunks()) for name in after}
    return _first(before, after, "finish leaves the state alone", exactly=True)


def _differ(
    aggregate: Aggregate, law: str, ours: pa.Table, theirs: pa.Table, *, exactly: bool = False
) -> Breach | None:
    return _first(_shown(aggregate, theirs), _shown(aggregate, ours), law, exactly=exactly)


def _first(
    wanted: dict[str, list[Any]], shown: dict[str, list[Any]], law: str, *, exactly: bool
) -> Breach | None:
    """The first case in which a column is wrong."""
    breaches = [
        Breach(law, case, name, one, other)
        for name in wanted
        for case, (one, other) in enumerate(zip(shown[name], wanted[name], strict=True))
        if not close(one, other, exactly=exactly)
    ]
    return min(breaches, key=lambda breach: breach.case, default=None)


def _shown(aggregate: Aggregate, states: pa.Table) -> dict[str, list[Any]]:
    """Column -> the value of each state. Objects are shown as objects, not as bytes."""
    shown = {}
    for field in aggregate.fields:
        for name in field.columns:
            column = states[name].combine_chunks()
            shown[name] = field.monoid.shown(column) if hasattr(field.monoid, "shown") else column.to_pylist()
    return shown


def close(one: Any, other: Any, *, exactly: bool = False) -> bool:  # noqa: ANN401 - states hold values of any kind
    """Whether two values are equal, floats to nine digits or 1e-5 unless `exactly`. NaN equals NaN."""
    if isinstance(one, float) and isinstance(other, float):
        same = one == other or (math.isnan(one) and math.isnan(other))
        return same or (not exactly and math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-5))
    if isinstance(one, list | tuple) and type(one) is type(other):
        return len(one) == len(other) and all(
            close(a, b, exactly=exactly) for a, b in zip(one, other, strict=True)
        )
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(close(one[key], other[key], exactly=exactly) for key in one)
    return type(one) is type(other) and bool(np.all(one == other))


def _reported(aggregate: Aggregate, breach: Breach, case: Triple) -> str:
    parts = "\n".join(f"  {name}: {_rows(rows)}" for name, rows in zip("xyz", case, strict=True))
    return (
        f"{aggregate} breaks a law: {breach.law}.\nWith the states of these rows\n{parts}\n"
        f"{breach.column} is {breach.shown!r}, not {breach.wanted!r}. Its windows would depend on how the "
        "rows came in batches."
    )


def _rows(rows: Sequence[Any]) -> str:
    values = [
        ", ".join(f"{name}={value!r}" for name, value in row.items() if name != "time") + f" at {row['time']}"
        for row in rows
    ]
    return "; ".join(values) or "none"
