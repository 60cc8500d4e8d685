"""A monoid of Python objects, which Python reads from bytes, combines and writes: slow, but free."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from muntin.aggregates.algebra import Columns
from muntin.engine.assignment import Assignment

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Objects:
    """Python objects as bytes in a column.

    Attributes:
        name: of the kind of state, for people.
        read: bytes to an object that may be changed.
        write: an object to bytes.
        combine: two objects to one. It returns the result, and may change its first argument only.
        empty: makes a new object of no rows.
        deduct: takes the second object out of the first; None where that is impossible.
        show: what the laws compare of an object; None: the object itself.
    """

    name: str
    read: Callable[[bytes], Any]
    write: Callable[[Any], bytes]
    combine: Callable[[Any, Any], Any]
    empty: Callable[[], Any]
    deduct: Callable[[Any, Any], Any] | None = None
    show: Callable[[Any], Any] | None = None

    ordered = False

    def reduce(self, parts: Columns, windows: Assignment) -> dict[str, pa.Array]:
        from muntin.engine.reduce.fold import Algebra, combinations

        algebra = Algebra(self.read, self.write, self.combine, self.deduct)
        return {
            part: combinations(column, windows, algebra, self.write(self.empty()))
            for part, column in parts.items()
        }

    def shown(self, states: pa.Array) -> list[Any]:
        show = self.show or plain
        return [show(self.read(state)) for state in states.to_pylist()]


def plain(state: Any) -> Any:  # noqa: ANN401 - whatever a user's states are
    """An object itself if its class defines equality; otherwise its class and attributes."""
    knows_equals = "__eq__" in {name for each in type(state).__mro__[:-1] for name in vars(each)}
    return (
        state if knows_equals or not hasattr(state, "__dict__") else (type(state).__qualname__, vars(state))
    )
