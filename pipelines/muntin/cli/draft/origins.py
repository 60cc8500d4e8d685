"""Where rows are: the begin of a source and the schedule, of files, of a Delta table, and of a database."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from muntin.cli.draft.columns import Looked, looked_at
from muntin.cli.draft.numbers import Marks
from muntin.cli.draft.paths import Dated
from muntin.cli.draft.reading import Sample
from muntin.cli.draft.results import spelled
from muntin.cli.draft.table import Column
from muntin.definition.spelling import many
from muntin.errors import DefinitionError

_FIRST = datetime(1900, 1, 1, tzinfo=UTC)
_DAY = timedelta(days=1)
_MOST = 31  # days of a first run of a database


@dataclass(frozen=True, slots=True)
class Origin:
    """The begin of a source, its last arguments, the schedule, and the range of a first run.

    Attributes:
        about: the origin in words.
        second: where the second batch begins.
    """

    about: str
    begin: list[str]
    schedule: list[str]
    first: datetime
    second: datetime
    last: datetime
    rest: list[str] = field(default_factory=list)


def shown(at: datetime) -> str:
    """An instant as the command line takes it."""
    return f"{at:%Y-%m-%d}" if not at.hour else f"{at:%Y-%m-%dT%H:%M}"


def origin_of(sample: Sample, files: Dated | None, border: str, time: Looked) -> Origin:
    """The origin of a sample; `border`: what the dates in the names of files are, start or end."""
    if sample.form == "delta":
        return _of_delta(sample)
    if sample.form == "sql":
        return _of_database(sample, time)
    return _of_dated(sample, files, border) if files else _of_undated(sample)


def _of_dated(sample: Sample, files: Dated, border: str) -> Origin:
    first, example = files.start(border), sample.paths[0].rpartition("/")[2]
    about = many(len(sample.paths), "file")
    return Origin(
        about,
        [
            "source=sources.files(",
            f"    # {files.form} in the name is the {border} of a batch, as {example}",
            f"    {spelled(files.template(border))},",
        ],
        [
            f"# {about} from {shown(min(files.dates))} to {shown(max(files.dates))}",
            *_begins(first, files.schedule),
        ],
        first,
        files.moved(first, 1),
        files.end(border),
        [
            f"    # there is no file of {shown(files.holes[0])}: no event, it is assumed",
            '    missing="empty",',
        ]
        if files.holes
        else [],
    )


def _of_undated(sample: Sample) -> Origin:
    days = (sample.written_at - _FIRST).days + 2
    last = _FIRST + timedelta(days=days)
    return Origin(
        many(len(sample.paths), "file"),
        [
            "source=sources.files(",
            f"    # no date in the name: all rows are one batch, as {sample.paths[0].rpartition('/')[2]}",
            f"    {spelled(sample.pattern)},",
        ],
        [
            f"# a batch up to {shown(last)}, when the file had been written; the next",
            "# ends in a century: for rows that come later write a file a day, with the day in its name",
            *_begins(_FIRST, f"{days}d"),
        ],
        _FIRST,
        last,
        last,
        ["    all_files=True,"],
    )


def _of_delta(sample: Sample) -> Origin:
    day = _midnight(sample.written_at)
    return Origin(
        "a Delta table",
        ["source=sources.table(", f"    {spelled(sample.paths[0])},"],
        [
            f"# the day of the table's last commit, {sample.written_at:%Y-%m-%dT%H:%MZ}: the first batch has",
            "# all rows up to its end, each later batch what the commits of its day add",
            *_begins(day, "@daily"),
        ],
        day,
        day + _DAY,
        day + _DAY,
    )


def _of_database(sample: Sample, time: Looked) -> Origin:
    how, name = _as_bordered(time), time.name
    mark = "`" if sample.paths[0].startswith(("mysql", "mariadb")) else '"'
    column = name if re.fullmatch("[a-z_][a-z0-9_]*", name) else f"{mark}{name}{mark}"
    ends = looked_at(
        Column(name, sample.ends(column), [1, 2]), Marks(), is_text=False, is_split_by_comma=False
    )
    first, newest = map(_midnight, ends.times.values) if ends.times else (_FIRST, _FIRST)
    query = f"SELECT * FROM {sample.pattern} WHERE {column} >= {{start{how}}} AND {column} < {{end{how}}}"
    return Origin(
        f"the table {sample.pattern}",
        [
            "source=sources.sql(",
            f"    {spelled(sample.paths[0])},",
            "    # a row that comes or changes later is seen once changed= names the column that says when",
            f"    {spelled(query)},",
        ],
        [f"# {name} goes from {shown(first)} to {shown(newest)}", *_begins(first, "@daily")],
        first,
        first + _DAY,
        min(newest + _DAY, first + _MOST * _DAY),
    )


def _as_bordered(time: Looked) -> str:
    """The format of {start} and {end} beside a column: texts are compared by their days."""
    if not isinstance(time.cells[0], str):
        return f":{unit}" if time.times and (unit := time.times.arguments.get("unit")) else ""
    form = time.times.arguments.get("format", "%Y-%m-%d") if time.times else ""
    zones = {str(each)[-6:] for each in time.cells} if time.times and time.times.is_zoned else set()
    if form.startswith("%Y") and all(zone.endswith(("Z", "+00:00")) for zone in zones):
        return f":{form.split(' ')[0]}"
    raise DefinitionError(
        f"--from: {time.name} has texts, as {time.cells[0]}, whose order is not that of time: make a view of"
        " the table in which it is a time, or a text as 2024-05-01 12:00:00 in UTC, and name the view"
    )


def _midnight(at: datetime) -> datetime:
    return at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def _begins(first: datetime, schedule: str) -> list[str]:
    hour = f", {first.hour}" if first.hour else ""
    return [
        f'schedule="{schedule}",',
        f"start=datetime({first.year}, {first.month}, {first.day}{hour}, tzinfo=UTC),",
    ]
