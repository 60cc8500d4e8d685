"""The arguments that commands share, and how they are read."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from muntin.definition.clocks import zone_info
from muntin.definition.durations import not_negative
from muntin.definition.relative_paths import readable
from muntin.errors import DefinitionError
from muntin.files.paths import AnyPath, path_of

if TYPE_CHECKING:
    from muntin.definition.pipeline import Pipeline


def instant(text: str) -> datetime:
    """A date or an ISO instant, UTC unless it says another zone.

    >>> instant("2013-01-01T06:00").isoformat()
    '2013-01-01T06:00:00+00:00'
    """
    moment = border(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def border(text: str) -> datetime:
    """A date or an ISO instant; without an offset a time of a clock that only the definition says: see
    `muntin.cli.options`.
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
    datetime | None,
    typer.Option(
        "--start",
        parser=border,
        metavar="INSTANT",
        help="Start of the first batch, by the clock of the schedule.",
    ),
]
End = Annotated[
    datetime | None, typer.Option("--end", parser=border, metavar="INSTANT", help="End of the last batch.")
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


def borders(
    pipeline: Pipeline, start: datetime | None, end: datetime | None
) -> tuple[datetime | None, datetime | None]:
    """Start and end as instants: what says no offset is a time of the clock of the pipeline's schedule.

    A time that the clock never shows, or shows twice, is refused.
    """
    return _on_clock(start, pipeline.timezone), _on_clock(end, pipeline.timezone)


def _on_clock(given: datetime | None, timezone: str) -> datetime | None:
    if given is None or given.tzinfo:
        return given
    where = zone_info(timezone)
    first, second = (given.replace(tzinfo=where, fold=fold) for fold in (0, 1))
    if first.utcoffset() == second.utcoffset():
        return first
    shown = f"the clock of {timezone}, which the schedule is by,"
    moved = first.astimezone(UTC).astimezone(where)
    if moved.replace(tzinfo=None) != given:
        raise DefinitionError(
            f"{shown} never shows {_spelled(given)}, as it is put forward; write {_spelled(moved)}"
        )
    raise DefinitionError(
        f"{shown} shows {_spelled(given)} twice; write {_spelled(first)} or {_spelled(second)}"
    )


def _spelled(moment: datetime) -> str:
    return moment.isoformat(timespec="auto" if moment.second or moment.microsecond else "minutes")
