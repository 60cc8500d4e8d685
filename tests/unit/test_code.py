"""A changed function begins a new state folder, or new results; an unchanged one begins nothing."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from types import CodeType, FunctionType
from typing import Any

import pyarrow as pa
import pytest

from muntin import Pipeline, sources, windows
from muntin import aggregates as agg
from muntin.aggregates.aggregate import Aggregate, Field
from muntin.aggregates.algebra import Fold
from muntin.definition.function_marks import mark
from muntin.jobs.state.fingerprint import derivation, fingerprint
from muntin.laws.states import combined, finished, lifted


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


def above(limit: int, state: int, value: int) -> int:
    return state + (value > limit)


class Limit:
    def __init__(self, limit: int) -> None:
        self.limit = limit

    def counted(self, state: int, value: int) -> int:
        return above(self.limit, state, value)


def keyword(limit: int) -> Callable[..., int]:
    def counted(state: int, value: int, *, limit: int = limit) -> int:
        return above(limit, state, value)

    return counted


def listed(limits: list[int]) -> Callable[..., int]:
    return lambda state, value: above(limits[0], state, value)


@pytest.mark.parametrize("make", [lambda n: partial(above, n), lambda n: Limit(n).counted, keyword, lambda n: listed([n])])
def test_what_functions_hold_on_to_tells_states_apart(make: Callable[[int], Any]) -> None:
    low, high = (
        agg.own("above", "x", create=int, accumulate=make(limit), combine=lambda one, other: one + other, finish=float)
        for limit in (1, 100)
    )
    assert mark(make(1)) == mark(make(1))
    assert low.fields[0].stem != high.fields[0].stem


def test_a_function_that_calls_itself_has_a_mark() -> None:
    def deep(n: int, value: int) -> int:
        return n if value < 0 else deep(n + 1, value - 1)

    assert mark(deep) == mark(deep)


def test_marks_take_modules_builtins_and_loggers_by_name() -> None:
    import logging

    log = logging.getLogger("code")

    def told(value: int) -> str:
        log.info("%s", value)
        return json.dumps(value)

    before = mark(told)
    logging.getLogger("code.another")  # what else the process does is nobody's business
    assert mark(told) == before
    assert mark(str.__add__) == mark(str.__add__) != mark(str.__mul__)
    joined = agg.own("joined", "x", create=str, accumulate=str.__add__, combine=str.__add__, finish=len)
    assert fingerprint(pipeline(joined))


def test_a_mark_may_be_taken_before_all_is_there() -> None:
    def calling(x: int) -> int:
        return later(x)

    early = mark(calling)

    def later(x: int) -> int:
        return x

    assert early != mark(calling)


def test_functions_of_ones_own_aggregates_count() -> None:
    one, other = (replace(agg.sum("x"), finish=lambda n, total, k=k: total if k else n) for k in (0, 1))
    assert derivation(pipeline(one), "hour") != derivation(pipeline(other), "hour")
    variance = agg.variance("x")
    sealed = replace(variance, fields=(replace(variance.fields[0], seal=lambda values: [values] * 4),))
    assert fingerprint(pipeline(variance)) != fingerprint(pipeline(sealed))


def ours(made: FunctionType, code: CodeType, module: str) -> FunctionType:
    """A function of Muntin as another version or another Python has it."""
    other = FunctionType(code, made.__globals__, made.__name__, made.__defaults__, made.__closure__)
    other.__qualname__, other.__module__ = made.__qualname__, module
    return other


def test_functions_of_muntin_count_by_name_in_results() -> None:
    mean = agg.mean("x")
    moved = replace(mean, finish=ours(mean.finish, (lambda n, total: n + total).__code__, "muntin.elsewhere"))
    foreign = replace(mean, finish=ours(mean.finish, (lambda n, total: n + total).__code__, "elsewhere"))
    renamed = replace(mean, finish=agg.sum("x").finish)
    plain, *others = (derivation(pipeline(each), "hour") for each in (mean, moved, foreign, renamed))
    assert [plain == each for each in others] == [True, False, False]
    grouped, inside = (derivation(pipeline(agg.by("y", each)), "hour") for each in (mean, moved))
    assert grouped == inside


def test_functions_of_muntin_count_by_code_where_code_is_kept() -> None:
    """Compiled folds lie on disk under their mark."""
    mean = agg.mean("x").finish
    assert mark(mean) != mark(ours(mean, (lambda n, total: n + total).__code__, mean.__module__))
    assert mark(agg.skewness("x").fields[0].monoid.combine) != mark(agg.covariance("x", "y").fields[0].monoid.combine)


def test_what_functions_of_muntin_hold_counts_beside_their_name() -> None:
    assert mark(agg.percentile("x", 0.5).finish, ours_by_name=True) == mark(agg.percentile("y", 0.5).finish, ours_by_name=True)
    assert mark(agg.percentile("x", 0.5).finish, ours_by_name=True) != mark(agg.percentile("x", 0.6).finish, ours_by_name=True)
    low, high = (agg.by("y", own(scale=scale)).finish for scale in (1, 2))
    assert mark(low, ours_by_name=True) != mark(high, ours_by_name=True)


def capped(limit: float) -> Aggregate:
    def least(x: Any, i: int, y: Any, j: int, out: Any, k: int) -> None:
        out[k, 0] = min(limit, x[i, 0] + y[j, 0])

    lift = (("", "coalesce(sum(x), 0)::DOUBLE"),)
    return Aggregate("capped", "x", (Field(f"capped{limit:.0f}", "x", lift, Fold("capped", least)),), lambda found: found)


@pytest.mark.parametrize(("limit", "wanted"), [(5.0, 5.0), (100.0, 12.0)])
def test_compiled_folds_know_what_they_close_over(limit: float, wanted: float) -> None:
    states = [lifted(capped(limit), [[{"x": 4.0, "time": at}]], {"x": pa.float64()}) for at in range(3)]
    assert finished(capped(limit), combined(capped(limit), *states)).to_pylist() == [wanted]
