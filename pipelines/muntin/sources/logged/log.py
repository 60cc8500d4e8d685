"""The log of a table: which commits there are, when each was made, and which files it added.

A format of tables is a subclass of `Log`, and a line in `table_files`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

from muntin.errors import SourceError
from muntin.sources.repeated_rows import CHANGE
from muntin.sources.tables import TableSource


@dataclass(frozen=True, slots=True)
class Added:
    """A file that a commit added to a table.

    Attributes:
        path: as the log has it; see `Log.address`.
        size: in bytes.
        partition: partition column -> its value as text; None: null.
        marked: whether some of its rows are marked as deleted, where no address says which.
        without: what marks rows as deleted, of Delta a vector as `deletion_vectors` names it; "": nothing.
        only: what names the rows that are meant, in the same way; "": all.
        format: of the file.
    """

    path: str
    size: int
    partition: Mapping[str, str | None] = field(default_factory=dict)
    marked: bool = False
    without: str = ""
    only: str = ""
    format: str = "PARQUET"


class Commit(NamedTuple):
    """The changes of a commit to a table.

    Attributes:
        version: its number.
        operation: what the writer calls it, as WRITE.
        added: the files, in the order of the commit.
        removed: the paths of the files that it removed.
        data_added: the paths of the added files with rows that are new. A compaction adds files without any.
        data_removed: whether rows were removed or changed.
        gone: the removed files whose rows are not merely in other files now.
        feed: the files that say which rows it changed (the change feed); none where its table writes no feed,
            or whole files tell it.
    """

    version: int
    operation: str
    added: Sequence[Added]
    removed: frozenset[str]
    data_added: frozenset[str]
    data_removed: bool
    gone: Sequence[Added] = ()
    feed: Sequence[Added] = ()


@dataclass(frozen=True, slots=True)
class Log(ABC):
    """A table's log as it was when it was read.

    Attributes:
        root: what tells the table from others.
        made_us: version -> when it was committed, ascending by version without a gap.
        kept_by: the setting by which the log is kept, for errors.
        removed_by: what removes files, and the setting that delays it, for errors.
    """

    root: str
    made_us: Mapping[int, int]

    kept_by: ClassVar[str]
    removed_by: ClassVar[tuple[str, str]]

    @property
    def oldest(self) -> int:
        """The first version whose commit is still there."""
        return next(iter(self.made_us), 0)

    @property
    def newest(self) -> int:
        """The last version; -1 of a table without any."""
        return next(reversed(self.made_us), -1)  # type: ignore[call-overload, no-any-return]

    @property
    @abstractmethod
    def whole(self) -> bool:
        """Whether it begins with the table's first commit."""

    @property
    @abstractmethod
    def mark(self) -> int:
        """A number for the present end of the log, for `since`."""

    @abstractmethod
    def since(self, mark: int) -> Sequence[int]:
        """The versions behind a mark; all where it is not known. `mark`: 0 before all."""

    @abstractmethod
    def named(self, versions: Sequence[int]) -> str:
        """Some versions, for people; "" for none."""

    @abstractmethod
    def address(self, added: Added) -> str:
        """The absolute path or the address of a file."""

    @abstractmethod
    def commit(self, version: int) -> Commit:
        """The commit of a version."""

    @abstractmethod
    def held(self, source: TableSource, version: int) -> list[Added]:
        """The files of the table at a version, in the order in which they came."""

    @abstractmethod
    def in_full(self, source: TableSource) -> TableSource:
        """The source with the columns of its table as it is now."""

    @abstractmethod
    def check(self, source: TableSource, added: Sequence[Added]) -> None:
        """Refuse files that cannot be read. `source`: as `in_full` gives it."""


def check_columns(source: TableSource, names: Collection[str], instants: Collection[str]) -> None:
    """Refuse a source that names a column which its table lacks, or a zone where times have one.

    `instants`: the columns that are times with a zone.
    """
    named = {
        "event_time": source.event_time,
        "arrival_time": source.arrival_time,
        "arrival_order": source.arrival_order,
    }
    ids = "id" if source.changes else "dedupe"
    asked = [
        *named.items(),
        *(("types", name) for name in source.types),
        *((ids, name) for name in source.dedupe),
    ]
    for what, name in asked:
        if name and name not in names:
            raise SourceError(
                f"{source.path}: {what}: no column {name!r} in the table; there are {', '.join(names)}; mend"
                f" it in {source.call}"
            )
    if source.timezone and source.event_time in instants:
        raise SourceError(
            f"{source.path}: timezone={source.timezone!r} is for times without a zone, and"
            f" {source.event_time!r} has instants; leave it out"
        )
    if source.changes and CHANGE in names:
        raise SourceError(
            f"{source.path}: its column {CHANGE!r} has the name of a column of the change feed; rename it"
        )
