"""Files as the source of a pipeline: what a definition says of them. Nothing is read here."""

from __future__ import annotations

import glob
from dataclasses import dataclass, replace
from itertools import pairwise, starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from muntin.definition.clocks import UTC_NAME
from muntin.definition.relative_paths import is_object_store
from muntin.definition.schedule import Interval
from muntin.sources.dialect import USUAL, Dialect
from muntin.sources.path_templates import Format, fields_of, stem
from muntin.sources.row_source import RowSource
from muntin.windows.clock import zone

if TYPE_CHECKING:
    from collections.abc import Iterable

    from muntin.definition.schedule import Schedule
    from muntin.sources.source import OnBadFile, OnSchema

Missing = Literal["error", "empty"]
_NEIGHBOURS = 3


@dataclass(frozen=True, slots=True)
class FileSource(RowSource):
    """Files by path template. See `files`.

    `clock`: the zone whose clock `{start}` and `{end}` are by: that of the pipeline's schedule.
    """

    path: str
    missing: Missing = "error"
    format: Format = "parquet"
    all_files: bool = False
    delimiter: str | None = None
    dialect: Dialect = USUAL
    on_bad_file: OnBadFile = "error"
    ready: str | None = None
    on_schema: OnSchema = "error"
    clock: str = UTC_NAME

    blank = None
    call = "sources.files(...)"

    @property
    def bundles(self) -> bool:
        """Whether several batches may be read together: columns of text files are guessed file by file,
        duplicates are found per batch.
        """
        return self.format == "parquet" and not self.dedupe

    @property
    def separator(self) -> str:
        """The delimiter between the values of a CSV file.

        If the file's ending determines it, it is no part of the state's definition.
        """
        return self.delimiter or ("\t" if stem(self.path).lower().endswith(".tsv") else ",")

    def settled(self, path: str) -> None:  # noqa: ARG002 - anybody may write a file
        return

    def below(self, home: str | Path) -> FileSource:
        """The source with its relative path below a folder, no character of whose name means anything in the
        template.
        """
        if is_object_store(self.path) or Path(self.path).is_absolute():
            return self
        folder = glob.escape(str(Path(home).absolute())).replace("{", "{{").replace("}", "}}")
        return replace(self, path=f"{folder}/{self.path}")

    def on_clock(self, zone: str) -> FileSource:
        """The source with the borders in its paths by the clock of a zone."""
        return replace(self, clock=zone)

    def patterns(self, interval: Interval) -> str:
        return self.path.format(**fields_of(interval, self.clock))

    def facts(self, schedule: Schedule) -> dict[str, Any]:  # noqa: ARG002 - as for any source
        return {}

    def misfit(self, schedule: Schedule) -> str | None:
        if self.all_files:
            return None
        borders = [schedule.after(schedule.first_us)]
        for _ in range(_NEIGHBOURS):
            borders.append(schedule.after(borders[-1]))
        neighbours = pairwise(starmap(Interval, pairwise(borders)))
        if same := self._alike(neighbours):
            return (
                f"path: neighbouring batches of the schedule {schedule} would both read"
                f" {self.patterns(same[0])}, and count its rows twice; write {{start:...}} as fine as the"
                " schedule is, as {start:%Y-%m-%dT%H} for hours"
            )
        if same := self._alike(_shown_twice(schedule)):
            return (
                f"path: the batches {same[0]} and {same[1]} would both read {self.patterns(same[0])}, and"
                f" count its rows twice, as the clock of {schedule.timezone} is set back between them; write"
                " {start_utc:...}, or add the offset, as {start:%H%z}"
            )
        return None

    def _alike(self, pairs: Iterable[tuple[Interval, Interval]]) -> tuple[Interval, Interval] | None:
        """The first two batches with one path; None: each has a path of its own."""
        return next(
            (
                (one, other)
                for one, other in pairs
                if one != other and self.patterns(one) == self.patterns(other)
            ),
            None,
        )


def _shown_twice(schedule: Schedule) -> list[tuple[Interval, Interval]]:
    """Pairs of batches at one local time, where the schedule's clock is first set back."""
    if schedule.timezone == UTC_NAME:
        return []
    where = zone(schedule.timezone)
    for change, (before, after) in zip(where.changes[1:], pairwise(where.offsets), strict=True):
        if change >= schedule.first_us and (apart := before - after) > 0:
            intervals = [schedule.around(change - apart - 1)]
            while intervals[-1].end_us < change:
                intervals.append(Interval(intervals[-1].end_us, schedule.after(intervals[-1].end_us)))
            return [(each, schedule.around(each.start_us + apart)) for each in intervals]
    return []
