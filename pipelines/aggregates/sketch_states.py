"""The kinds of sketches: how each is made of values, read, written and combined. `size` is the library's k or lg_k."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from pipelines.aggregates.objects import Objects
from pipelines.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class SketchState:
    """A kind of sketch.

    Attributes:
        name: of the kind.
        items: the lifted values, flat, as something that can be sliced and put into a sketch.
        made: (size, some of these items) -> sketch.
        read, write: from bytes and to bytes.
        union: (size, sketch, sketch) -> sketch.
        show: what two equal sketches have in common.
    """

    name: str
    items: Callable[[pa.Array], Any]
    made: Callable[[int, Any], Any]
    read: Callable[[bytes], Any]
    write: Callable[[Any], bytes]
    union: Callable[[int, Any, Any], Any]
    show: Callable[[Any], Any]

    def monoid(self, size: int) -> Objects:
        return Objects(self.name, self.read, self.write, partial(self.union, size), partial(self.made, size, ()), show=self.show)

    def seal(self, size: int) -> Callable[[pa.Array], pa.Array]:
        """Lists of values to sketches."""

        def sketches(lists: pa.Array) -> pa.Array:
            import numpy as np
            import pyarrow as pa

            from pipelines.engine.lists import lengths_of

            bounds, items = np.append(0, np.cumsum(lengths_of(lists))).tolist(), self.items(lists.flatten())
            parts = (items[start:stop] for start, stop in pairwise(bounds))
            return pa.array([self.write(self.made(size, part)) for part in parts], pa.binary())

        return sketches


def _hashed(values: pa.Array) -> list[Any]:
    """Values as the library hashes them: whole numbers, floats, texts; moments and dates as numbers of their unit.

    The library passes over empty texts, which are values too: they go in as a zero byte.

    Raises:
        SourceError: values that have no such form.
    """
    import pyarrow as pa

    kind = values.type
    if pa.types.is_nested(kind):
        raise SourceError(f'values of type {kind} do not go into a sketch; ask for a text of them, as "x::VARCHAR"')
    if pa.types.is_temporal(kind):
        values = values.cast(pa.int32() if kind.bit_width == 32 else pa.int64())  # noqa: PLR2004 - dates are 32 bits wide
    elif pa.types.is_boolean(kind):
        values = values.cast(pa.int8())
    elif pa.types.is_decimal(kind):
        values = values.cast(pa.string())
    found: list[Any] = values.to_pylist()
    if pa.types.is_binary(kind):
        found = [value.hex() for value in found]
    return [value if value != "" else "\x00" for value in found]


def _hll(size: int, values: Sequence[Any]) -> Any:  # noqa: ANN401 - the library's classes
    from datasketches import HLL_4, hll_sketch

    sketch = hll_sketch(size, HLL_4)
    for value in values:
        sketch.update(value)
    return _hll_union(size, sketch, sketch)


def _hll_union(size: int, one: Any, other: Any) -> Any:  # noqa: ANN401 - the library's classes
    """A union's estimate goes by its registers alone: that of one sketch would go by the order of its values too."""
    from datasketches import HLL_4, hll_union

    union = hll_union(size)
    union.update(one)
    union.update(other)
    return union.get_result(HLL_4)


def _read_hll(state: bytes) -> Any:  # noqa: ANN401 - the library's classes
    from datasketches import hll_sketch

    return hll_sketch.deserialize(state)


def _theta(size: int, values: Sequence[Any]) -> Any:  # noqa: ANN401 - the library's classes
    from datasketches import update_theta_sketch

    sketch = update_theta_sketch(size)
    for value in values:
        sketch.update(value)
    sketch.trim()
    return sketch.compact()


def _theta_union(size: int, one: Any, other: Any) -> Any:  # noqa: ANN401 - the library's classes
    from datasketches import theta_union

    union = theta_union(size)
    union.update(one)
    union.update(other)
    return union.get_result()


def _read_theta(state: bytes) -> Any:  # noqa: ANN401 - the library's classes
    from datasketches import compact_theta_sketch

    return compact_theta_sketch.deserialize(state)


def _digest(size: int, values: Any) -> Any:  # noqa: ANN401 - the library's classes
    from datasketches import tdigest_double

    digest = tdigest_double(size)
    if len(values):
        digest.update(values)
    return digest


def _read_digest(state: bytes) -> Any:  # noqa: ANN401 - the library's classes
    from datasketches import tdigest_double

    return tdigest_double.deserialize(state)


def merged(_size: int, one: Any, other: Any) -> Any:  # noqa: ANN401 - the library's classes
    """The first sketch with the second in it."""
    one.merge(other)
    return one


def _five(digest: Any) -> list[float]:  # noqa: ANN401 - the library's classes
    places = () if digest.is_empty() else (0, 0.25, 0.5, 0.75, 1)
    return [float(digest.get_total_weight()), *map(digest.get_quantile, places)]


def written(sketch: Any) -> bytes:  # noqa: ANN401 - the library's classes
    """The sketch as any DataSketches library reads it."""
    found: bytes = sketch.serialize()
    return found


def _compact_bytes(sketch: Any) -> bytes:  # noqa: ANN401 - the library's classes
    found: bytes = sketch.serialize_compact()
    return found


def _estimate(sketch: Any) -> float:  # noqa: ANN401 - the library's classes
    return float(sketch.get_estimate())


def _doubles(values: pa.Array) -> Any:  # noqa: ANN401 - numpy's array
    """Numbers, zeros without a sign, that may be written: the library refuses others."""
    return values.to_numpy(zero_copy_only=False) + 0.0


HLL = SketchState("hll", _hashed, _hll, _read_hll, _compact_bytes, _hll_union, _estimate)
THETA = SketchState("theta", _hashed, _theta, _read_theta, written, _theta_union, sorted)
TDIGEST = SketchState("tdigest", _doubles, _digest, _read_digest, written, merged, _five)
