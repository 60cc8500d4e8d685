"""SQL expressions of users over the columns of the source, and names for the columns of states."""

import re
from hashlib import sha256

from muntin.definition.changing_functions import changing
from muntin.errors import DefinitionError

# Strings, quoted names, comments, words, blanks; any other character by itself.
TOKEN = re.compile(
    r"[eE]'(?:\\.|''|[^'\\])*'|'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|\$(\w*)\$.*?\$\1\$|--[^\n]*|/\*.*?\*/|\w+|\s+|.", re.DOTALL
)


def expression(text: object, name: str) -> str:
    """A SQL expression that a user gives to the function `name`, without blanks around it. Other SQL will hold it as it is.

    Raises:
        DefinitionError: it is not a text, is empty, is not a single expression, or gives another value each time, as `random()`.
    """
    if not isinstance(text, str) or not text.strip():
        raise DefinitionError(
            f'{name}: {text!r} is not a SQL expression over the source\'s columns; write one, as {name}("price * quantity")'
        )
    if problem := _problem(text):
        raise DefinitionError(f"{name}: {text!r} {problem}")
    return text.strip()


def _problem(text: str) -> str:
    """Why a text is not a single expression; "" if it may be."""
    found = [each.group() for each in TOKEN.finditer(text) if not each.group().isspace()]
    if any(each.startswith(("--", "/*")) for each in found):
        return "holds a comment; leave it out"
    if found[0].upper() in ("DISTINCT", "ALL"):
        return f"is no expression but begins with {found[0]}; where each value is to count once, say distinct=True"
    if mine := [each for each in found if each.lower().startswith("muntin_")]:
        return f"names {mine[0]}; names that begin with muntin_ are Muntin's own"
    return _brackets(found) or steady(text)


def _brackets(found: list[str]) -> str:
    depth = 0
    for each in found:
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
