"""Aggregates whose states later versions must find again: those of version 0.1, narrowed and nested.

But `own`: its facts hold byte code, which is another one in another Python.
"""

from muntin import aggregates as agg
from muntin.aggregates.aggregate import Aggregate, Field
from muntin.aggregates.algebra import SUM
from tests.properties.laws.aggregates_of_0_1 import CATALOGUE, JUDGED

NARROWED = {
    "sum(x)": "sum(x)¹",
    "SUM ( x ) / count(*)": "SUM ( x )¹ / count(*)¹",
    "count(*) FILTER (WHERE x > 0)": "count(*)² x > 0))",
    "count(*)  filter( where (x) IS NOT NULL) + sum(x)": "count(*)² (x) IS NOT NULL)) + sum(x)¹",
    "'ä)' || max(x) || ')sum('": "'ä)' || max(x)¹ || ')sum('",
    r"E'\')' || max(x)": r"E'\')' || max(x)¹",
    "$a$ sum( $a$ || min(x)": "$a$ sum( $a$ || min(x)¹",
    '"sum(" + max("max(x)")': '"sum(" + max("max(x)")¹',
    "coalesce(list(x ORDER BY y, x) FILTER (WHERE (x) IS NOT NULL), [])[1:3]": (
        "coalesce(list(x ORDER BY y, x)² (x) IS NOT NULL)), [])[1:3]"
    ),
    "coalesce(histogram(x)[max(x)], 0)::BIGINT": "coalesce(histogram(x)¹[max(x)¹], 0)::BIGINT",
    "list_transform(list_filter(list({'a': x}), lambda each: each.a = max(x)), lambda each: each.a)": (
        "list_transform(list_filter(list({'a': x})¹, lambda each: each.a = max(x)¹), lambda each: each.a)"
    ),
    "[each + 1 for each in list(x)]": "[each + 1 for each in list(x)¹]",
    "CASE max(x) WHEN 1 THEN 'one' WHEN 2 THEN 'two' END": "CASE max(x)¹ WHEN 1 THEN 'one' WHEN 2 THEN 'two' END",
    "sum(CASE WHEN x > 0 THEN x END) BETWEEN min(x) AND max(x)": "sum(CASE WHEN x > 0 THEN x END)¹ BETWEEN min(x)¹ AND max(x)¹",
    "sum((SELECT max(each) FROM unnest([x, 2]) AS t(each)))": "sum((SELECT max(each)¹ FROM unnest([x, 2]) AS t(each)))¹",
    "list(x)::VARCHAR[] || array_agg(x::VARCHAR)": "list(x)¹::VARCHAR[] || array_agg(x::VARCHAR)¹",
    "list_aggregate(list(x), 'sum')": "list_aggregate(list(x)¹, 'sum')",
    "sum(DISTINCT x)": "sum(DISTINCT x)¹",
    "x.sum() + main.sum(x)": "x.sum()¹ + main.sum(x)¹",
    "-sum(x) IN (count(*), 3)": "-sum(x)¹ IN (count(*)¹, 3)",
    "extract(year FROM max(make_date(x, 1, 1)))": "extract(year FROM max(make_date(x, 1, 1))¹)",
}
"""SQL aggregates as users write them into a `Field`, and the same over the rows with y > 0.

¹ stands for " FILTER (WHERE (y > 0))", ² for " FILTER (WHERE (y > 0) AND (".
"""

PLAIN = CATALOGUE | {f"judged: {each}": each for each in JUDGED}
PLAIN |= {f"text: {text}": Aggregate("text", "x", (Field("text", text, (("", text),), SUM),), lambda x: x) for text in NARROWED}


def nested(plain: Aggregate) -> list[Aggregate]:
    """An aggregate with `where` and within others; the data has the facts in this order."""
    some = plain.only("y > 0")
    return [
        plain,
        some,
        some.only("x IS NULL OR x < 9"),
        agg.by("y % 3", plain),
        agg.by("y % 3", some),
        agg.by("y % 3", plain, where="y > 0"),
        agg.by("y", agg.by("y % 3", some, where="y > 1"), where="y > 2"),
        agg.elementwise(["x", '"y"'], plain),
        agg.elementwise("x", some, where="len(x) > 1"),
        agg.elementwise("x", agg.by("y % 3", agg.elementwise("x", plain, where="y > 0")), where="y > 1"),
    ]
