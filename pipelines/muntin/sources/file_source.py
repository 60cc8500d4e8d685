"""Files as the source of a pipeline: what a definition says of them. Nothing is read here."""

from __future__ import annotations

import glob
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from muntin.definition.instants import from_us
from muntin.definition.relative_paths import is_object_store
from muntin.definition.schedule import Interval
from muntin.sources.dialect import USUAL, Dialect
from muntin.sources.path_templates import Format, stem
from muntin.sources.row_source import RowSource

if TYPE_CHECKING:
    from muntin.definition.schedule import Schedule
    from muntin.sources.source import OnBadFile, OnSchema

Missing = Literal["error", "empty"]
_NEIGHBOURS = 3


@dataclass(frozen=True, slots=True)
class FileSource(RowSource):
    """Files by path template. See `files`."""

    path: str
    missing: Missing = "error"
    format: Format = "parquet"
    all_files: bool = False
    checksum: bool = False
    delimiter: str | None = None
    dialect: Dialect = USUAL
    on_bad_file: OnBadFile = "error"
    ready: str | None = None
    on_schema: OnSchema = "error"
    hidden: bool = False

    blank = None
    call = "sources.files(...)"

    @property
    def bundles(self) -> bool:
        """Whether several batches may be read together: columns of text files are guessed file by file, duplicates are found per batch."""
        return self.format == "parquet" and not self.dedupe

    @property
    def separator(self) -> str:
        """The delimiter between the values of a CSV file. If the file's ending determines it, it is no part of the state's definition."""
        return self.delimiter or ("\t" if stem(self.path).lower().endswith(".tsv") else ",")

    def settled(self, path: str) -> None:  # noqa: ARG002 - anybody may write a file
        """None: the facts of a file must be read."""
        return

    def below(self, home: str | Path) -> FileSource:
        """The source with its relative path below a folder, no character of whose name means anything in the template."""
        if is_object_store(self.path) or Path(self.path).is_absolute():
            return self
        folder = glob.escape(str(Path(home).absolute())).replace("{", "{{").replace("}", "}}")
        return replace(self, path=f"{folder}/{self.path}")

    def patterns(self, interval: Interval) -> str:
        """The path or glob of an interval's files."""
        return self.path.format(start=from_us(interval.start_us), end=from_us(interval.end_us))

    def facts(self, schedule: Schedule) -> dict[str, Any]:  # noqa: ARG002 - as for any source
        """No facts determine states, apart from the columns."""
        return {}

    def misfit(self, schedule: Schedule) -> str | None:
        """Why batches of a schedule would not have files of their own, and what to do; None: they have."""
        borders = [schedule.after(schedule.first_us)]
        for _ in range(_NEIGHBOURS):
            borders.append(schedule.after(borders[-1]))
        found = [self.patterns(Interval(start, end)) for start, end in pairwise(borders)]
        for one, next_one in pairwise(found) if not self.all_files else ():
            if one == next_one:
                return (
                    f"path: neighbouring batches of the schedule {schedule} would both read {one}, and count its rows twice; "
                    f"write {{start:...}} as fine as the schedule is, as {{start:%Y-%m-%dT%H}} for hours"
                )
        return None
