"""Aggregates that cannot be are refused when they are built, with what is possible."""

from typing import Any

import pyarrow as pa
import pytest

from muntin import aggregates as agg
from muntin.errors import DefinitionError
from tests.properties.laws.states import finish, lift

WRONG: dict[str, tuple[Any, str]] = {
    "limit 0": (lambda: agg.collect("x", 0), "whole number from 1"),
    "distinct rows": (lambda: agg.count(distinct=True), "say what differs"),
    "limit True": (lambda: agg.collect("x", True), "whole number from 1"),
    "limit 2.5": (lambda: agg.collect("x", 2.5), "whole number from 1"),
    "no expression": (lambda: agg.collect(""), "not a SQL expression"),
    "by no expression": (lambda: agg.collect_sorted("x", by=" "), "not a SQL expression"),
    "separator": (lambda: agg.concat("x", 3), "not a text"),
    "best 0": (lambda: agg.max_by("x", "y", n=0), r"max_by: 0 is not possible"),
    "no step": (lambda: agg.funnel(within="1h"), "0 conditions are not possible"),
    "one condition": (lambda: agg.retention("x > 1"), "give 2 to 32"),
    "back in time": (lambda: agg.funnel("x > 1", within=-1), "must not be negative"),
    "no period": (lambda: agg.active_periods(0), "longer than 0"),
    "quantile": (lambda: agg.percentile("x", 1.5), "from 0 to 1"),
    "percent": (lambda: agg.percentile("x", 90), "from 0 to 1"),
    "quantile NaN": (lambda: agg.percentile("x", float("nan")), "from 0 to 1"),
    "quantile text": (lambda: agg.percentile("x", "0.5"), "from 0 to 1"),
    "falling edges": (lambda: agg.histogram("x", [0, 20, 10]), "ascend"),
    "equal edges": (lambda: agg.histogram("x", [0, 0]), "ascend"),
    "one edge": (lambda: agg.histogram("x", [0]), "at least two"),
    "NaN edge": (lambda: agg.histogram("x", [0, float("nan")]), "ascend"),
    "no edges": (lambda: agg.histogram("x", 10), "at least two"),
    "size": (lambda: agg.approx_count_distinct("x", 3), "from 7 to 21"),
    "no quantiles": (lambda: agg.approx_quantiles("x", []), "not a list of quantiles"),
    "one quantile": (lambda: agg.approx_quantiles("x", 0.5), "not a list of quantiles"),
    "wrong quantiles": (lambda: agg.approx_quantiles("x", [0.5, 99]), "from 0 to 1"),
    "top 0": (lambda: agg.approx_top_k("x", 0), "from 1 to"),
    "theta size": (lambda: agg.theta("x", 40), "from 5 to 26"),
    "by what": (lambda: agg.by("x", "mean"), "not an aggregate"),
    "elementwise what": (lambda: agg.elementwise("xs", "mean"), "not an aggregate"),
    "elementwise of no columns": (lambda: agg.elementwise([], agg.count()), "no list columns"),
    "elementwise of an expression": (lambda: agg.elementwise("[x, y]", agg.count()), "not the name of a list column"),
    "apply what": (lambda: agg.apply("mean", "x"), "give a function"),
    "apply to what": (lambda: agg.apply(len), "no columns"),
    "own name": (lambda: agg.own("my own", "x", create=int, accumulate=max, combine=max, finish=float), "cannot name a column"),
    "own function": (lambda: agg.own("own", "x", create=int, accumulate=max, combine=None, finish=float), "combine is None"),
    "own type": (lambda: agg.own("own", "x", create=int, accumulate=max, combine=max, finish=float, returns=float), "cannot be stored"),
    "unsigned type": (lambda: agg.apply(len, "x", returns=pa.list_(pa.uint8())), "cannot be stored"),
    "comment": (lambda: agg.max("x /* net :) */"), "comment"),
    "comment behind": (lambda: agg.count(where="x > 0 -- all"), "comment"),
    "distinct": (lambda: agg.sum("DISTINCT x"), "distinct=True"),
    "two expressions": (lambda: agg.min("x, 2"), "not one expression"),
    "open bracket": (lambda: agg.min("(x"), "bracket stays open"),
    "closed bracket": (lambda: agg.count("x) + (y"), "not one expression"),
    "our names": (lambda: agg.max("muntin_time"), "Muntin's own"),
    "duration": (lambda: agg.apply(len, "x", returns=pa.duration("us")), "cannot be stored"),
    "time": (lambda: agg.apply(len, "x", returns=pa.struct([("at", pa.time64("us"))])), "cannot be stored"),
    "own deduct": (lambda: agg.own("own", "x", create=int, accumulate=max, combine=max, finish=float, deduct=1), "deduct is 1"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_use_is_refused_when_built(name: str) -> None:
    build, said = WRONG[name]
    with pytest.raises(DefinitionError, match=said):
        build()


def test_types_that_only_sound_wrong_are_taken() -> None:
    agg.apply(len, "x", returns=pa.struct([("large_orders", pa.int64()), ("uint", pa.map_(pa.string(), pa.decimal128(38, 2)))]))


def test_results_of_another_type_are_refused_in_words() -> None:
    texts = agg.apply(lambda xs: str(len(xs)), "x")
    with pytest.raises(DefinitionError, match=r"apply: a result does not fit double.*returns="):
        finish(texts, lift(texts, [{"x": 1, "time": 0}], {"x": pa.int64()}))
