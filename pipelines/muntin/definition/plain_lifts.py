"""SQL aggregates that take one value of each row."""

from __future__ import annotations

from typing import Literal, Self, get_args

_Listed = Literal["distinct", "occurrences", "all_at_least", "all_at_greatest"]
What = Literal[
    "count", "sum", "least", "greatest", "first", "last", "first_row", "last_row", "at_least", "at_greatest", "value", "numbers", _Listed
]
LISTS = get_args(_Listed)
"""What is a sorted list of distinct values, or belongs to it."""
EVERY_ROW = "1"
"""SQL of a value that every row has."""


class Plain(str):
    """The text of a SQL aggregate that takes one value of each row, and what it makes of the values.

    `of`: the SQL expression of the value, without aggregates; `by`: that of what decides between rows. `what`: how many values are not
    null; their sum, 0 without any; the least; the greatest; the value in the first or in the last row by (event time, arrival), nulls left
    out, or, as "first_row" and "last_row", nulls too; the value, null or not, in the row where `by` is least or greatest, of several such
    rows in the first; "value": the value, where there is one row, and the text alone tells what else; "numbers": a list of
    all values as doubles, for a seal to which nulls say nothing; "distinct": a sorted list of the distinct values without null, and
    "occurrences": how often each of these came; "all_at_least", "all_at_greatest": such a list of the rows where `by` is least or greatest.

    >>> Plain("count(x)", "count", "x").of
    'x'
    """

    __slots__ = ("by", "of", "what")
    what: What
    of: str
    by: str

    def __new__(cls, text: str, what: What, of: str, by: str = "") -> Self:
        made = super().__new__(cls, text)
        made.what, made.of, made.by = what, of, by
        return made

    def __getnewargs__(self) -> tuple[str, What, str, str]:  # type: ignore[override]  # what pickles it
        return str(self), self.what, self.of, self.by
