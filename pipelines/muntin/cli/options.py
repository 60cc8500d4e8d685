"""The arguments that commands share, and how they are read."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from muntin.definition.durations import not_negative
from muntin.definition.relative_paths import readable
from muntin.errors import DefinitionError
from muntin.files.paths import AnyPath, path_of


def instant(text: str) -> datetime:
    """A date or an ISO instant, UTC unless it says another zone.

    >>> instant("2013-01-01T06:00").isoformat()
    '2013-01-01T06:00:00+00:00'
    """
    moment = border(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def border(text: str) -> datetime:
    """A date or an ISO instant; without an offset a time of a clock that only the definition says: see
    `muntin.cli.borders`.
    """
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is not an instant; write 2013-01-01, 2013-01-01T06:00 or 2013-01-01T06:00+01:00"
        ) from None


def duration(text: str) -> int:
    """A duration in microseconds.

    >>> duration("90s")
    90000000
    """
    try:
        return not_negative(text, "duration")
    except DefinitionError as wrong:
        raise typer.BadParameter(str(wrong)) from None


def folder(text: str) -> AnyPath:
    """A folder of this machine or of an object store.

    >>> folder("state")
    PosixPath('state')
    """
    try:
        return path_of(readable(text, "folder"))
    except DefinitionError as wrong:
        raise typer.BadParameter(str(wrong)) from None


File = Annotated[
    Path,
    typer.Argument(metavar="FILE", help="The Python file that defines the pipeline.", show_default=False),
]
SomeFile = Annotated[
    Path | None, typer.Argument(metavar="FILE", help="The file that defines the pipeline; all if left out.")
]
Window = Annotated[
    str, typer.Argument(metavar="WINDOW", help="The name of one of its windows.", show_default=False)
]
SomeWindow = Annotated[
    str | None, typer.Argument(metavar="WINDOW", help="The name of one of its windows; all if left out.")
]
Name = Annotated[
    str | None, typer.Option("--pipeline", metavar="NAME", help="Which pipeline, if the file holds several.")
]
Root = Annotated[
    Path | None,  # or an `ObjectPath`: typer knows no unions
    typer.Option(
        "--root",
        parser=folder,
        metavar="FOLDER",
        help="Folder with the state of all pipelines, or s3://bucket/prefix. Default: MUNTIN_ROOT, or state.",
    ),
]
Start = Annotated[
    datetime,
    typer.Option(
        "--start",
        parser=border,
        metavar="INSTANT",
        help="Start of the first batch, by the clock of the schedule.",
    ),
]
End = Annotated[
    datetime, typer.Option("--end", parser=border, metavar="INSTANT", help="End of the last batch.")
]
Validate = Annotated[
    bool, typer.Option("--validate/--no-validate", help="Whether expectations guard what is published.")
]
AllowMissing = Annotated[
    bool,
    typer.Option("--allow-missing", help="Batches that had rows and have no file any more become empty."),
]
Spark = Annotated[
    str | None,
    typer.Option(
        "--spark",
        metavar="URL",
        help="Run tasks on Spark: local[*], spark://host:7077, yarn, k8s://..., sc://host:15002.",
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")]
Limit = Annotated[
    int, typer.Option("--limit", min=0, metavar="ROWS", help="At most so many rows of a table; 0 is all.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout, nothing else.")]
Key = Annotated[
    list[str] | None,
    typer.Option(
        "--key",
        metavar="[NAME=]VALUE",
        help="Only this key; may stand several times. NAME= alone means null or empty.",
    ),
]
From = Annotated[
    datetime | None,
    typer.Option("--from", parser=instant, metavar="INSTANT", help="Only windows that start at or after it."),
]
To = Annotated[
    datetime | None,
    typer.Option("--to", parser=instant, metavar="INSTANT", help="Only windows that end at or before it."),
]
Provisional = Annotated[bool, typer.Option("--provisional", help="Add the windows that are not closed yet.")]
