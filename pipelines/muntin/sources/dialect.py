"""How files of text are written."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

from muntin.errors import DefinitionError

UTF_8 = "utf-8"
JSON: Literal["json"] = "json"
ENVELOPES: Literal["envelopes"] = "envelopes"
SHEET: Literal["sheet"] = "sheet"
_THOUSANDS = ("", ".", ",", " ", "'")
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
        thousands: what stands between the thousands of a number; "": nothing does.
        skip_lines: how many lines at the begin of a file are no part of its rows and header.
        of: "json" of objects, a line each unless they are one array or stand over several lines; `ENVELOPES`
            of messages of Debezium; `SHEET` of a file of Excel; "" of other text.
    """

    quote: str = '"'
    null: tuple[str, ...] = ("",)
    encoding: str = UTF_8
    decimal: str = "."
    header: tuple[str, ...] = ()
    thousands: str = ""
    skip_lines: int = 0
    of: Literal["", "json", "envelopes", "sheet"] = ""

    @property
    def made_plain(self) -> str:
        """How a file becomes plain text: its encoding and, behind a plus, lines to skip or what it is of."""
        if self.of:
            return f"{self.encoding}+{self.of}"
        return f"{self.encoding}+{self.skip_lines}" if self.skip_lines else self.encoding

    @property
    def facts(self) -> dict[str, Any]:
        """The parameters that differ from their defaults: name -> value."""
        return {
            each.name: getattr(self, each.name)
            for each in fields(self)
            if getattr(self, each.name) not in (each.default, JSON)
        }


USUAL = Dialect()


def refuse_unless(possible: object, what: str, given: object, mend: str) -> None:
    """Refuse what a user gave; `mend`: what to give."""
    if not possible:
        raise DefinitionError(f"{what}: {given!r} is not possible; {mend}")


@dataclass(frozen=True, slots=True)
class FileFormat:
    """How files of text are written. See `csv` and `jsonl`."""

    name: Literal["csv", "jsonl"]
    delimiter: str | None = None
    dialect: Dialect = USUAL


def jsonl(*, encoding: str = UTF_8) -> FileFormat:
    """JSON lines: an object a line.

    Args:
        encoding: any that Python knows, as "latin-1" or "utf-16". A byte order mark counts more.

    Raises:
        DefinitionError: an unknown encoding.
    """
    return FileFormat("jsonl", None, Dialect(encoding=_name(encoding)))


def csv(
    *,
    delimiter: str | None = None,
    quote: str = '"',
    null: str | Sequence[str] = "",
    encoding: str = UTF_8,
    decimal: str = ".",
    header: Sequence[str] = (),
    thousands: str = "",
    skip_lines: int = 0,
) -> FileFormat:
    """CSV, with a header unless its names are given.

    Args:
        delimiter: what stands between the values: a comma, in a file `.tsv` a tab, unless given.
        quote: what stands around a value that holds a delimiter or a line end; "" where nothing does.
        null: the texts that are null, as ["", "NA"].
        encoding: any that Python knows, as "latin-1", "windows-1252" or "utf-16". A byte order mark at the
            begin of a file counts more.
        decimal: what stands before the decimals of a number, "." or ",".
        header: the names of the columns of files without a header.
        thousands: what stands between the thousands of a number: ".", ",", " ", "'", or "" for nothing. It
            may be left out; a number that has it elsewhere goes to the quarantine.
        skip_lines: how many lines at the begin of a file are no part of the table, as 1 for Excel's `sep=;`.

    Raises:
        DefinitionError: what cannot be.

    >>> csv(delimiter=";", decimal=",").delimiter
    ';'
    """
    refuse_unless(
        delimiter is None
        or (isinstance(delimiter, str) and len(delimiter) == 1 and delimiter not in '"\r\n'),
        "delimiter",
        delimiter,
        'give one character, as ";"',
    )
    refuse_unless(
        isinstance(quote, str) and len(quote) <= 1 and quote not in ("\r", "\n"),
        "quote",
        quote,
        'give one character, as "\'", or "" where no value is quoted',
    )
    nulls = (null,) if isinstance(null, str) else tuple(null) if isinstance(null, Sequence) else ()
    refuse_unless(nulls and _are_texts(nulls), "null", null, 'give the texts that are null, as ["", "NA"]')
    refuse_unless(decimal in (".", ","), "decimal", decimal, 'choose "." or ","')
    refuse_unless(
        thousands in _THOUSANDS and thousands != decimal,
        "thousands",
        thousands,
        f"choose one of {', '.join(map(repr, _THOUSANDS[1:]))}, but not decimal={decimal!r}",
    )
    refuse_unless(
        type(skip_lines) is int and skip_lines >= 0,
        "skip_lines",
        skip_lines,
        "give the number of lines above the header, as 1",
    )
    names = tuple(header) if isinstance(header, Sequence) and not isinstance(header, str) else ()
    refuse_unless(
        (names or header == ()) and all(names) and _are_texts(names),
        "header",
        header,
        'give the names of the columns of files that have no header, as ["at", "x"]',
    )
    if len({name.lower() for name in names}) < len(names):
        raise DefinitionError(f"header: a name stands twice in {list(names)!r}")
    how = Dialect(quote, nulls, _name(encoding), decimal, names, thousands, skip_lines)
    return FileFormat("csv", delimiter, how)


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
