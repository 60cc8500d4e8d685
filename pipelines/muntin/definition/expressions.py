"""SQL expressions of users over the columns of the source, and names for the columns of states.

SQL that gives something else each time it is asked: the clock, chance, the session. A state must follow from
its rows alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Literal, Self, get_args

from muntin.definition.spelling import did_you_mean
from muntin.errors import DefinitionError

# What DuckDB's catalogue calls VOLATILE or CONSISTENT_WITHIN_QUERY, but for `error`, which gives nothing.
CATALOGUED = frozenset([
    "current_connection_id", "current_database", "current_date", "current_query", "current_query_id",
    "current_schema", "current_schemas", "current_setting", "current_transaction_id", "currval",
    "gen_random_uuid", "get_current_time", "get_current_timestamp", "getvariable", "in_search_path",
    "nextval", "now", "random", "setseed", "setval", "sleep_ms", "stats", "today",
    "transaction_timestamp", "txid_current", "uuid", "uuidv4", "uuidv7", "vector_type", "write_log",
])  # fmt: skip
# Macros that call such functions, and functions that the catalogue takes for steady; `age` of one instant.
OTHERS = frozenset([
    "ago", "current_catalog", "current_localtime", "current_localtimestamp", "get_block_size",
    "pg_conf_load_time",     "pg_postmaster_start_time", "pg_sleep", "reservoir_quantile",
])  # fmt: skip
# Words that are calls without brackets.
BARE = frozenset(
    [
        "current_catalog",
        "current_date",
        "current_schema",
        "current_time",
        "current_timestamp",
        "localtime",
        "localtimestamp",
    ]
)
# Strings, quoted names, comments, words, blanks; any other character alone.
TOKEN = re.compile(
    r"[eE]'(?:\\.|''|[^'\\])*'|'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|\$(\w*)\$.*?\$\1\$|"
    r"--[^\n]*|/\*.*?\*/|\w+|\s+|.",
    re.DOTALL,
)


_EQUALS_NULL = re.compile(r"(?<![:=<>!] )(= = |= |< > |! = )(NULL)\b", re.IGNORECASE)


def expression(text: object, name: str) -> str:
    """A SQL expression that a user gives to the function `name`, without blanks around it."""
    if not isinstance(text, str) or not text.strip():
        raise DefinitionError(
            f"{name}: {text!r} is not a SQL expression over the source's columns; write one, as "
            f'{name}("price * quantity")'
        )
    if problem := _problem(text):
        raise DefinitionError(f"{name}: {text!r} {problem}")
    return text.strip()


def condition(text: object, name: str) -> str | None:
    """A SQL condition that a user gives as the argument `name`; None where it is left out."""
    if text is None:
        return None
    if not isinstance(text, str) or not text.strip():
        raise DefinitionError(
            f'{name}: {text!r} is not a SQL condition; write one, as {name}="orders > 10", or leave it out'
        )
    return expression(text, name)


def _problem(text: str) -> str:
    """Why a text is not a single expression; "" if it may be."""
    words = [each.group() for each in TOKEN.finditer(text) if not each.group().isspace()]
    if any(each.startswith(("--", "/*")) for each in words):
        return "holds a comment; leave it out"
    if never := _EQUALS_NULL.search(" ".join(words)):
        equals = f"{never[1].replace(' ', '')} {never[2]}"
        return f"holds {equals!r}, which is never true; write IS NULL or IS NOT NULL"
    if words[0].upper() in ("DISTINCT", "ALL"):
        return f"is no expression but begins with {words[0]}; to count each value once, say distinct=True"
    if mine := [each for each in words if each.lower().startswith("muntin_")]:
        return f"names {mine[0]}; names that begin with muntin_ are Muntin's own"
    return _brackets(words) or steady(text)


def _brackets(words: list[str]) -> str:
    depth = 0
    for each in words:
        depth += (each in "([{") - (each in ")]}")
        if depth < 0:
            return f"is not one expression: {each!r} closes a bracket that it does not open"
        if depth == 0 and each in ",;":
            return f"is not one expression: it holds {each!r} outside of brackets"
    return "is not one expression: a bracket stays open" if depth else ""


def steady(text: str) -> str:
    """Why SQL would give something else each time it is asked; "" if it would not."""
    call = changing([each.group() for each in TOKEN.finditer(text) if not each.group().isspace()])
    if call is None:
        return ""
    return (
        f"asks for {call}, which is something else each time, so that two clean runs would differ; "
        "use columns of the source (a column of that name in double quotes)"
    )


def stem(name: str, of: str) -> str:
    """A readable name for a column about an expression. Another expression gives another name.

    >>> stem("sum", "dep_delay")
    'sum_dep_delay'
    """
    if not of:
        return name
    plain = re.sub(r"\W+", "_", of).strip("_")[:40]
    exact = plain == of and plain.lower() == plain
    return f"{name}_{plain}" if exact else f"{name}_{plain}_{sha256(of.encode()).hexdigest()[:6]}"


def changing(words: Sequence[str]) -> str | None:
    """The first call in an expression of something that changes, as a user would write it; None: there is
    none.

    >>> changing(["random", "(", ")", "<", "x"]), changing(["random", "<", "x"])
    ('random()', None)
    """
    for at, word in enumerate(words):
        name, called = word.strip('"').lower(), words[at + 1 : at + 2] == ["("]
        if called and (name in CATALOGUED | OTHERS or (name == "age" and _arguments(words[at + 1 :]) == 1)):
            return f"{name}()" if words[at + 2 : at + 3] == [")"] else f"{name}(...)"
        if word.lower() in BARE and words[max(at - 1, 0) : at] != ["."]:
            return word
    return None


def _arguments(words: Sequence[str]) -> int:
    """How many arguments stand in the brackets that begin here."""
    depth, commas = 0, 0
    for word in words:
        depth += (word in "([{") - (word in ")]}")
        commas += word == "," and depth == 1
        if depth == 0:
            break
    return commas + 1


_Listed = Literal["distinct", "occurrences", "all_at_least", "all_at_greatest"]
What = Literal[
    "count",
    "sum",
    "least",
    "greatest",
    "first",
    "last",
    "first_row",
    "last_row",
    "at_least",
    "at_greatest",
    "value",
    "numbers",
    _Listed,
]
LISTS = get_args(_Listed)
"""What is a sorted list of distinct values, or belongs to it."""
EVERY_ROW = "1"
"""SQL of a value that every row has."""


class Plain(str):
    """The text of a SQL aggregate that takes one value of each row, and what it makes of the values.

    `of`: the SQL expression of the value, without aggregates; `by`: the SQL expression that decides between
    rows. `what`: how many values are not null; their sum, 0 without any; the least; the greatest; the value
    in the first or in the last row by (event time, arrival), nulls left out, or, as "first_row" and
    "last_row", nulls too; the value, null or not, in the row where `by` is least or greatest, of several such
    rows in the first; "value": the value, where there is one row, and the text alone says what else;
    "numbers": a list of all values as doubles, for a seal to which nulls say nothing; "distinct": a sorted
    list of the distinct values without null, and "occurrences": how often each value came; "all_at_least",
    "all_at_greatest": such a list of the rows where `by` is least or greatest.

    >>> Plain("count(x)", "count", "x").of
    'x'
    """

    __slots__ = ("by", "of", "what")
    what: What
    of: str
    by: str

    def __new__(cls, text: str, what: What, of: str, by: str = "") -> Self:
        lift = super().__new__(cls, text)
        lift.what, lift.of, lift.by = what, of, by
        return lift

    def __getnewargs__(self) -> tuple[str, What, str, str]:  # type: ignore[override]  # what pickles it
        return str(self), self.what, self.of, self.by


_UNKNOWN = re.compile(r'column "(.+?)" not found')
_PLAIN = re.compile(r"[^\W\d]\w*")
_OF_PYTHON = {"none": "x IS NOT NULL", "nan": "NOT isnan(x)"}


def hint(sql: str, error: str, columns: Mapping[str, str], call: str) -> str:
    """A question or a mend to put behind an error of DuckDB's; "" where nothing is likely.

    >>> hint("sum(price)", "No function matches 'sum(VARCHAR)'", {"price": "VARCHAR"}, "sources.files(...)")
    '; price is a text: say types={"price": "DOUBLE"} in sources.files(...), or write price::DOUBLE'

    `sql`: as the user wrote it. `error`: DuckDB's words. `columns`: name -> SQL type of the source's columns.
    `call`: how the source is written; "" where a window's columns are meant.
    """
    odd = [name for name in columns if not _PLAIN.fullmatch(name) and name in sql and f'"{name}"' not in sql]
    if odd:
        return f"; write '\"{max(odd, key=len)}\"' for the column of this name: it is no plain word"
    if unknown := _UNKNOWN.search(error):
        return _of_unknown(sql, unknown[1], columns)
    used = [
        name
        for name, kind in columns.items()
        if kind == "VARCHAR" and re.search(rf"\b{re.escape(name)}\b", sql)
    ]
    if not used or "VARCHAR" not in error:
        return ""
    types = ", ".join(f'"{name}": "DOUBLE"' for name in used)
    are = f"{used[0]} is a text" if len(used) == 1 else f"{', '.join(used)} are texts"
    return f"; {are}: {f'say types={{{types}}} in {call}, or ' if call else ''}write {used[0]}::DOUBLE"


def _of_unknown(sql: str, name: str, columns: Mapping[str, str]) -> str:
    if mend := _OF_PYTHON.get(name.lower()):
        return f"; {name} is of Python; in SQL write {mend}"
    if near := did_you_mean(name, columns):
        return near
    return f"; a text stands in single quotes, as '{name}'" if f'"{name}"' in sql else ""
