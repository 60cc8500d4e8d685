"""SQL expressions over the source's columns, as users write them, and the columns of states that hold something about them."""

import re
from hashlib import sha256

from pipelines.errors import DefinitionError


def expression(text: object, name: str) -> str:
    """A SQL expression; `name` is what it was given to.

    Raises:
        DefinitionError: not a text, or an empty one.
    """
    if not isinstance(text, str) or not text.strip():
        raise DefinitionError(
            f'{name}: {text!r} is not a SQL expression over the source\'s columns; write one, as {name}("price * quantity")'
        )
    return text.strip()


def stem(name: str, of: str) -> str:
    """The column that holds something about an expression: readable, and never that of another one.

    >>> stem("sum", "dep_delay")
    'sum_dep_delay'
    """
    if not of:
        return name
    plain = re.sub(r"\W+", "_", of).strip("_")[:40]
    exact = plain == of and plain.lower() == plain
    return f"{name}_{plain}" if exact else f"{name}_{plain}_{sha256(of.encode()).hexdigest()[:6]}"
