"""The tables of `docs/aggregates.md`, from the code: `python -m docs.catalogue` writes them anew."""

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from sys import modules

import pyarrow as pa

from pipelines import aggregates as agg
from pipelines.aggregates import Aggregate, Sum
from pipelines.laws.states import finished, lifted

PAGE = Path(__file__).parent / "aggregates.md"
BEGIN, END = "<!-- the catalogue, by python -m docs.catalogue -->\n", "<!-- end of the catalogue -->\n"

# A hundred rows, a second apart: a whole number of ten kinds, a double, a text of three kinds, a list of two.
KINDS = {"n": pa.int64(), "x": pa.float64(), "s": pa.string(), "l": pa.list_(pa.int64())}
ROWS = [{"n": at % 10, "x": at / 8, "s": "abc"[at % 3], "l": [at, -at], "time": at * 1_000_000} for at in range(100)]

EXAMPLES = """
count() count_if("n > 3") min_count("n") max_count("n") sum("n") mean("n") weighted_mean("n", "x") rate() product("n") geometric_mean("x")
min("n") max("s") range("n") top_n("n", 3) bottom_n("n", 3) min_by("s", "x") max_by("s", "x") all_min_by("s", "n") all_max_by("s", "n")
first("n") last("s") first_k("n", 3) last_k("s", 3) any_value("n") candlestick("x", "n") all_of("n >= 0") any_of("n > 8")
variance("x") stddev("x") skewness("x") kurtosis("x") covariance("x", "n") correlation("x", "n") linear_trend("x", "n")
time_weighted_mean("x") counter_rate("n") state_duration("s") longest_silence()
collect("n") collect_sorted("n", by="x") collect_distinct("n") concat("s", ", ") to_map("s", "n")
count_distinct("n") count_by("s") mode("s") median("x") percentile("x", 0.9) histogram("x", [0, 5, 10])
approx_count_distinct("n") approx_quantiles("x", [0.5, 0.99]) approx_top_k("s", 2) theta("n") by("s", mean("x")) elementwise("l", max("l"))
apply(len, "n") own("earliest", "n", create=list, accumulate=kept, combine=kept, finish=len)
"""

ROUNDED = "rounding"
RIGHT = {
    "approx_count_distinct": "1.04 / sqrt(2^lg_k): 1.6 %",
    "approx_quantiles": "rank, 1 % in the middle, 0.04 % at 0.01 and 0.99",
    "approx_top_k": "said with each count; none for some hundred values",
    "theta": "1 / sqrt(2^lg_k): 1.6 %",
    "variance": "nine digits, mean up to 1e7 deviations",
    "stddev": "nine digits, mean up to 1e7 deviations",
    **dict.fromkeys(("skewness", "kurtosis", "covariance", "correlation", "linear_trend"), "nine digits"),
    **dict.fromkeys(("weighted_mean", "product", "geometric_mean", "candlestick", "time_weighted_mean", "counter_rate"), ROUNDED),
    "own": "as your functions are",
    "apply": "as your function is",
}
"""How far results are right; the others are exact, of doubles to rounding."""


def kept(state: list[object], other: object) -> list[object]:
    """The functions of the example of `own`: the first value."""
    return state or [other]


def tables() -> str:
    """A table for each family, in the order of the examples."""
    families: dict[str, list[str]] = {}
    for code in re.findall(r"\w+\((?:[^()]|\([^()]*\))*\)", EXAMPLES):
        families.setdefault(_function(code).__module__, []).append(_row(code))
    head = "| aggregate | what | example | result | kept of a frame | bytes | right to | deducted |\n"
    head += "| --- | --- | --- | --- | --- | ---: | --- | --- |\n"
    return "\n".join(f"### {_title(module)}\n\n{head}{''.join(rows)}" for module, rows in families.items())


def _function(code: str) -> Callable[..., Aggregate]:
    found: Callable[..., Aggregate] = getattr(agg, code.partition("(")[0])
    return found


def _title(module: str) -> str:
    """What the family's module says of itself, as far as the first full stop or colon."""
    return re.split(r"[.:;](?=\s|$)", inspect.cleandoc(modules[module].__doc__ or "").replace("\n", " "))[0]


def _row(code: str) -> str:
    names = {name: getattr(agg, name) for name in agg.__all__} | {"kept": kept}
    aggregate: Aggregate = eval(code, names)  # noqa: S307 - our own examples
    states = lifted(aggregate, [ROWS], KINDS)
    name = code.partition("(")[0]
    columns = "<br>".join(f"`{_marked(each.name)}` {_type(each.type)}" for each in states.schema)
    result = _type(finished(aggregate, states).type)
    exact = all(isinstance(field.monoid, Sum) for field in aggregate.fields) and not any(map(pa.types.is_floating, states.schema.types))
    cells = [
        f"`{_signature(name)}`",
        _summary(name),
        f"`{code}`",
        result,
        columns,
        str(states.nbytes),
        RIGHT.get(name, "exact"),
        "yes" if exact else "",
    ]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def _marked(column: str) -> str:
    """Without the mark of a function's code, which other versions of Python compile otherwise."""
    return re.sub(r"_[0-9a-f]{12}_", "_…_", column)


def _type(kind: pa.DataType) -> str:
    if pa.types.is_map(kind):
        return f"map of {kind.key_type} to {_type(kind.item_type)}"
    return str(kind).replace("item: ", "").replace("<", "&lt;")


def _signature(name: str) -> str:
    """Names and defaults; `where` is everybody's."""
    found = inspect.signature(getattr(agg, name)).parameters.values()
    shown, starred = [], False
    for each in (each for each in found if each.name != "where"):
        starred |= each.kind is each.VAR_POSITIONAL
        shown += ["*"] if each.kind is each.KEYWORD_ONLY and not starred else []
        starred |= each.kind is each.KEYWORD_ONLY
        default = "" if each.default is each.empty else f"={each.default!r}"
        shown.append(f"{'*' if each.kind is each.VAR_POSITIONAL else ''}{each.name}{default}")
    return f"{name}({', '.join(shown)})"


def _summary(name: str) -> str:
    """The first paragraph of the docstring."""
    return " ".join((inspect.getdoc(getattr(agg, name)) or "").split("\n\n")[0].split())


def page() -> str:
    """The page with tables made anew between its marks."""
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    return f"{before}{BEGIN}\n{tables()}\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
