"""The source of a pipeline, as its user defines it. Nothing is read here."""

from __future__ import annotations

import glob
import string
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from pipelines.definition.instants import from_us
from pipelines.errors import DefinitionError
from pipelines.windows.clock.zones import zone

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipelines.definition.schedule import Interval

Unit = Literal["s", "ms", "us", "ns"]
Missing = Literal["error", "empty"]
Format = Literal["parquet", "csv", "json"]
FORMATS: dict[str, Format] = {
    "parquet": "parquet",
    "pq": "parquet",
    "csv": "csv",
    "tsv": "csv",
    "json": "json",
    "jsonl": "json",
    "ndjson": "json",
}
COMPRESSED = (".gz", ".zst")


@dataclass(frozen=True, slots=True)
class FileSource:
    """Files by path template. See `files`."""

    path: str
    event_time: str
    unit: Unit | None = None
    timezone: str | None = None
    missing: Missing = "error"
    format: Format = "parquet"
    types: Mapping[str, str] = field(default_factory=dict)
    arrival_order: str | None = None
    arrival_time: str | None = None

    upstream = None
    section = order = ()

    def below(self, home: str | Path) -> FileSource:
        """The same files, a relative path below a folder, no character of whose name means anything in the template."""
        if "://" in self.path or Path(self.path).is_absolute():
            return self
        folder = glob.escape(str(Path(home).absolute())).replace("{", "{{").replace("}", "}}")
        return replace(self, path=f"{folder}/{self.path}")

    def patterns(self, interval: Interval) -> str:
        """The path or glob of an interval's files."""
        return self.path.format(start=from_us(interval.start_us), end=from_us(interval.end_us))


def files(
    path: str,
    *,
    event_time: str,
    unit: Unit | None = None,
    timezone: str | None = None,
    missing: Missing = "error",
    format: Format | None = None,  # noqa: A002 - the word users know
    types: Mapping[str, str] | None = None,
    arrival_order: str | None = None,
    arrival_time: str | None = None,
) -> FileSource:
    """Files of Parquet, CSV (with a header) or JSON lines, plain or compressed (.gz, .zst).

    Args:
        path: where a batch's files are: a template over the data interval, as "data/{start:%Y-%m-%d}/*.parquet";
            `{start}` and `{end}` take strftime formats, in UTC; `*`, `?`, `[...]` and `**` are globs.
        event_time: the column that says when an event happened: a timestamp, text that reads as one, or an integer.
        unit: of an integer event time.
        timezone: the zone of event times that have none; UTC unless said.
        missing: what an interval without files is: an "error", or an "empty" batch.
        format: of the files; what the name ends in unless said.
        types: column -> SQL type, where a file's own content would say otherwise from day to day, as in CSV and JSON.
        arrival_order: a column that orders the rows of a batch by arrival; file path and position in the file unless
            said. A batch is then read by one task.
        arrival_time: the column that says when a row arrived, in the same unit and zone as event times, for windows
            that go by the clock; rows are ordered by it unless `arrival_order` says otherwise.

    Raises:
        DefinitionError: a template with other fields, an unknown format, unit, zone or word for `missing`.
    """
    if not isinstance(event_time, str) or not event_time:
        raise DefinitionError(f"event_time: {event_time!r} is not the name of a column")
    for what, choice, choices in (
        ("unit", unit, (None, *get_args(Unit))),
        ("missing", missing, get_args(Missing)),
        ("format", format, (None, *get_args(Format))),
    ):
        if choice not in choices:
            raise DefinitionError(f"{what}: {choice!r} is not possible; choose from {', '.join(repr(c) for c in choices if c)}")
    if timezone is not None:
        zone(timezone)
    _check_template(path)
    return FileSource(
        str(path),
        event_time,
        unit,
        timezone,
        missing,
        format or _format_of(str(path)),
        dict(types or {}),
        arrival_order or arrival_time,
        arrival_time,
    )


def _check_template(path: object) -> None:
    try:
        names = {name for _, name, _, _ in string.Formatter().parse(str(path)) if name is not None}
        str(path).format(start=from_us(0), end=from_us(0))
    except (ValueError, KeyError, IndexError, AttributeError) as wrong:
        raise DefinitionError(_template_help(path, str(wrong))) from None
    if names - {"start", "end"}:
        raise DefinitionError(_template_help(path, f"unknown {sorted(names - {'start', 'end'})}"))


def _template_help(path: object, wrong: str) -> str:
    return (
        f"path: {str(path)!r} is not a template over the data interval ({wrong}); "
        f'write "data/{{start:%Y-%m-%d}}.parquet", with {{start:...}}, {{end:...}} and globs'
    )


def _format_of(path: str) -> Format:
    stem = path
    for ending in COMPRESSED:
        stem = stem.removesuffix(ending)
    ending = stem.rsplit("/", 1)[-1].rsplit(".", 1)[-1].lower()
    if ending not in FORMATS:
        raise DefinitionError(f'path: cannot tell the format of {path!r} from its ending; say format="parquet", "csv" or "json"')
    return FORMATS[ending]
