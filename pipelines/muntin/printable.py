"""Data as a person can read it: of texts each character that does not show itself as its escape sequence, of
numbers all digits.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from decimal import Decimal
from unicodedata import category

_UNSEEN = {"Cc", "Cf", "Cs", "Cn", "Zl", "Zp"}
"""Controls, marks of direction, halves of characters, characters that Unicode does not have, ends of lines.
"""
_JOINERS = "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"
"""Letters of Persian and pictures are joined by these."""


def printable(
    text: str, escaped: Callable[[str], str] = lambda each: each.encode("unicode_escape").decode("ascii")
) -> str:
    r"""A text without escape sequences of terminals, ends of lines, marks of direction and what XML cannot
    hold.

    >>> printable("a\x1b[2J\nb"), printable("naïve 東京 🛫")
    ('a\\x1b[2J\\nb', 'naïve 東京 🛫')
    """
    if text.isprintable():
        return text
    return "".join(
        each if each in _JOINERS or category(each) not in _UNSEEN else escaped(each) for each in text
    )


def lines(text: str) -> str:
    r"""A text of several lines, each of them printable.

    >>> lines("a\r\nb")
    'a\\r\nb'
    """
    return "\n".join(printable(line) for line in text.split("\n"))


def number(value: float | Decimal) -> str:
    """A number with all of its digits: whoever reads it back has the same number.

    >>> number(1234567.75), number(2 / 3), number(4.0), number(12345), number(1e22), number(Decimal("0E-3"))
    ('1,234,567.75', '0.6666666666666666', '4', '12,345', '1e+22', '0.000')
    """
    if isinstance(value, Decimal):
        return f"{value:,f}"
    return f"{value:,}".removesuffix(".0")


def make_printable(wrong: BaseException | None) -> None:
    r"""Make the text of an error printable in place, and of all errors that it came of, for whoever shows the
    trace of all of them.

    >>> wrong = ValueError("a\x1b[2J")
    >>> make_printable(wrong)
    >>> str(wrong)
    'a\\x1b[2J'
    """
    seen: list[BaseException] = []
    while wrong is not None and wrong not in seen:
        seen.append(wrong)
        if lines(text := str(wrong)) != text:
            wrong.args = (lines(text),)
        wrong = wrong.__cause__ or wrong.__context__


def _harmless(record: logging.LogRecord) -> bool:
    """Make the message of a log record printable."""
    record.msg, record.args = lines(record.getMessage()), None
    return True


logging.getLogger("muntin").addFilter(_harmless)
