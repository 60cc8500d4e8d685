"""How a CSV file is written, apart from its delimiter."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from muntin.errors import DefinitionError

if TYPE_CHECKING:
    from collections.abc import Sequence

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


def dialect(
    quote: str | None,
    null: str | Sequence[str] | None,
    encoding: str | None,
    decimal: str | None,
    header: Sequence[str] | None,
) -> Dialect:
    """How a CSV file is written, of what a user says; None is what is usual."""
    said: dict[str, Any] = {"quote": quote, "encoding": encoding, "decimal": decimal}
    said["null"] = (null,) if isinstance(null, str) else None if null is None else tuple(null)
    said["header"] = None if header is None else header if isinstance(header, (str, bool)) else tuple(header)
    if quote is not None and (not isinstance(quote, str) or len(quote) > 1 or quote in ("\r", "\n")):
        raise DefinitionError(
            f'quote: {quote!r} is not possible; give one character, as "\'", or "" where no value is quoted'
        )
    if said["null"] is not None and not (
        said["null"] and all(isinstance(text, str) for text in said["null"])
    ):
        raise DefinitionError(f'null: {null!r} is not possible; give the texts that are null, as ["", "NA"]')
    said["encoding"] = None if encoding is None else _known(encoding)
    if decimal is not None and decimal not in (".", ","):
        raise DefinitionError(f'decimal: {decimal!r} is not possible; choose "." or ","')
    names = said["header"]
    if names is not None and (
        not isinstance(names, tuple) or not names or not all(isinstance(name, str) and name for name in names)
    ):
        raise DefinitionError(
            f"header: {header!r} is not possible; give the names of the columns of files that have no header,"
            ' as ["at", "x"]'
        )
    if names and len({name.lower() for name in names}) < len(names):
        raise DefinitionError(f"header: a name stands twice in {list(names)!r}")
    return Dialect(**{name: value for name, value in said.items() if value is not None})


def _known(encoding: object) -> str:
    """The name of an encoding, as a user gave it; every name of UTF-8 is `UTF_8`, as files in it are read
    wherever they have a mark.
    """
    try:
        "".encode(encoding)  # type: ignore[arg-type]  # which it tells, and what is no encoding of text
        name = codecs.lookup(encoding).name  # type: ignore[arg-type]
    except (LookupError, TypeError, ValueError):
        name = ""
    if not name or name.replace("-", "_") in _NO_ENCODINGS:
        raise DefinitionError(
            f"encoding: {encoding!r} is not possible; give the name of an encoding that Python knows, "
            f'as "latin-1", "windows-1252" or "utf-16"'
        )
    return UTF_8 if name in (UTF_8, "utf-8-sig") else str(encoding)
