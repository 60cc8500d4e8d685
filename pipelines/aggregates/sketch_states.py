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


def _merged(_size: int, one: Any, other: Any) -> Any:  # noqa: ANN401 - the library's classes
    one.merge(other)
    return one


def _frequencies(size: int, counts: Sequence[Any]) -> Any:  # noqa: ANN401 - the library's classes
    from datasketches import frequent_strings_sketch

    sketch = frequent_strings_sketch(size)
    for text, count in counts:
        sketch.update(text, count)
    return sketch


def _read_frequencies(state: bytes) -> Any:  # noqa: ANN401 - the library's classes
    from datasketches import frequent_strings_sketch

    return frequent_strings_sketch.deserialize(state)


def top(sketch: Any, k: int | None = None) -> list[tuple[str, int, int]]:  # noqa: ANN401 - the library's classes
    """(value, count at most, count at most minus count at least), most frequent first."""
    from datasketches import NO_FALSE_NEGATIVES

    found = [(value, upper, upper - lower) for value, _, lower, upper in sketch.get_frequent_items(NO_FALSE_NEGATIVES)]
    return sorted(found, key=lambda each: (-each[1], each[0]))[:k]


def _five(digest: Any) -> list[float]:  # noqa: ANN401 - the library's classes
    places = () if digest.is_empty() else (0, 0.25, 0.5, 0.75, 1)
    return [float(digest.get_total_weight()), *map(digest.get_quantile, places)]


def _bytes(sketch: Any) -> bytes:  # noqa: ANN401 - the library's classes
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


def _pairs(values: pa.Array) -> list[Any]:
    """(text, count) of structs of a value and its count."""
    from pipelines.engine.lists import settled

    keys, counts = values.flatten()
    return list(zip(texts(settled(keys)), counts.to_pylist(), strict=True))


def texts(values: pa.Array) -> list[str]:
    """Values as texts that `values_of` reads again; bytes in hexadecimal.

    Raises:
        SourceError: values that cannot be text.
    """
    import pyarrow as pa

    if pa.types.is_nested(values.type):
        raise SourceError(f'values of type {values.type} do not go into a sketch; ask for a text of them, as "x::VARCHAR"')
    if pa.types.is_binary(values.type):
        return [value.hex() for value in values.to_pylist()]
    found: list[str] = values.cast(pa.string()).to_pylist()
    return found


def values_of(found: Sequence[str], kind: pa.DataType) -> pa.Array:
    """Values of this type again."""
    import pyarrow as pa

    if pa.types.is_binary(kind):
        return pa.array([bytes.fromhex(text) for text in found], kind)
    return pa.array(found, pa.string()).cast(kind)


HLL = SketchState("hll", _hashed, _hll, _read_hll, _compact_bytes, _hll_union, _estimate)
THETA = SketchState("theta", _hashed, _theta, _read_theta, _bytes, _theta_union, sorted)
TDIGEST = SketchState("tdigest", _doubles, _digest, _read_digest, _bytes, _merged, _five)
FREQUENT = SketchState("frequent", _pairs, _frequencies, _read_frequencies, _bytes, _merged, top)
