"""The table of aggregates: how each is called, with which types, its oracle, and how exact it is.

The first row of an aggregate is its example on the page `docs/aggregates.md`; further rows are other ways to call it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from muntin import aggregates as agg
from muntin.aggregates.aggregate import Aggregate
from muntin.testing.oracle import DAY, Agg
from muntin.testing.oracle.time import Row as SourceRow
from tests.catalogue import accuracy, functions
from tests.catalogue.accuracy import EXACT, MOMENTS, NINE_DIGITS, ROUNDED, Accuracy
from tests.catalogue.columns import FLOATS, NUMBERS, ORDERED, TEXTS
from tests.oracle import catalogue as by
from tests.oracle import keeping as keep
from tests.oracle import lasting
from tests.oracle.catalogue import column
from tests.oracle.narrowed import above, each_once, finite, greater, grouped, how_many, of_columns, only, parity, placewise, size, whether

N, X, S, D, L, M = map(column, "nxsdlm")
Oracle = Callable[[Sequence[SourceRow]], Any] | lasting.Oracle

NO_STATES = {"merge"}
"""It has no states of its own: it takes those of the upstream."""


@dataclass(frozen=True)
class Row:
    """One way to call an aggregate.

    Attributes:
        call: as a user writes it, over the columns of `COLUMNS`.
        oracle: from the rows of a window, in the order of event time, then arrival, to the result; of a rate to the sum.
        of: the columns of the call that laws fill with values of other types.
        types: those types; the first is the type with which the laws of `where` are tried.
        right: how exact the result is.
    """

    call: str
    oracle: Oracle | None
    of: str
    types: tuple[str, ...]
    right: Accuracy = EXACT

    @property
    def name(self) -> str:
        """Of the function."""
        return self.call.partition("(")[0]

    def made(self, **more: Any) -> Aggregate:
        """The aggregate; `more` arguments as `where=`."""
        names = vars(functions) | {name: getattr(agg, name) for name in agg.__all__}
        return eval(self.call, names | {self.name: partial(names[self.name], **more)})  # noqa: S307 - our own table


ROWS = (
    Row("count()", len, "", ("text",)),
    Row('count("x")', Agg("count", X), "x", ORDERED),
    Row('count("s", distinct=True)', how_many(S), "s", ("absurd", "text")),
    Row('count_if("n > 3")', Agg("count_if", above(N, 3)), "n", ("int", "absurd", "decimal")),
    Row('min_count("n")', partial(by.extreme_count, of=N, pick=min), "n", ORDERED),
    Row('max_count("x")', partial(by.extreme_count, of=X, pick=max), "x", ORDERED),
    Row('sum("n")', Agg("sum", N), "n", NUMBERS),
    Row("sum(\"n\", where=\"s = 'p'\")", only(lambda row: row["s"] == "p", Agg("sum", N)), "n", ("int",)),
    Row('sum("n", distinct=True)', each_once(N, Agg("sum", N)), "n", NUMBERS),
    Row('mean("n")', Agg("mean", N), "n", NUMBERS),
    Row('mean("x", distinct=True)', each_once(X, Agg("mean", X)), "x", ("int", "float", "absurd")),
    Row('weighted_mean("x", "n")', partial(by.weighted_mean, x=X, w=N), "xn", ("absurd", "price"), ROUNDED),
    Row('weighted_mean("x", "abs(n)")', partial(by.weighted_mean, x=X, w=size(N)), "xn", ("price",), ROUNDED),
    Row("rate()", len, "", ("int",)),
    Row('rate("n")', Agg("sum", N), "n", NUMBERS),
    Row('product("n")', partial(by.product, of=N), "n", ("float", "absurd"), ROUNDED),
    Row('geometric_mean("x")', partial(by.geometric_mean, of=X), "x", ("float", "absurd"), ROUNDED),
    Row('harmonic_mean("abs(n)")', partial(by.harmonic_mean, of=size(N)), "n", ("float",), ROUNDED),
    Row('geometric_mean("abs(n)")', partial(by.geometric_mean, of=size(N)), "n", ("float",), ROUNDED),
    Row('min("n")', Agg("min", N), "n", ORDERED),
    Row('max("s")', Agg("max", S), "s", ORDERED),
    Row('range("n")', partial(by.spread, of=N), "n", (*NUMBERS, "moment")),
    Row('max("x", n=3)', partial(by.greatest, of=X, n=3), "x", ORDERED),
    Row('min("s", n=2)', partial(by.least, of=S, n=2), "s", ORDERED),
    Row('min_by("s", "n")', partial(by.best, value=S, order=N, sign=-1), "ns", ORDERED),
    Row('max_by("n", "x")', partial(by.best, value=N, order=X, sign=1), "xn", ORDERED),
    Row('min_by("s", "n", n=2)', partial(by.best_ones, value=S, order=N, sign=-1, n=2), "ns", ORDERED),
    Row('max_by("n", "x", n=3)', partial(by.best_ones, value=N, order=X, sign=1, n=3), "xn", ORDERED),
    Row('min_by("s", "n", ties=True)', partial(by.all_best, value=S, order=N, sign=-1), "ns", ORDERED),
    Row('max_by("n", "s", ties=True)', partial(by.all_best, value=N, order=S, sign=1), "sn", ORDERED),
    Row('first("n")', Agg("first", N), "n", ORDERED),
    Row('first("x", where="n > 2")', only(above(N, 2), Agg("first", X)), "x", ("float",)),
    Row('first("n", ignore_nulls=True)', lambda rows: next(iter(by.values(rows, N)), None), "n", ORDERED),
    Row('last("s")', Agg("last", S), "s", ORDERED),
    Row('last("x", ignore_nulls=True)', lambda rows: next(reversed(by.values(rows, X)), None), "x", ORDERED),
    Row('first("x", n=3)', lambda rows: [row["x"] for row in rows[:3]] or None, "x", ORDERED),
    Row('last("s", n=2)', lambda rows: [row["s"] for row in rows[-2:]] or None, "s", ORDERED),
    Row('any_value("n")', lambda rows: next(iter(by.values(rows, N)), None), "n", ORDERED),
    Row('candlestick("x", "n")', partial(by.candlestick, price=X, volume=N), "xn", ("float", "price"), ROUNDED),
    Row('candlestick("x", "abs(n)")', partial(by.candlestick, price=X, volume=size(N)), "xn", ("float",), ROUNDED),
    Row('all_of("n > 0")', whether(all, above(N, 0)), "n", ("int", "absurd")),
    Row('all_of("n > d")', whether(all, greater(N, D)), "nd", ("int", "absurd", "text")),
    Row('any_of("n > 6")', whether(any, above(N, 6)), "n", ("int", "absurd")),
    Row('any_of("n > d")', whether(any, greater(N, D)), "nd", ("int", "absurd", "text")),
    Row('variance("x")', Agg("variance", X), "x", FLOATS, MOMENTS),
    Row('variance("n", population=True)', Agg("variance", N, population=True), "n", ("offset",), MOMENTS),
    Row('stddev("x")', Agg("stddev", X), "x", FLOATS, MOMENTS),
    Row('stddev("x", population=True)', Agg("stddev", X, population=True), "x", FLOATS, MOMENTS),
    Row('skewness("n")', partial(by.skewness, of=N), "n", ("offset", "absurd"), NINE_DIGITS),
    Row('kurtosis("n")', partial(by.kurtosis, of=N), "n", ("float",), NINE_DIGITS),
    Row('covariance("x", "n")', partial(by.covariance, x=X, y=N), "xn", ("offset", "absurd"), NINE_DIGITS),
    Row('correlation("x", "n")', partial(by.correlation, x=X, y=N), "xn", ("absurd",), NINE_DIGITS),
    Row('linear_trend("n", "x")', partial(by.linear_trend, x=N, y=X), "nx", ("float",), NINE_DIGITS),
    Row('time_weighted_mean("x")', partial(by.time_weighted_mean, of=X), "x", NUMBERS, ROUNDED),
    Row('time_weighted_mean("n", "linear")', partial(by.time_weighted_mean, of=N, linear=True), "n", ("int",), ROUNDED),
    Row('integral("x")', partial(by.integral, of=X), "x", NUMBERS, ROUNDED),
    Row('integral("n", "linear")', partial(by.integral, of=N, linear=True), "n", ("int",), ROUNDED),
    Row('counter_increase("n")', partial(by.counter_increase, of=N), "n", NUMBERS, ROUNDED),
    Row('counter_rate("n")', partial(by.counter_rate, of=N), "n", NUMBERS, ROUNDED),
    Row('time_in_state("s")', partial(by.time_in_state, of=S), "s", ORDERED),
    Row("longest_silence()", by.longest_silence, "", ("int",)),
    Row(
        'funnel("n > 2", "x > 0", "n < 7", within="3us")',
        partial(by.funnel, steps=(above(N, 2), above(X, 0), greater(lambda _: 7, N)), within=3), "nx", ("int", "absurd"),
    ),
    Row('funnel("n > 0", "x > 0", within=0)', partial(by.funnel, steps=(above(N, 0), above(X, 0)), within=0), "nx", ("int",)),
    Row('retention("n > 2", "x > 0", "n < 7")', by.retention(above(N, 2), above(X, 0), greater(lambda _: 7, N)), "nx", ("int", "absurd")),
    Row('active_periods("2us")', partial(by.active_periods, us=2), "", ("int",)),
    Row('collect("n")', keep.collect("n"), "n", ORDERED),
    Row('collect("x", 3)', keep.collect("x", 3), "x", ("int", "text")),
    Row('collect("s", 2, distinct=True)', each_once(S, keep.collect("s", 2)), "s", ("absurd", "text")),
    Row('collect_sorted("n", by="x")', keep.sorted_by("n", "x"), "n", ("int", "text")),
    Row('collect_sorted("x", descending=True)', keep.sorted_by("x", "x", descending=True), "x", ORDERED),
    Row('collect_distinct("x")', keep.distinct("x"), "x", ORDERED),
    Row('concat("s", ", ")', keep.concat("s", ", "), "s", TEXTS),
    Row('concat("s", "|", distinct=True)', each_once(S, keep.concat("s", "|")), "s", ("text",)),
    Row('to_map("s", "n")', keep.to_map("s", "n"), "s", ORDERED),
    Row('count_distinct("x")', how_many(X), "x", ORDERED),
    Row('count_by("s")', keep.count_by("s"), "s", ORDERED),
    Row('entropy("n")', partial(by.entropy, of=N), "n", ORDERED, ROUNDED),
    Row('mode("s")', keep.mode("s"), "s", ORDERED),
    Row('median("x")', keep.percentile("x", 0.5), "x", NUMBERS),
    Row('percentile("x", 0.9)', keep.percentile("x", 0.9), "x", NUMBERS),
    Row('histogram("x", [0, 5, 10])', keep.histogram("x", [0, 5, 10]), "x", NUMBERS),
    Row('histogram("n", [-1, 0, 1, 100.5])', keep.histogram("n", [-1, 0, 1, 100.5]), "n", NUMBERS),
    Row('approx_count_distinct("n")', how_many(N), "n", ORDERED, accuracy.HYPERLOGLOG),
    Row('approx_quantiles("x", [0.5, 0.99])', finite(X), "x", NUMBERS, accuracy.t_digest(0.5, 0.99)),
    Row('approx_quantiles("n", [0, 0.5, 1])', finite(N), "n", NUMBERS, accuracy.t_digest(0, 0.5, 1)),
    Row('approx_top_k("s", 2)', keep.top("s", 2), "s", ("text",), accuracy.MISRA_GRIES),
    Row('approx_top_k("n")', keep.top("n", 10), "n", ORDERED, accuracy.MISRA_GRIES),
    Row('theta("n")', how_many(N), "n", ORDERED, accuracy.THETA),
    Row('by("s", mean("x"))', grouped(S, Agg("mean", X)), "s", ORDERED),
    Row('by("s", sum("n"))', grouped(S, Agg("sum", N)), "s", ("int", "text")),
    Row('by("n % 2", first("x"))', grouped(parity(N), Agg("first", X)), "x", ("int", "text")),
    Row('by("n % 2", stddev("x"))', grouped(parity(N), Agg("stddev", X)), "x", ("float",)),
    Row('by("n % 2", approx_count_distinct("x"))', grouped(parity(N), how_many(X)), "x", ("float", "text")),
    Row('by("n % 2", collect("x"))', grouped(parity(N), keep.collect("x")), "x", ("float", "moment")),
    Row('by("n % 2", by("s", count()))', grouped(parity(N), grouped(S, len)), "s", ("text",)),
    Row('elementwise("l", max("l"))', placewise(Agg("max", L), "l"), "l", ("list",)),
    Row('elementwise("l", mean("l"))', placewise(Agg("mean", L), "l"), "l", ("list",)),
    Row('elementwise("l", collect("l", where="l > 0"))', placewise(only(above(L, 0), keep.collect("l")), "l"), "l", ("list",)),
    Row('elementwise(["l", "m"], covariance("l", "m"))', placewise(partial(by.covariance, x=L, y=M), "l", "m"), "lm", ("list",)),
    Row('apply(len, "n")', lambda rows: float(len(rows)), "n", ("int", "text"), Accuracy("as your function is")),
    Row('apply(counted_and_added, "n", "x")', of_columns(functions.counted_and_added, N, X), "n", ("int", "text")),
    Row(
        'own("largest", "n", create=list, accumulate=with_larger, combine=larger, finish=len)',
        lambda rows: float(bool(by.values(rows, N))), "n", ("int", "text", "decimal"), Accuracy("as your functions are"),
    ),
    Row(
        'own("total", "n", create=int, accumulate=add, combine=add, finish=float, deduct=sub)',
        lambda rows: float(sum(by.values(rows, N))), "n", ("int",),
    ),
)  # fmt: skip

MINUTES = 60_000_000
CARRYING = (
    Row('time_in_state("s", carry="1d")', lasting.time_in_state(S, DAY), "s", ORDERED),
    Row('time_in_state("n", carry=0)', lasting.time_in_state(N, 0), "n", ("int",)),
    Row('time_weighted_mean("x", carry="20m")', lasting.mean(X, 20 * MINUTES), "x", NUMBERS, ROUNDED),
    Row('integral("x", carry="7m")', lasting.integral(X, 7 * MINUTES), "x", NUMBERS, ROUNDED),
    Row('counter_increase("n", carry="20m")', lasting.counter_increase(N, 20 * MINUTES), "n", NUMBERS, ROUNDED),
    Row('last("s", carry="9m")', lasting.last(S, 9 * MINUTES), "s", ORDERED),
    Row('last("n", carry="1us")', lasting.last(N, 1), "n", ORDERED),
)
"""Calls whose values last from window to window, for windows on a grid alone. Their oracles take a `lasting.Span`."""
