"""The strengths an aggregate's fields can have. The reducer follows from the strength; nobody chooses it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pyarrow as pa

    from pipelines.engine.assignment import Assignment

    Columns = Mapping[str, pa.Array]


class Monoid(Protocol):
    """How the parts of a field combine: associative, with the empty state as identity."""

    @property
    def name(self) -> str: ...

    @property
    def ordered(self) -> bool:
        """Whether the order of arrival matters among equals, so that combine is not commutative."""
        ...

    def reduce(self, parts: Columns, windows: Assignment) -> dict[str, pa.Array]:
        """The field's parts for each window, from its parts for each state."""
        ...


@dataclass(frozen=True, slots=True)
class Fold:
    """A combine over float64 vectors, one entry a part, that cannot be undone: anchored blocks.

    `combine(x, i, y, j, out, k)` writes the combination of x[i] and y[j] to out[k]; it must compile with numba. The state
    of no rows is zeros.
    """

    name: str
    combine: Callable[..., None]
    ordered = False

    def reduce(self, parts: Columns, windows: Assignment) -> dict[str, pa.Array]:
        import numpy as np
        import pyarrow as pa

        from pipelines.engine.reduce.fold import folds

        rows = np.column_stack([part.cast(pa.float64()).to_numpy(zero_copy_only=False) for part in parts.values()])
        out = folds(np.ascontiguousarray(rows), windows, self.combine)
        return {part: pa.array(out[:, at]).cast(parts[part].type) for at, part in enumerate(parts)}


def _add(x, i, y, j, out, k):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    out[k, 0] = x[i, 0] + y[j, 0]


_FLOAT_SUM = Fold("sum", _add)


@dataclass(frozen=True, slots=True)
class Sum:
    """Addition. Integers and decimals are a group: windows are deducted. Floats are not: they are folded."""

    name = "sum"
    ordered = False

    def reduce(self, parts: Columns, windows: Assignment) -> dict[str, pa.Array]:
        import pyarrow as pa

        from pipelines.engine.reduce.exact import exact_sums

        sums = dict[str, pa.Array]()
        for name, part in parts.items():
            sums |= _FLOAT_SUM.reduce({name: part}, windows) if pa.types.is_floating(part.type) else {name: exact_sums(part, windows)}
        return sums


@dataclass(frozen=True, slots=True)
class Select:
    """One state of the window wins whole: the one whose `by` is least or greatest; a null never wins.

    `newest`: of equal ones the last to arrive wins, else the first.
    `then`: a part; of equal ones the least by it wins before arrival decides.
    """

    name: str
    by: str
    least: bool
    newest: bool = False
    then: str = ""

    @property
    def ordered(self) -> bool:
        return self.by != ""

    def reduce(self, parts: Columns, windows: Assignment) -> dict[str, pa.Array]:
        import pyarrow as pa

        from pipelines.engine.lists.gather import ranked
        from pipelines.engine.reduce.select import winners

        by = ranked(parts[self.by], parts[self.then], least=self.least) if self.then else parts[self.by]
        rows = winners(by, windows, least=self.least, newest=self.newest)
        chosen = pa.array(rows, mask=rows < 0)
        return {name: part.take(chosen) for name, part in parts.items()}


@dataclass(frozen=True, slots=True)
class Gather:
    """Lists in one, sorted by the items of `by`; parts are list columns of equal lengths, null being empty.

    `greatest`: the greatest comes first, else the least. `most`: how many items are kept (0: all), the first ones, or
    the last ones if `newest`. `ordered`: whether equal items can be told apart.
    """

    name: str
    by: str
    greatest: bool = False
    newest: bool = False
    most: int = 0
    ordered: bool = True

    def reduce(self, parts: Columns, windows: Assignment) -> dict[str, pa.Array]:
        from pipelines.engine.lists.gather import gathered

        return gathered(parts, self.by, windows, greatest=self.greatest, newest=self.newest, most=self.most)


@dataclass(frozen=True, slots=True)
class AtExtreme:
    """What belongs to the least or greatest `by`: other parts are added (integers) or united (lists) over its holders."""

    name: str
    by: str
    least: bool
    ordered = False

    def reduce(self, parts: Columns, windows: Assignment) -> dict[str, pa.Array]:
        import pyarrow as pa

        from pipelines.engine.lists.gather import holders, sums_over, united

        window, row, first = holders(parts[self.by], windows, least=self.least)
        out = {self.by: parts[self.by].take(pa.array(first, mask=first < 0))}
        for name, part in parts.items():
            if name != self.by:
                join = united if pa.types.is_list(part.type) else sums_over
                out[name] = join(part, window, row, len(first))
        return {name: out[name] for name in parts}


SUM = Sum()
