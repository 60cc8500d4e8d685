"""SQL aggregates that take one value of each row."""

from __future__ import annotations

from typing import Literal, Self

What = Literal["count", "sum", "least", "greatest", "first", "last", "first_row", "last_row", "value", "numbers"]
EVERY_ROW = "1"
"""SQL of a value that every row has."""


class Plain(str):
    """The text of a SQL aggregate that takes one value of each row, and what it makes of the values.

    `of`: the SQL expression of the value, without aggregates. `what`: how many values are not null; their sum, 0 without any; the least;
    the greatest; the value in the first or in the last row by (event time, arrival), nulls left out, or, as "first_row" and "last_row",
    nulls too; "value": the value, where there is one row, and the text alone tells what else; "numbers": a list of all values as doubles,
    for a seal to which nulls say nothing.

    >>> Plain("count(x)", "count", "x").of
    'x'
    """

    __slots__ = ("of", "what")
    what: What
    of: str

    def __new__(cls, text: str, what: What, of: str) -> Self:
        made = super().__new__(cls, text)
        made.what, made.of = what, of
        return made

    def __getnewargs__(self) -> tuple[str, What, str]:  # type: ignore[override]  # what pickles it
        return str(self), self.what, self.of
