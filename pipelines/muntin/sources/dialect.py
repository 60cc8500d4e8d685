"""How a CSV file is written, apart from its delimiter."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from muntin.errors import DefinitionError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

UTF_8 = "utf-8"
# of names and of source code, not of files
_NO_ENCODINGS = ("idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined")


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a CSV file is written.

    Attributes:
        quote: what stands around a value that holds a delimiter or a line end; "": nothing does.
        null: the texts that are null.
        encoding: of the file, a name that Python knows.
        decimal: what stands before the decimals of a number, "." or ",".
        header: the names of the columns, of a file without a header; () if the first line is the header.
    """

    quote: str = '"'
    null: tuple[str, ...] = ("",)
    encoding: str = UTF_8
    decimal: str = "."
    header: tuple[str, ...] = ()

    @property
    def facts(self) -> dict[str, Any]:
        """The parameters that differ from their defaults: name -> value."""
        return {
            each.name: getattr(self, each.name)
            for each in fields(self)
            if getattr(self, each.name) != each.default
        }


USUAL = Dialect()


def refuse_unless(possible: object, what: str, given: object, mend: str) -> None:
    """Refuse what a user gave; `mend`: what to give."""
    if not possible:
        raise DefinitionError(f"{what}: {given!r} is not possible; {mend}")


def dialect(
    quote: str | None,
    null: str | Sequence[str] | None,
    encoding: str | None,
    decimal: str | None,
    header: Sequence[str] | None,
) -> Dialect:
    """How a CSV file is written, of what a user says; None is what is usual."""
    nulls = (null,) if isinstance(null, str) else None if null is None else tuple(null)
    names = header if header is None or isinstance(header, (str, bool)) else tuple(header)
    refuse_unless(
        quote is None or (isinstance(quote, str) and len(quote) <= 1 and quote not in ("\r", "\n")),
        "quote",
        quote,
        'give one character, as "\'", or "" where no value is quoted',
    )
    refuse_unless(
        nulls is None or (nulls and _are_texts(nulls)),
        "null",
        null,
        'give the texts that are null, as ["", "NA"]',
    )
    encoding = None if encoding is None else _name(encoding)
    refuse_unless(decimal in (None, ".", ","), "decimal", decimal, 'choose "." or ","')
    refuse_unless(
        names is None or (isinstance(names, tuple) and all(names) and names and _are_texts(names)),
        "header",
        header,
        'give the names of the columns of files that have no header, as ["at", "x"]',
    )
    if names and len({name.lower() for name in names}) < len(names):
        raise DefinitionError(f"header: a name stands twice in {list(names)!r}")
    said = {"quote": quote, "null": nulls, "encoding": encoding, "decimal": decimal, "header": names}
    return Dialect(**{name: value for name, value in said.items() if value is not None})  # type: ignore[arg-type]


def _are_texts(given: Iterable[object]) -> bool:
    return all(isinstance(each, str) for each in given)


def _name(encoding: object) -> str:
    """The name of an encoding, as a user gave it; every name of UTF-8 is `UTF_8`, as files in it are read
    wherever they have a mark.
    """
    try:
        "".encode(encoding)  # type: ignore[arg-type]  # which it tells, and what is no encoding of text
        name = codecs.lookup(encoding).name  # type: ignore[arg-type]
    except (LookupError, TypeError, ValueError):
        name = ""
    refuse_unless(
        name and name.replace("-", "_") not in _NO_ENCODINGS,
        "encoding",
        encoding,
        'give the name of an encoding that Python knows, as "latin-1", "windows-1252" or "utf-16"',
    )
    return UTF_8 if name in (UTF_8, "utf-8-sig") else str(encoding)
