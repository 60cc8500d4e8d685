"""Which expectations Spark alone judges, and why: where pandas could come to another verdict, by type and
condition.

What the columns have to do with it is in `column_limits`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from muntin.quality.pandas_rules import CONDITIONAL, LEFT_TO_SPARK, RULES
from muntin.quality.suite import near

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from muntin.quality.suite import Expectation, Suite


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
    """Whether a condition compares a column with a plain word: no other condition means the same on both
    engines.
    """
    word = condition.get("parameter")
    is_equality = condition.get("type") == "comparison" and condition.get("operator") == "=="
    return is_equality and isinstance(word, str) and re.fullmatch(r"[\w :/.+-]*", word) is not None
