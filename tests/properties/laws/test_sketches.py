"""Sketches keep within the bounds that the library gives, whatever states they were made of, and are bytes it reads."""

import subprocess
import sys
from typing import Any

import datasketches
import numpy as np
import pyarrow as pa
import pytest

from muntin import aggregates as agg
from muntin.aggregates import theta_sets
from muntin.aggregates.aggregate import Aggregate
from muntin.laws.states import combined, finished, lifted

RANDOM = np.random.default_rng(7)
MANY = RANDOM.permutation(np.arange(30_000) % 20_000)


def states(aggregate: Aggregate, values: Any, parts: int) -> list[pa.Table]:
    """As if the values had come in so many batches."""
    kind = pa.array(values[:1]).type
    rows = [[{"x": value, "time": at} for at, value in enumerate(part.tolist())] for part in np.array_split(values, parts)]
    return [lifted(aggregate, [each], {"x": kind}) for each in rows]


def result(aggregate: Aggregate, values: Any, parts: int = 4) -> Any:
    return finished(aggregate, combined(aggregate, *states(aggregate, values, parts), mid=parts // 2)).to_pylist()[0]


@pytest.mark.parametrize("parts", [1, 2, 7])
def test_distinct_values_within_three_deviations(parts: int) -> None:
    assert result(agg.approx_count_distinct("x", 14), MANY, parts) == pytest.approx(20_000, rel=3 * 1.04 / 2**7)


def test_states_overlap_and_count_once() -> None:
    assert result(agg.approx_count_distinct("x"), np.append(MANY, MANY)) == result(agg.approx_count_distinct("x"), MANY)


@pytest.mark.parametrize("parts", [1, 5])
@pytest.mark.parametrize(
    "values", [RANDOM.lognormal(0, 2, 20_000), RANDOM.integers(0, 50, 20_000).astype(float)], ids=["long tail", "ties"]
)
def test_quantiles_within_one_percent_of_rank(values: Any, parts: int) -> None:
    asked = [0, 0.01, 0.25, 0.5, 0.75, 0.99, 1]
    found = result(agg.approx_quantiles("x", asked), values, parts)
    for q, value in zip(asked, found, strict=True):
        width = 1.5 if len(set(values)) < 100 else 0
        low, high = (values < value - width).mean(), (values <= value + width).mean()
        assert low - 0.01 <= q <= high + 0.01
    assert (found[0], found[-1]) == (values.min(), values.max())


def test_frequent_values_within_their_own_error() -> None:
    values = RANDOM.zipf(1.2, 30_000)
    values = values[values < 10**6]
    kinds, counts = np.unique(values, return_counts=True)
    true = dict(zip(kinds.tolist(), counts.tolist(), strict=True))
    found = result(agg.approx_top_k("x", 5), values)
    assert [each["value"] for each in found[:3]] == kinds[np.argsort(-counts, kind="stable")][:3].tolist()
    assert all(each["count"] - each["error"] <= true[each["value"]] <= each["count"] for each in found)


def test_theta_sets() -> None:
    monday, tuesday = result(agg.theta("x"), np.arange(6_000)), result(agg.theta("x"), np.arange(4_000, 9_000))
    counts = {"union": 9_000, "intersection": 2_000, "difference": 4_000}
    for name, true in counts.items():
        low, high = theta_sets.bounds(getattr(theta_sets, name)(monday, tuesday), 3)
        assert low <= true <= high
    assert theta_sets.estimate(result(agg.theta("x"), np.arange(100))) == 100


def test_the_library_reads_the_states() -> None:
    kinds, few = {"x": pa.int64()}, [{"x": n % 3, "time": n} for n in range(9)]
    readers: list[tuple[Aggregate, Any, Any]] = [
        (agg.approx_count_distinct("x"), datasketches.hll_sketch.deserialize, lambda sketch: round(sketch.get_estimate())),
        (agg.theta("x"), datasketches.compact_theta_sketch.deserialize, lambda sketch: sketch.get_estimate()),
        (agg.approx_top_k("x"), datasketches.frequent_strings_sketch.deserialize, lambda sketch: sketch.get_estimate("2")),
        (agg.approx_quantiles("x", [1]), datasketches.tdigest_double.deserialize, lambda digest: digest.get_max_value() + 1),
    ]
    for aggregate, read, shown in readers:
        assert shown(read(lifted(aggregate, [few], kinds)[0][0].as_py())) == 3


def test_an_empty_text_is_a_value() -> None:
    assert result(agg.approx_count_distinct("x"), np.array(["", "a", ""]), 1) == 2


HASHES = """
import hashlib, numpy as np
from tests.properties.laws.test_sketches import STATES, MANY, states
print(hashlib.sha256(b"".join(states(each, MANY, 1)[0][0][0].as_py() for each in STATES)).hexdigest())
"""
STATES = [agg.approx_count_distinct("x"), agg.approx_quantiles("x", [0.5]), agg.approx_top_k("x"), agg.theta("x")]


def test_states_are_the_same_in_every_process() -> None:
    said = {subprocess.run([sys.executable, "-c", HASHES], check=True, capture_output=True).stdout for _ in range(2)}
    assert len(said) == 1


def test_states_do_not_depend_on_the_order_of_rows() -> None:
    for each in STATES:
        assert states(each, MANY, 1)[0].equals(states(each, MANY[::-1], 1)[0])
