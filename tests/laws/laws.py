"""The laws, each once. `check` draws parts of the given rows and raises with the smallest counter-example it met."""

import math
from collections.abc import Sequence

import pyarrow as pa

from pipelines.aggregates import Aggregate, Sum
from tests.core.values import alike, bitwise
from tests.laws.states import Kinds, Row, combine, finish, lift, ranges

Rows = Sequence[Row]


def check(aggregate: Aggregate, a: Rows, b: Rows, c: Rows, kinds: Kinds) -> None:
    """All laws on three lists of rows, each later than the one before (equal times: later to arrive).

    Raises:
        AssertionError: a law is broken; says which, and by which states.
    """
    x, y, z = (lift(aggregate, rows, kinds) for rows in (a, b, c))
    associative(aggregate, x, y, z)
    identity(aggregate, x, kinds)
    accumulates(aggregate, [a, b, c], kinds)
    blocks(aggregate, x, y, z)
    finish_only_looks(aggregate, x)
    if not any(field.monoid.ordered for field in aggregate.fields):
        commutative(aggregate, x, y)
    if all(isinstance(field.monoid, Sum) for field in aggregate.fields) and not any(map(pa.types.is_floating, x.schema.types)):
        deductible(aggregate, x, y)


def associative(aggregate: Aggregate, x: pa.Table, y: pa.Table, z: pa.Table) -> None:
    """(x y) z == x (y z)"""
    left = combine(aggregate, combine(aggregate, x, y), z)
    right = combine(aggregate, x, combine(aggregate, y, z))
    agree("associative", left, right)


def commutative(aggregate: Aggregate, x: pa.Table, y: pa.Table) -> None:
    """x y == y x"""
    agree("commutative", combine(aggregate, x, y), combine(aggregate, y, x))


def identity(aggregate: Aggregate, x: pa.Table, kinds: Kinds) -> None:
    """The state of no rows changes nothing, from either side."""
    empty = lift(aggregate, [], kinds)
    agree("identity on the right", combine(aggregate, x, empty), x)
    agree("identity on the left", combine(aggregate, empty, x), x)


def accumulates(aggregate: Aggregate, parts: Sequence[Rows], kinds: Kinds) -> None:
    """To lift all rows at once is to combine the lifts of their parts."""
    whole = lift(aggregate, [row for rows in parts for row in rows], kinds)
    agree("accumulate == combine . lift", combine(aggregate, *(lift(aggregate, rows, kinds) for rows in parts)), whole)


def blocks(aggregate: Aggregate, x: pa.Table, y: pa.Table, z: pa.Table) -> None:
    """A window over two blocks is a window over one."""
    for mid in (1, 2):
        agree(f"two blocks, the second from {mid}", combine(aggregate, x, y, z, mid=mid), combine(aggregate, x, y, z))


def deductible(aggregate: Aggregate, x: pa.Table, y: pa.Table) -> None:
    """(x y) without x is y, to the last bit, as the engine deducts: the window of y behind a running total over x."""
    behind = ranges(aggregate, pa.concat_tables([x, y]), [(0, 0, 2), (1, 1, 2)]).slice(1)
    assert bitwise(pa.table(behind.to_pydict(), y.schema), y), f"deduct: {behind.to_pylist()} not {y.to_pylist()}"


def finish_only_looks(aggregate: Aggregate, x: pa.Table) -> None:
    """Finishing twice gives the same, and leaves the state as it was."""
    before = x.to_pylist()
    assert alike(finish(aggregate, x), finish(aggregate, x))
    assert alike([list(row.values()) for row in x.to_pylist()], [list(row.values()) for row in before])


def agree(law: str, ours: pa.Table, theirs: pa.Table) -> None:
    """Exactly, but for floats: those to rounding, in terms of what was added."""
    for name in theirs.column_names:
        for one, other in zip(ours[name].to_pylist(), theirs[name].to_pylist(), strict=True):
            assert close(one, other), f"{law}: {name} is {one!r}, not {other!r}, in {ours.to_pylist()} and {theirs.to_pylist()}"


def close(one: object, other: object) -> bool:
    """NaN is NaN; -0.0 is 0.0; floats to nine digits, or to what is left of numbers of 1e9; so in lists."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(close, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return (math.isnan(one) and math.isnan(other)) or math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-5)
    return type(one) is type(other) and one == other
