"""The monoid of sketches. A state is the bytes that the library writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

    from muntin.aggregates.algebra import Columns
    from muntin.engine.assignment import Assignment


@dataclass(frozen=True, slots=True)
class Sketches:
    """Sketches of a kind.

    Attributes:
        name: "hll", "theta", "tdigest" or "frequent".
        size: k or lg_k of the library.
    """

    name: str
    size: int

    ordered = False

    @property
    def hashes(self) -> bool:
        """Whether values are distinguished by a hash or a text."""
        return self.name != "tdigest"

    def sealed(self, lists: pa.Array) -> list[pa.Array]:
        """A sketch of each list of values."""
        from muntin.engine.reduce.sketch_bytes import KINDS

        return [KINDS[self.name].states(lists, self.size)]

    def reduce(self, parts: Columns, windows: Assignment) -> dict[str, pa.Array]:
        from muntin.engine.reduce.python_objects import combinations
        from muntin.engine.reduce.sketch_bytes import KINDS

        kind = KINDS[self.name]
        empty = kind.write(kind.made(self.size, []))
        return {part: combinations(column, windows, kind.algebra(self.size), empty) for part, column in parts.items()}

    def shown(self, states: pa.Array) -> list[Any]:
        """Each state as a value that can be compared and printed."""
        from muntin.engine.reduce.sketch_bytes import KINDS

        kind = KINDS[self.name]
        return [kind.show(kind.read(state)) for state in states.to_pylist()]
