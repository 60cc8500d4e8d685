"""The end of a table's log: two files show whether a snapshot is still the newest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from muntin.files.paths import AnyPath

    # inode or ETag, size, time of the last change: another file under the same name is another one
    File = tuple[int | str, int, int]


@dataclass(frozen=True, slots=True)
class LogEnd:
    """The commit that was the last one of a Delta log
    (https://github.com/delta-io/delta/blob/master/PROTOCOL.md#delta-log-entries).

    Attributes:
        path: of the commit.
        after: of the commit that would follow: versions have no holes.
        file: the commit's file as it was; None if there was none, as after a clean-up of the log.
    """

    path: AnyPath
    after: AnyPath
    file: File | None

    @staticmethod
    def of(table: AnyPath, version: int) -> LogEnd:
        """The end of a table's log at a version."""
        path, after = (table / "_delta_log" / f"{number:020d}.json" for number in (version, version + 1))
        return LogEnd(path, after, _file(path))

    def is_still_the_end(self) -> bool:
        """Whether the commit is there, the same, and no commit follows. False if in doubt."""
        return self.is_there() and not self.after.is_file()

    def is_there(self) -> bool:
        """Whether the commit is there, and the same. False if in doubt."""
        return self.file is not None and _file(self.path) == self.file


def _file(path: AnyPath) -> File | None:
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_ino, stat.st_size, stat.st_mtime_ns
