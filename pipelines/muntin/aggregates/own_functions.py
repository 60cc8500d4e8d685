"""Aggregates out of Python functions: four functions over a state, or one function over all rows of a window.

They are about a hundred times slower than the catalogue, since Python sees every row.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

from muntin.aggregates.aggregate import About, Aggregate, Field
from muntin.aggregates.listing import Listed, items
from muntin.aggregates.objects import Objects, plain
from muntin.definition.expressions import expression
from muntin.definition.function_marks import mark
from muntin.errors import DefinitionError
from muntin.states.columns import ORDER

if TYPE_CHECKING:
    import pyarrow as pa

_DUMPED = partial(pickle.dumps, protocol=5)


def own(
    name: str,
    of: str,
    *,
    create: Callable[[], Any],
    accumulate: Callable[[Any, Any], Any],
    combine: Callable[[Any, Any], Any],
    finish: Callable[[Any], Any],
    deduct: Callable[[Any, Any], Any] | None = None,
    returns: pa.DataType | None = None,
    where: str | None = None,
    **about: Unpack[About],
) -> Aggregate:
    """An aggregate made of four Python functions: they create a state, add a value to a state, combine two
    states, and turn a state into a result.

    `muntin.laws.check` says whether the functions fit each other. Call it before the first run.

    Args:
        name: of the aggregate, for people and for the column of the state: letters, digits and '_'.
        of: SQL expression whose values are accumulated; nulls are left out. A struct takes several columns:
            "{'x': x, 'y': y}" arrives as a dict.
        create: () -> the state of no rows; any object that can be pickled.
        accumulate: (state, value) -> state. Takes the values in the order of event time, then arrival. May
            change the state.
        combine: (state, state) -> state. Gives the same result for both orders of its arguments. May change
            the first argument only.
        finish: (state) -> result. Must not change the state.
        deduct: (state, state) -> state. Takes the second state out of the first, and gives exactly the state
            before `combine`. Saves a third of the combining. Leave it out where it is not exact, as for
            floats.
        returns: Arrow type of the result; float64 if left out.
        where: SQL condition that rows must meet.

    Raises:
        DefinitionError: `name` cannot name a column, an argument is not a function, or Delta does not have
            the type. At run time: a result is not of the type.
    """
    of = expression(of, "own")
    if not isinstance(name, str) or not name.isidentifier():
        raise DefinitionError(f'own: {name!r} cannot name a column; use letters, digits and "_"')
    for what, function in (
        ("create", create),
        ("accumulate", accumulate),
        ("combine", combine),
        ("finish", finish),
    ):
        _check_function("own", what, function)
    if deduct is not None:
        _check_function("own", "deduct", deduct)
    _check_type("own", returns)
    lift = items(f"({of})", f"({of}) IS NOT NULL")
    monoid = Objects(name, pickle.loads, _DUMPED, combine, create, deduct)
    kind = f"{name}_{mark(create, accumulate, combine, deduct)}"
    field = Field(kind, of, (("", lift),), monoid, uses_order=True, seal=_accumulated(create, accumulate))
    return Aggregate(name, of, (field,), _finishing(name, finish, returns)).only(where, **about)


def _check_function(name: str, what: str, function: object) -> None:
    if not callable(function):
        raise DefinitionError(f"{name}: {what} is {function!r}; give a function")


def _check_type(name: str, returns: object) -> None:
    """Refuse a value that is not an Arrow type, and a type that Delta does not have."""
    if returns is not None and not _storable(returns):
        raise DefinitionError(
            f"{name}: returns={returns!r} cannot be stored; give a signed, plain Arrow type, as pa.int64() "
            "or pa.string()"
        )


def _storable(kind: object) -> bool:
    import pyarrow as pa

    if not isinstance(kind, pa.DataType):
        return False
    if pa.types.is_nested(kind):
        plain = pa.types.is_list(kind) or pa.types.is_struct(kind) or pa.types.is_map(kind)
        return plain and all(_storable(kind.field(at).type) for at in range(kind.num_fields))
    named = {
        "bool",
        "int8",
        "int16",
        "int32",
        "int64",
        "float",
        "double",
        "string",
        "binary",
        "date32[day]",
        "timestamp[us]",
    }
    return str(kind) in named | {"timestamp[us, tz=UTC]"} or pa.types.is_decimal128(kind)


def _typed(name: str, results: list[Any], kind: pa.DataType) -> pa.Array:
    import pyarrow as pa

    try:
        return pa.array(results, kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as wrong:
        raise DefinitionError(
            f"{name}: a result does not fit {kind}: {wrong}; say what the function gives, as "
            "returns=pa.string()"
        ) from wrong


def _accumulated(
    create: Callable[[], Any], accumulate: Callable[[Any, Any], Any]
) -> Callable[[pa.Array], list[pa.Array]]:
    def state(values: list[Any]) -> bytes:
        so_far = create()
        for value in values:
            so_far = accumulate(so_far, value)
        return _DUMPED(so_far)

    def states(lists: pa.Array) -> list[pa.Array]:
        import pyarrow as pa

        return [pa.array([state(values or []) for values in lists.to_pylist()], pa.binary())]

    return states


def _finishing(
    name: str, finish: Callable[[Any], Any], returns: pa.DataType | None
) -> Callable[..., pa.Array]:
    def finished(states: pa.Array) -> pa.Array:
        import pyarrow as pa

        results = [finish(pickle.loads(state)) for state in states.to_pylist()]  # noqa: S301 - this pipeline wrote them
        return _typed(name, results, returns or pa.float64())

    def touched(states: pa.Array) -> list[Any]:
        """The states as `finish` leaves them, for the laws."""
        objects = [pickle.loads(state) for state in states.to_pylist()]  # noqa: S301 - states that this pipeline wrote
        for state in objects:
            finish(state)
        return [plain(state) for state in objects]

    finished.__qualname__ = f"{name}_{mark(finish)}_{returns}"  # a changed function derives results again
    finished.touched = touched  # type: ignore[attr-defined]
    return finished


def apply(
    function: Callable[..., Any],
    *columns: str,
    returns: pa.DataType | None = None,
    where: str | None = None,
    **about: Unpack[About],
) -> Aggregate:
    """The result of a Python function that gets all rows of a window, as a list for each column.

    A list has a value for each row of the window, in the order of event time, then arrival; null is None. A
    state keeps every value. If a smaller state is enough, take `own`.

    Args:
        function: takes a list for each column.
        columns: SQL expressions.
        returns: Arrow type of the result; float64 if left out.
        where: SQL condition that rows must meet.

    Raises:
        DefinitionError: not a function, no columns, or a type that Delta does not have. At run time: a result
            is not of the type.
    """
    _check_function("apply", "the function", function)
    _check_type("apply", returns)
    if not columns:
        raise DefinitionError(
            'apply: no columns; name what the function is over, as apply(function, "x", "y")'
        )
    of = [expression(column, "apply") for column in columns]
    parts = (
        ("times", items(ORDER, "true")),
        *((str(at), items(f"({x})", "true")) for at, x in enumerate(of)),
    )
    field = Field("apply", ", ".join(of), parts, Listed("apply", by=("times",)), uses_order=True)
    name = getattr(function, "__name__", "function")
    return Aggregate(f"apply {name}", ", ".join(of), (field,), _applying(function, returns)).only(
        where, **about
    )


def _applying(function: Callable[..., Any], returns: pa.DataType | None) -> Callable[..., pa.Array]:
    def applied(times: pa.Array, *lists: pa.Array) -> pa.Array:  # noqa: ARG001 - finish gets every part
        import pyarrow as pa

        columns = [each.to_pylist() for each in lists]
        return _typed(
            "apply", [function(*row) for row in zip(*columns, strict=True)], returns or pa.float64()
        )

    applied.__qualname__ = f"apply_{mark(function)}_{returns}"
    return applied
