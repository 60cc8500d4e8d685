"""A changed function begins a new state folder, or new results; an unchanged one begins nothing."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest

from pipelines import Pipeline, sources, windows
from pipelines import aggregates as agg
from pipelines.aggregates import Aggregate
from pipelines.aggregates.code import mark
from pipelines.definition.frame_sets import derivation, fingerprint


def pipeline(aggregate: Aggregate) -> Pipeline:
    return Pipeline(
        name="code",
        source=sources.files("{start}.parquet", event_time="t"),
        schedule="1h",
        start=datetime(2024, 1, 1, tzinfo=UTC),
        windows={"hour": windows.tumbling("1h")},
        aggregates={"it": aggregate},
    )


def own(step: int = 1, scale: int = 1) -> Aggregate:
    return agg.own(
        "steps",
        "x",
        create=int,
        accumulate=lambda state, _value: state + step,
        combine=lambda one, other: one + other,
        finish=lambda state: state * scale,
    )


def test_a_changed_accumulate_changes_the_states() -> None:
    assert fingerprint(pipeline(own())) == fingerprint(pipeline(own()))
    assert fingerprint(pipeline(own(step=1))) != fingerprint(pipeline(own(step=2)))


def test_a_changed_finish_changes_the_results_alone() -> None:
    assert fingerprint(pipeline(own(scale=1))) == fingerprint(pipeline(own(scale=2)))
    assert derivation(pipeline(own(scale=1)), "hour") != derivation(pipeline(own(scale=2)), "hour")


def test_another_version_of_a_field_changes_the_states() -> None:
    one = agg.variance("x")
    other = replace(one, fields=tuple(replace(field, version=2) for field in one.fields))
    for first, second in ((one, other), (agg.by("y", one), agg.by("y", other))):
        assert fingerprint(pipeline(first)) != fingerprint(pipeline(second))


PAIRS: dict[str, tuple[Aggregate, Aggregate]] = {
    "apply": (agg.apply(lambda xs: xs[0] + 1, "x"), agg.apply(lambda xs: xs[0] + 2, "x")),
    "apply, type": (agg.apply(len, "x"), agg.apply(len, "x", returns=pa.int64())),
    "percentile": (agg.percentile("x", 0.5), agg.percentile("x", 0.6)),
    "top": (agg.approx_top_k("x", 3), agg.approx_top_k("x", 4)),
    "separator": (agg.concat("x", ","), agg.concat("x", ";")),
    "distinct": (agg.collect("x"), agg.collect("x", distinct=True)),
    "quantiles": (agg.approx_quantiles("x", [0.5]), agg.approx_quantiles("x", [0.9])),
    "by": (agg.by("x", agg.mean("y")), agg.by("x", agg.sum("y"))),
}


@pytest.mark.parametrize("name", PAIRS)
def test_every_argument_tells_results_apart(name: str) -> None:
    one, other = PAIRS[name]
    assert derivation(pipeline(one), "hour") != derivation(pipeline(other), "hour")


def test_aggregates_of_one_field_share_it_and_others_do_not() -> None:
    shared = [agg.mode("x"), agg.count_by("x"), agg.collect_distinct("x"), agg.count_distinct("x")]
    apart = [agg.collect("x"), agg.collect("x", 3), agg.collect_sorted("x"), agg.collect_sorted("x", descending=True)]
    assert len({aggregate.fields[0].stem for aggregate in shared}) == 1
    assert len({aggregate.fields[0].stem for aggregate in apart}) == len(apart)


def made(factor: Any) -> Callable[[int], int]:
    return lambda x: x * factor


def test_marks_know_enclosed_values_and_inner_functions() -> None:
    assert mark(made(2)) == mark(made(2)) != mark(made(3))
    assert mark(made(len)) == mark(made(len)) != mark(made(abs))
    assert mark(lambda x: [y + 1 for y in x]) != mark(lambda x: [y + 2 for y in x])
    assert mark(None) == mark(None) != mark(int)
