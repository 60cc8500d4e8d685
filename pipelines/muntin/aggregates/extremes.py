"""The least and the greatest. A NaN is greater than any number, as in DuckDB and Spark."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

from muntin.aggregates.aggregate import About, Aggregate, Field
from muntin.aggregates.algebra import Select
from muntin.aggregates.listing import GATHER, Listed
from muntin.definition.expressions import Plain, What, expression
from muntin.errors import DefinitionError

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

_MOST = 1_000_000  # DuckDB's `max(x, n)` takes fewer


def some(n: object, name: str, like: str = '"x", n=3') -> int:
    """The length of a list that a user gives. `like`: how arguments are written."""
    if not isinstance(n, int) or isinstance(n, bool) or not 0 < n < _MOST:
        raise DefinitionError(
            f"{name}: {n!r} is not possible; say how many, from 1 to {_MOST - 1}, as {name}({like})"
        )
    return n


def _itself(value: pa.Array) -> pa.Array:
    return value


def _list(value: pa.Array) -> pa.Array:
    from muntin.engine.ordered_lists import filled

    return filled(value)


def _range(low: pa.Array, high: pa.Array) -> pa.Array:
    from muntin.engine.reduce.exact import difference

    return difference(high, low)


def least(x: str) -> Field:
    """The least value."""
    return _end("min", "least", x)


def greatest(x: str) -> Field:
    """The greatest value."""
    return _end("max", "greatest", x)


def _end(name: str, what: What, x: str) -> Field:
    monoid = Select(name, by="", least=what == "least")
    return Field(name, x, (("", Plain(f"{name}({x})", what, x)),), monoid, needs=((x, "order"),))


def _extreme(name: str, x: str, n: int | None, of: Callable[[str], Field]) -> Aggregate:
    """The value at one end of the order, or the list of the `n` values there."""
    x = expression(x, name)
    if n is None:
        return Aggregate(name, x, (of(x),), _itself)
    n = some(n, name)
    stem, falling = ("top", ("",)) if name == "max" else ("bottom", ())
    monoid = Listed(f"{stem}_n", by=("",), falling=falling, limit=n, ordered=False, known_as=GATHER)
    field = Field(f"{stem}{n}", x, (("", f"coalesce({name}({x}, {n}), [])"),), monoid, needs=((x, "order"),))
    return Aggregate(name, f"{x}, n={n}", (field,), _list, gives_lists=True)


def min(x: str, *, n: int | None = None, where: str | None = None, **about: Unpack[About]) -> Aggregate:  # noqa: A001 - the name in SQL and in the contract
    """The least value of `x`, of any type with an order; with `n`, a list of the `n` least values, the
    least first. Null where every value is null.

    Raises:
        DefinitionError: `n` is not a whole number from 1 to 999999.
    """
    return _extreme("min", x, n, least).only(where, **about)


def max(x: str, *, n: int | None = None, where: str | None = None, **about: Unpack[About]) -> Aggregate:  # noqa: A001 - the name in SQL and in the contract
    """The greatest value of `x`, of any type with an order; with `n`, a list of the `n` greatest values, the
    greatest first. Null where every value is null.

    Raises:
        DefinitionError: `n` is not a whole number from 1 to 999999.
    """
    return _extreme("max", x, n, greatest).only(where, **about)


def range(x: str, *, where: str | None = None, **about: Unpack[About]) -> Aggregate:  # noqa: A001 - the name in statistics and in the contract
    """The greatest value of `x` minus the least; null where every value is null.

    Integers give int64. Decimals give a decimal with one more digit; unsigned integers of 64 bits are kept as
    decimals. Dates give whole days, timestamps give seconds as a double. A range that does not fit its type
    is an error.
    """
    x = expression(x, "range")
    fields = tuple(replace(each, needs=((x, "difference"),)) for each in (least(x), greatest(x)))
    return Aggregate("range", x, fields, _range).only(where, **about)
