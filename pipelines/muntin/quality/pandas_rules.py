"""Types of expectations that pandas judges as Spark does, and on which columns; and the types that are left
to Spark.

A type stands in `RULES` if a test has shown that both engines agree about it
(tests/quality/test_same_verdict.py).

Which expectations Spark alone judges, and why: where pandas could come to another verdict, by type and
condition.

What the columns have to do with it is in `column_limits`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from muntin.quality.suite import Expectation, Suite, near

SUM = "integers whose sum may be beyond 2^53"
NAN = "NaN"
NULLS = "nulls"
NO_VALUE = "no value but nulls"
CONDITIONAL = ("expect_column_values_", "expect_column_pair_")
"""Types, by their beginnings, that may be about some rows only.

Of no rows, Spark and pandas have different sums.
"""
INTEGERS = frozenset({"integer", "short"})
NUMBERS = INTEGERS | {"float"}
IN_SETS = NUMBERS | {"text", "boolean"}
SCALARS = IN_SETS | {"day", "instant"}


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule for pandas: kinds of columns (None: any; several columns are of one kind), and values that they
    must not hold.
    """

    kinds: frozenset[str] | None = None
    without: tuple[str, ...] = ()


RULES: dict[str, Rule] = {
    "expect_column_distinct_values_to_be_in_set": Rule(IN_SETS),
    "expect_column_distinct_values_to_contain_set": Rule(IN_SETS),
    "expect_column_distinct_values_to_equal_set": Rule(IN_SETS),
    "expect_column_max_to_be_between": Rule(NUMBERS, (NAN,)),
    "expect_column_mean_to_be_between": Rule(frozenset({"integer", "float"}), (NAN, SUM)),
    "expect_column_median_to_be_between": Rule(NUMBERS, (NAN, SUM)),
    "expect_column_min_to_be_between": Rule(NUMBERS, (NAN,)),
    "expect_column_most_common_value_to_be_in_set": Rule(IN_SETS, (NAN,)),
    "expect_column_pair_values_a_to_be_greater_than_b": Rule(SCALARS, (NULLS,)),
    "expect_column_pair_values_to_be_equal": Rule(SCALARS, (NULLS,)),
    "expect_column_proportion_of_non_null_values_to_be_between": Rule(),
    "expect_column_proportion_of_unique_values_to_be_between": Rule(SCALARS),
    "expect_column_sum_to_be_between": Rule(NUMBERS, (NAN, SUM, NO_VALUE)),
    "expect_column_to_exist": Rule(),
    "expect_column_unique_value_count_to_be_between": Rule(SCALARS),
    "expect_column_value_lengths_to_be_between": Rule(frozenset({"text"})),
    "expect_column_value_lengths_to_equal": Rule(frozenset({"text"})),
    "expect_column_values_to_be_between": Rule(NUMBERS | {"decimal", "day", "instant"}),
    "expect_column_values_to_be_in_set": Rule(IN_SETS),
    "expect_column_values_to_be_null": Rule(),
    "expect_column_values_to_be_unique": Rule(SCALARS | {"decimal"}),
    "expect_column_values_to_not_be_in_set": Rule(IN_SETS),
    "expect_column_values_to_not_be_null": Rule(),
    "expect_compound_columns_to_be_unique": Rule(SCALARS),
    "expect_multicolumn_sum_to_equal": Rule(INTEGERS, (NULLS,)),
    "expect_multicolumn_values_to_be_equal": Rule(SCALARS),
    "expect_select_column_values_to_be_unique_within_record": Rule(SCALARS),
    "expect_table_column_count_to_be_between": Rule(),
    "expect_table_column_count_to_equal": Rule(),
    "expect_table_columns_to_match_ordered_list": Rule(),
    "expect_table_columns_to_match_set": Rule(),
    "expect_table_row_count_to_be_between": Rule(),
    "expect_table_row_count_to_equal": Rule(),
}
LEFT_TO_SPARK: dict[str, str] = {
    name: reason
    for reason, names in {
        "its patterns are those of Java": (
            "expect_column_values_to_match_regex",
            "expect_column_values_to_match_regex_list",
            "expect_column_values_to_not_match_regex",
            "expect_column_values_to_not_match_regex_list",
        ),
        "its patterns are those of SQL": (
            "expect_column_values_to_match_like_pattern",
            "expect_column_values_to_match_like_pattern_list",
            "expect_column_values_to_not_match_like_pattern",
            "expect_column_values_to_not_match_like_pattern_list",
        ),
        "it asks in SQL": (
            "expect_column_pair_values_to_be_in_set",
            "expect_query_results_to_match_comparison",
            "expect_table_row_count_to_equal_other_table",
            "unexpected_rows_expectation",
        ),
        "it names types of Spark": (
            "expect_column_type_to_be",
            "expect_column_values_to_be_in_type_list",
            "expect_column_values_to_be_of_type",
        ),
        "it depends on the order of the rows": (
            "expect_column_values_to_be_decreasing",
            "expect_column_values_to_be_increasing",
        ),
        "its statistics differ on pandas": (
            "expect_column_kl_divergence_to_be_less_than",
            "expect_column_quantile_values_to_be_between",
            "expect_column_stdev_to_be_between",
            "expect_column_value_z_scores_to_be_less_than",
            "expect_column_values_to_not_be_outliers",
        ),
        "it parses texts": (
            "expect_column_values_to_be_dateutil_parseable",
            "expect_column_values_to_be_json_parseable",
            "expect_column_values_to_match_json_schema",
            "expect_column_values_to_match_strftime_format",
        ),
    }.items()
    for name in names
}
"""Type -> why Spark alone judges it."""


def needs_spark(suite: Suite) -> str | None:
    """Why the suite cannot be judged in this process, whatever the columns are; None if it can.

    Imports no Great Expectations.
    """
    return sentences(suite, type_reason)


def sentences(suite: Suite, reason_of: Callable[[Expectation], str | None]) -> str | None:
    """A sentence on each expectation that has a reason, a line each; None without any."""
    lines = [
        f"expectation {n}: {expectation.type} is judged by Spark alone ({reason}): run with --spark local[*]"
        for n, expectation in enumerate(suite.expectations, 1)
        if (reason := reason_of(expectation))
    ]
    return "\n".join(lines) or None


def type_reason(expectation: Expectation) -> str | None:
    """Why Spark alone judges this type, or rows under this condition; None if pandas may."""
    if expectation.type not in RULES:
        unknown = f"it is none of Great Expectations' own{near(expectation.type, (*RULES, *LEFT_TO_SPARK))}"
        return LEFT_TO_SPARK.get(expectation.type, unknown)
    condition = expectation.kwargs.get("row_condition")
    if condition is None or (
        expectation.type.startswith(CONDITIONAL) and _is_plain(expectation.condition or {})
    ):
        return None
    return "its row_condition is not that a column equals a plain word, or it judges no single rows"


def _is_plain(condition: Mapping[str, Any]) -> bool:
    """Whether a condition compares a column with a plain word, which both engines take alike."""
    word = condition.get("parameter")
    is_equality = condition.get("type") == "comparison" and condition.get("operator") == "=="
    return is_equality and isinstance(word, str) and re.fullmatch(r"[\w :/.+-]*", word) is not None
