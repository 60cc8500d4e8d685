"""Text in any encoding that Python knows, as UTF-8.

A byte order mark counts more than what a definition says.
"""

from __future__ import annotations

import codecs
from itertools import chain
from typing import TYPE_CHECKING

from muntin.sources.dialect import UTF_8

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_MARKS = {  # marks of UTF-32 begin as marks of UTF-16
    codecs.BOM_UTF8: UTF_8,
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
MOST_OF_A_MARK = 4
# on every machine; Python goes by the machine
_WITHOUT_A_MARK = {"utf-16": "utf-16-le", "utf-32": "utf-32-le"}
_NO_TEXT = "muntin_no_text"


def mark_of(begin: bytes) -> str:
    """The encoding that a byte order mark tells; "" if there is none.

    >>> mark_of("x".encode("utf-16")), mark_of(b"x")
    ('utf-16-le', '')
    """
    return next((encoding for mark, encoding in _MARKS.items() if begin.startswith(mark)), "")


def in_utf_8(parts: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """The parts of a text in UTF-8, without a mark. For bytes that are none of the encoding stands 0xff,
    which UTF-8 never has.

    What is in UTF-8 stays as it is. `encoding`: of a text without a byte order mark.
    """
    rest, begin = iter(parts), b""
    while len(begin) < MOST_OF_A_MARK and (more := next(rest, b"")):
        begin += more
    mark, actual_encoding = next(
        ((mark, actual_encoding) for mark, actual_encoding in _MARKS.items() if begin.startswith(mark)),
        (b"", encoding),
    )
    rest = chain([begin[len(mark) :]], rest)
    if actual_encoding == UTF_8:
        yield from rest
        return
    name = codecs.lookup(actual_encoding).name
    decoder = codecs.getincrementaldecoder(_WITHOUT_A_MARK.get(name, name))(_NO_TEXT)
    for part in rest:
        yield decoder.decode(part).encode(errors=_NO_TEXT)
    yield decoder.decode(b"", final=True).encode(errors=_NO_TEXT)


def _no_text(wrong: UnicodeError) -> tuple[str | bytes, int]:
    """A replacement for what is no text: of bytes half of a pair of UTF-16, which no text has; of such a half
    0xff.
    """
    if isinstance(wrong, UnicodeDecodeError):
        return "\udcff", wrong.end
    if isinstance(wrong, UnicodeEncodeError):
        return b"\xff", wrong.end
    raise wrong


codecs.register_error(_NO_TEXT, _no_text)
