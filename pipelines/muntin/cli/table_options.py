"""The options of commands that print a table or write it to a file."""

from pathlib import Path
from typing import Annotated

import typer

from muntin.cli.table_formats import FORMATS, Format, check_place
from muntin.definition.spelling import did_you_mean

_ENDINGS = {f".{form}": form for form in FORMATS}


def _format(text: str) -> Format:
    if text not in FORMATS:
        raise typer.BadParameter(
            f"there is no format {text!r}; there are {', '.join(FORMATS)}{did_you_mean(text, FORMATS)}"
        )
    return text


Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE", help=f"Write all windows to a file; {', '.join(_ENDINGS)}."),
]
Limit = Annotated[
    int | None,
    typer.Option(
        "--limit",
        min=0,
        metavar="ROWS",
        help="At most so many; 0 is all. 20, or all with a format or a file.",
    ),
]
Form = Annotated[
    str | None,
    typer.Option(
        "--format",
        parser=_format,
        metavar="FORMAT",
        help=f"How the windows are written; {', '.join(FORMATS)}.",
    ),
]
Csv = Annotated[bool, typer.Option("--csv", help="As --format csv.")]


def format_asked(form: str | None, out: Path | None, *, as_csv: bool, as_json: bool) -> Format | None:
    """The format to write; None: a table for people, or the command's document."""
    if as_json + as_csv + (form is not None) > 1:
        raise typer.BadParameter("--format, --json and --csv exclude each other")
    if out is None:
        stdout_format = _format(form) if form else "csv" if as_csv else None
        check_place(stdout_format)
        return stdout_format
    if out.suffix not in _ENDINGS and not form:
        raise typer.BadParameter(f"--out {out}: end it in {', '.join(_ENDINGS)}, or name a --format")
    return _format(form) if form else _ENDINGS[out.suffix]
