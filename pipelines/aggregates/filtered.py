"""`where=` of aggregates: a lift over the rows for which a condition is true, made from the lift over all rows."""

from __future__ import annotations

import re

from pipelines.definition.expressions import TOKEN

# Every aggregate function of DuckDB 2.0, by `duckdb_functions()`; extend it by what an extension adds.
_NAMES = """
any_value approx_count_distinct approx_quantile approx_top_k arbitrary arg_max arg_max_null arg_max_nulls_last arg_min arg_min_null
arg_min_nulls_last argmax argmin array_agg avg bit_and bit_or bit_xor bitstring_agg bool_and bool_or combine_aggr corr count count_if
count_star countif covar_pop covar_samp decimal_average entropy favg first fsum
group_concat histogram histogram_exact kahan_sum kurtosis kurtosis_pop
last list listagg lttb mad max max_by mean median min min_by mode product quantile quantile_cont quantile_disc regr_avgx regr_avgy
regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy reservoir_quantile sem skewness stddev stddev_pop stddev_samp
string_agg sum sum_no_overflow sumkahan var_pop var_samp variance
variant_group_object
"""
AGGREGATES = frozenset(_NAMES.split())
_FILTER = re.compile(r"\s*FILTER\s*\(\s*WHERE\b", re.IGNORECASE)


def filtered(lift: str, condition: str) -> str:
    """The lift with every aggregate of it narrowed to the rows for which `condition` is true.

    >>> filtered("sum(x) / count(*) FILTER (WHERE x > 0)", "y > 0")
    'sum(x) FILTER (WHERE (y > 0)) / count(*) FILTER (WHERE (y > 0) AND ( x > 0))'
    """
    out, open_, at, word = [], list[str](), 0, ""
    while token := TOKEN.match(lift, at):
        at, text = token.end(), token.group()
        out.append(text)
        if text == "(":
            open_.append(")" if word.lower() not in AGGREGATES else f") FILTER (WHERE ({condition}))")
        elif text == ")" and open_:
            out[-1] = open_.pop()
            if out[-1] not in (")", "))") and (own := _FILTER.match(lift, at)):
                out[-1], at = f"{out[-1][:-1]} AND (", own.end()
                open_.append("))")
        if not text.isspace():
            word = text
    return "".join(out)
