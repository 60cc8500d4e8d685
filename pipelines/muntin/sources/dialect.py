"""How a CSV file is written, apart from its delimiter."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from muntin.errors import DefinitionError

if TYPE_CHECKING:
    from collections.abc import Sequence

ENCODINGS = ("utf-8", "latin-1", "utf-16")


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a CSV file is written.

    Attributes:
        quote: what stands around a value that holds a delimiter or a line end; "": nothing does.
        null: the texts that are null.
        encoding: of the file, one of `ENCODINGS`.
        decimal: what stands before the decimals of a number, "." or ",".
        header: the names of the columns, of a file without a header; () if the first line is the header.
    """

    quote: str = '"'
    null: tuple[str, ...] = ("",)
    encoding: str = "utf-8"
    decimal: str = "."
    header: tuple[str, ...] = ()

    @property
    def facts(self) -> dict[str, Any]:
        """The parameters that differ from their defaults: name -> value."""
        return {each.name: getattr(self, each.name) for each in fields(self) if getattr(self, each.name) != each.default}


USUAL = Dialect()


def dialect(
    quote: str | None, null: str | Sequence[str] | None, encoding: str | None, decimal: str | None, header: Sequence[str] | None
) -> Dialect:
    """How a CSV file is written, of what a user says; None is what is usual.

    Raises:
        DefinitionError: it cannot be.
    """
    said: dict[str, Any] = {"quote": quote, "encoding": encoding, "decimal": decimal}
    said["null"] = (null,) if isinstance(null, str) else None if null is None else tuple(null)
    said["header"] = None if header is None else header if isinstance(header, (str, bool)) else tuple(header)
    if quote is not None and (not isinstance(quote, str) or len(quote) > 1 or quote in ("\r", "\n")):
        raise DefinitionError(f'quote: {quote!r} is not possible; give one character, as "\'", or "" where no value is quoted')
    if said["null"] is not None and not (said["null"] and all(isinstance(text, str) for text in said["null"])):
        raise DefinitionError(f'null: {null!r} is not possible; give the texts that are null, as ["", "NA"]')
    if encoding is not None and encoding not in ENCODINGS:
        raise DefinitionError(f"encoding: {encoding!r} is not possible; choose from {', '.join(map(repr, ENCODINGS))}")
    if decimal is not None and decimal not in (".", ","):
        raise DefinitionError(f'decimal: {decimal!r} is not possible; choose "." or ","')
    names = said["header"]
    if names is not None and (not isinstance(names, tuple) or not names or not all(isinstance(name, str) and name for name in names)):
        raise DefinitionError(
            f'header: {header!r} is not possible; give the names of the columns of files that have no header, as ["at", "x"]'
        )
    if names and len({name.lower() for name in names}) < len(names):
        raise DefinitionError(f"header: a name stands twice in {list(names)!r}")
    return Dialect(**{name: value for name, value in said.items() if value is not None})
