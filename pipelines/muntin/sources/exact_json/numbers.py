"""Numbers of JSON lines that DuckDB's reader does not keep: it makes doubles of numbers with a fraction
before a type is given.
"""

from __future__ import annotations

import re
from contextlib import suppress
from decimal import Decimal
from typing import TYPE_CHECKING

from muntin.sources.casts import is_double
from muntin.sources.exact_json.values import Number, decoded, values_in

if TYPE_CHECKING:
    from muntin.sources.source import Used

_UNSURE = 16  # digits, with which two numbers may have one double
MAY_BE_LOST = (
    "|".join(rf"[0-9]{{{whole}}}\.[0-9]{{{_UNSURE - whole}}}" for whole in range(_UNSURE + 1))
    + rf"|[0-9]{{{_UNSURE}}}[eE]|[eE][-+]?[0-9]{{3}}"
)
"""A regular expression that finds the lines that may have such a number."""
_FRACTION = r"[0-9]+\.[0-9]+(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+"
NO_DOUBLE = "which JSON's reader rounds to a double; write it as a text, or say DOUBLE in types="
_ROUNDED = re.compile(r"(FLOAT[48]?|REAL|DOUBLE)", re.IGNORECASE)


def may_have_lost(line: str) -> str:
    """SQL for whether a line has a number that a double is not, outside of texts or inside.

    >>> may_have_lost("line").count("regexp_matches(line, ")
    1
    """
    lost = f"NOT ({is_double('muntin_number')})"
    numbers = f"list_filter(regexp_extract_all({line}, '{_FRACTION}'), lambda muntin_number: {lost})"
    return f"CASE WHEN regexp_matches({line}, '{MAY_BE_LOST}') THEN len({numbers}) > 0 ELSE false END"


def is_rounded(kind: str | None) -> bool:
    """Whether a type that a definition gives asks for doubles, whatever the number."""
    return kind is not None and _ROUNDED.fullmatch(kind) is not None


def lost_number(text: str, used: Used) -> tuple[str, str] | None:
    """The first number of a line that is no double, with the column that holds it; None: there is none.
    `used`: which columns count.

    >>> lost_number('{"x": 0.1234567890123456789, "y": 0.1}', lambda name: True)
    ('x', '0.1234567890123456789')
    """
    with suppress(ValueError, RecursionError):  # a bad line, which other code finds
        line = decoded(text)
        for name, value in line.items() if isinstance(line, dict) else ():
            for each in values_in(value) if used(name) else ():
                if (
                    isinstance(each, Number)
                    and not each.lstrip("-").isdigit()
                    and Decimal(each) != Decimal(repr(float(each)))
                ):
                    return name, str(each)
    return None
