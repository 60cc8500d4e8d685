"""The monoids of fields. The engine's algorithm follows from the monoid."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from muntin.engine.assignment import Assignment

if TYPE_CHECKING:
    import pyarrow as pa

Columns: TypeAlias = "Mapping[str, pa.Array]"


class Monoid(Protocol):
    """How the parts of a field combine. Combining is associative, and the empty state is its identity.

    A monoid may have `regroups(types)`, whether states of some Arrow types give the same bits in any order
    and any groups, but for columns with a float that is -0.0 or NaN. Without it they do not.
    """

    @property
    def name(self) -> str: ...

    @property
    def ordered(self) -> bool:
        """Whether the order of arrival decides between equal values. Combining is then not commutative."""

    def reduce(self, parts: Columns, windows: Assignment) -> dict[str, pa.Array]:
        """The parts of each window, from the parts of each state."""


@dataclass(frozen=True, slots=True)
class Fold:
    """A combine of float64 vectors that cannot be undone. A vector has an entry for each part.

    `combine(x, i, y, j, out, k)` writes the combination of x[i] and y[j] to out[k]. Numba must be able to
    compile it. The state of no rows is all zeros.
    """

    name: str
    combine: Callable[..., None]
    ordered = False

    def reduce(self, parts: Columns, windows: Assignment) -> dict[str, pa.Array]:
        import numpy as np
        import pyarrow as pa

        from muntin.engine.reduce.fold import folds

        rows = np.column_stack(
            [part.cast(pa.float64()).to_numpy(zero_copy_only=False) for part in parts.values()]
        )
        out = folds(np.ascontiguousarray(rows), windows, self.combine)
        return {part: pa.array(out[:, at]).cast(parts[part].type) for at, part in enumerate(parts)}


def _add(x, i, y, j, out, k):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    out[k, 0] = x[i, 0] + y[j, 0]


_FLOAT_SUM = Fold("sum", _add)


@dataclass(frozen=True, slots=True)
class Sum:
    """Addition. Integers and decimals can be deducted, because they are a group. Floats are folded."""

    name = "sum"
    ordered = False

    def regroups(self, types: Sequence[pa.DataType]) -> bool:
        import pyarrow as pa

        return not any(pa.types.is_floating(each) for each in types)

    def reduce(self, parts: Columns, windows: Assignment) -> dict[str, pa.Array]:
        import pyarrow as pa

        from muntin.engine.reduce.exact import exact_sums

        sums = dict[str, pa.Array]()
        for name, part in parts.items():
            sums |= (
                _FLOAT_SUM.reduce({name: part}, windows)
                if pa.types.is_floating(part.type)
                else {name: exact_sums(part, windows)}
            )
        return sums


@dataclass(frozen=True, slots=True)
class Select:
    """A whole state wins: the state of the window with the least or greatest `by`. A null never wins.

    Between states with equal `by`, the state with the least `then` wins, if `then` names a part. After that
    the first to arrive wins; with `newest`, the last.
    """

    name: str
    by: str
    least: bool
    newest: bool = False
    then: str = ""

    @property
    def ordered(self) -> bool:
        return self.by != ""

    def regroups(self, types: Sequence[pa.DataType]) -> bool:
        import pyarrow as pa

        return self.by == "" and not any(pa.types.is_nested(each) for each in types)

    def reduce(self, parts: Columns, windows: Assignment) -> dict[str, pa.Array]:
        import pyarrow as pa

        from muntin.engine.reduce.select import winners

        then = parts[self.then] if self.then else None
        rows = winners(parts[self.by], windows, least=self.least, newest=self.newest, then=then)
        chosen = pa.array(rows, mask=rows < 0)
        return {name: part.take(chosen) for name, part in parts.items()}


@dataclass(frozen=True, slots=True)
class AtExtreme:
    """The least or greatest `by`; over its states, other parts are added (integers) or united (lists)."""

    name: str
    by: str
    least: bool
    ordered = False

    def regroups(self, types: Sequence[pa.DataType]) -> bool:
        import pyarrow as pa

        return not any(pa.types.is_nested(each) for each in types)

    def reduce(self, parts: Columns, windows: Assignment) -> dict[str, pa.Array]:
        import pyarrow as pa

        from muntin.engine.lists.groups import holders, sums_over, united_over

        window, row, first = holders(parts[self.by], windows, least=self.least)
        out = {self.by: parts[self.by].take(pa.array(first, mask=first < 0))}
        for name, part in parts.items():
            if name != self.by:
                join = united_over if pa.types.is_list(part.type) else sums_over
                out[name] = join(part, window, row, len(first))
        return {name: out[name] for name in parts}


SUM = Sum()
