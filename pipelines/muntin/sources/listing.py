"""Which files a batch consists of, whether they are there and whole, and how they are split among tasks.

That depends on the files, never on the cluster. Files by pattern are listed for many patterns at once: a
folder with the files of ten thousand batches is listed once.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fnmatch import filter as names_like
from glob import has_magic
from hashlib import file_digest
from stat import S_ISDIR, S_ISREG
from typing import TYPE_CHECKING

from blake3 import blake3

from muntin.errors import SourceError
from muntin.files.object_path import fits
from muntin.files.paths import etag, listed_together, matching, names_in, path_of, stat_of, stats_of
from muntin.sources.path_templates import check_folders, is_hidden, tells_format

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from muntin.definition.schedule import Interval
    from muntin.files.paths import Stat
    from muntin.sources.file_source import FileSource
    from muntin.sources.logged.table_changes import Step
    from muntin.sources.source import Source


_MAGIC = re.compile(r"[*?[]")
_LAST = "\U0010ffff"
SPLIT_BYTES = 48 * 2**20
WORTH_A_TASK = 4 * 2**20
"""Fewer bytes are read before another task has begun."""
_CORES = 4  # share a batch that is large enough


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of a batch, with its present facts.

    Attributes:
        path: absolute, or an address.
        size: in bytes.
        written_ns: when it was last written, or put in its place, in nanoseconds since 1970; 0 of files that
            are never written anew.
        checksum: the ETag of a file in an object store; of a file that was read, a name of its content.
        source: the name of its source, in a list of the files of several.
        step: its place in the log of a Delta table whose changes are read.
    """

    path: str
    size: int
    written_ns: int
    checksum: str | None = None
    source: str | None = None
    step: Step | None = None


def source_files(
    source: FileSource, intervals: Iterable[Interval]
) -> tuple[dict[Interval, list[SourceFile]], dict[Interval, int]]:
    """The files of each interval, by path, and how many are passed over for their names.

    A folder is a bad file if it has the name of a file, as `part.parquet`; else it is none.
    """
    patterns = {interval: source.patterns(interval) for interval in intervals}
    folders = Folders.of([*patterns.values()])
    paths_of_interval = {interval: folders.matches(pattern) for interval, pattern in patterns.items()}
    untold = [path for paths in paths_of_interval.values() for path in paths if path not in folders.facts]
    facts = {**folders.facts, **stats_of(untold)}
    apart = {
        path
        for interval, paths in paths_of_interval.items()
        for path in paths
        if is_hidden(path, patterns[interval])
    }
    files = {
        interval: _files([path for path in paths if path not in apart], facts)
        for interval, paths in paths_of_interval.items()
    }
    if source.hive:
        check_folders(source.hive, (file.path for each in files.values() for file in each))
    return files, {
        interval: len(_files([path for path in paths if path in apart], facts))
        for interval, paths in paths_of_interval.items()
    }


def _files(paths: Iterable[str], facts: Mapping[str, Stat]) -> list[SourceFile]:
    there = ((path, stat) for path in paths if (stat := facts.get(path)))
    return [
        SourceFile(str(path_of(path).absolute()), stat.st_size, _written_ns(stat), etag(stat))
        for path, stat in there
        if S_ISREG(stat.st_mode) or (S_ISDIR(stat.st_mode) and tells_format(path))
    ]


def source_file(source: Source, path: str) -> SourceFile:
    """A file as it is now."""
    if (size := source.settled(path)) is not None:
        return SourceFile(path, size, 0)
    stat = stat_of(path)
    return SourceFile(path, stat.st_size, _written_ns(stat), etag(stat))


def _written_ns(stat: Stat) -> int:
    """When a file was written, or renamed, or given another time: no writer can set the second of the two."""
    return max(stat.st_mtime_ns, getattr(stat, "st_ctime_ns", 0))


def with_contents(files: Iterable[SourceFile]) -> list[SourceFile]:
    """The files with a name of their content; a file that tasks share, and a folder, has none."""
    return [
        replace(file, checksum=digest(file.path))
        if file.written_ns and not file.checksum and file.size <= SPLIT_BYTES
        else file
        for file in files
    ]


def digest(path: str) -> str | None:
    """A name of the content of a file; None if it cannot be read."""
    with suppress(OSError), path_of(path).open("rb") as content:
        return file_digest(content, blake3).hexdigest(length=16)  # type: ignore[arg-type, call-arg, no-any-return]
    return None


def piece_bytes(total: int) -> int:
    """About how many bytes of a batch a task reads. By the batch alone: sums of floats have other last bits
    in other pieces.

    >>> [total >> 20 for total in (piece_bytes(7 << 20), piece_bytes(9 << 20), piece_bytes(40 << 20),
    ...     piece_bytes(400 << 20))]
    [48, 4, 10, 48]
    """
    tasks = min(_CORES, total // WORTH_A_TASK)
    return min(SPLIT_BYTES, -(-total // tasks)) if tasks > 1 else SPLIT_BYTES


def splits(files: Sequence[SourceFile], *, whole: bool = False) -> list[list[SourceFile]]:
    """Cut a batch's files into pieces of neighbours of about `piece_bytes`; one piece if `whole`."""
    sizes = [file.size for file in files]
    most = min(SPLIT_BYTES, piece_bytes(sum(sizes)) + max(sizes, default=0) // 2)
    pieces: list[list[SourceFile]] = []
    room = 0
    for file in files:
        if not pieces or (file.size > room and not whole):
            pieces.append([])
            room = most
        pieces[-1].append(file)
        room -= file.size
    return pieces


def shares(sizes: Iterable[int], tasks: int) -> list[list[int]]:
    """Deal positions 0, 1, 2... to tasks so that neighbours stay together and sizes even out."""
    weights = [size + 2**20 for size in sizes]
    quota, out, filled = sum(weights) / max(1, tasks), [[]], 0.0  # type: ignore[var-annotated]
    for at, weight in enumerate(weights):
        if out[-1] and filled + weight / 2 > quota * len(out):
            out.append([])
        out[-1].append(at)
        filled += weight
    return out


@dataclass(frozen=True, slots=True)
class Folders:
    """Folders as they were when a pattern first asked for them.

    Attributes:
        names: path of a folder -> the names in it, ascending.
        facts: path of a file -> its facts, where listing its folder gave them.
        paths: of all files that patterns may name, ascending; None where folders are listed one by one.
    """

    names: dict[str, list[str]] = field(default_factory=dict)
    facts: dict[str, Stat] = field(default_factory=dict)
    paths: list[str] | None = None

    @staticmethod
    def of(patterns: Sequence[str]) -> Folders:
        """The folders of some patterns: an object store lists the folders of many patterns at once."""
        listed = listed_together(patterns)
        return Folders() if listed is None else Folders(facts=listed, paths=sorted(listed))

    def matches(self, pattern: str) -> list[str]:
        """A path as it is; of a pattern what `glob.glob(pattern, recursive=True, include_hidden=True)` finds,
        ascending.
        """
        if self.paths is not None:
            head = _MAGIC.split(pattern, maxsplit=1)[0]
            near = self.paths[bisect_left(self.paths, head) : bisect_left(self.paths, head + _LAST)]
            return [path for path in near if fits(path, pattern)]
        folder, _, name = pattern.rpartition("/")
        if not has_magic(pattern):
            return [pattern]
        if not folder or folder.endswith("/") or has_magic(folder) or "**" in name:
            return matching(pattern)
        begin = _MAGIC.split(name, maxsplit=1)[0]
        if folder not in self.names:
            stats_of_names = names_in(folder)
            self.facts.update((f"{folder}/{name}", stat) for name, stat in stats_of_names.items() if stat)
            self.names[folder] = [*stats_of_names]
        names = self.names[folder]
        near = names[bisect_left(names, begin) : bisect_left(names, begin + _LAST)]
        ends = names_like([each[len(begin) :] for each in near], name[len(begin) :])
        return [f"{folder}/{begin}{end}" for end in ends]


def not_there(message: str) -> SourceError:
    """The error of an interval whose rows are not there yet, or not whole."""
    wrong = SourceError(message)
    wrong.is_there = False
    return wrong


def check_found(source: FileSource, interval: Interval, files: Sequence[SourceFile], hidden: int = 0) -> None:
    """Refuse an interval without files, if the source says so.

    `hidden`: how many files were passed over for their names.
    """
    if not files and source.missing == "error":
        passed = (
            f" but {hidden} whose names begin with _ or ., read only if path says so, as _*.csv"
            if hidden
            else ""
        )
        raise not_there(
            f"no file at {source.patterns(interval)} for the interval {interval}{passed}; bring it, "
            f'or say missing="empty" in sources.files(...) if an interval without files is an empty batch'
        )


def check_ready(source: FileSource, interval: Interval, files: Sequence[SourceFile]) -> None:
    """Refuse an interval whose files may not be whole:

    `source.ready` has to be there for each of their folders, if it is asked for.
    """
    if source.ready is None:
        return
    for folder, *above in _folders(source, interval, files):
        if not any(path_of(each, source.ready).exists() for each in (folder, *above)):
            instead = f" (nor in a folder above it, up to {above[-1]})" if above else ""
            raise not_there(
                f"{folder}/{source.ready} is not there yet{instead}, which says that the files of the"
                f" interval {interval} are whole (ready={source.ready!r}); run again when their writer is"
                " done"
            )


def _folders(source: FileSource, interval: Interval, files: Sequence[SourceFile]) -> list[list[str]]:
    """The folders that have to have the file, each with the folders above it that may have it instead.

    Of a pattern with `**` the folders with files: the writer of all of them may say in the folder before `**`
    that it is done.
    """
    pattern = str(path_of(source.patterns(interval)).absolute()).rpartition("/")[0]
    if "**" not in pattern.split("/"):
        return [[each] for each in _found(pattern)]
    fixed = pattern.split("/")[: pattern.split("/").index("**")]
    below = [tuple(file.path.split("/")[:-1]) for file in files]
    chains = [
        ["/".join(parts[:end]) for end in range(len(parts), len(fixed) - 1, -1)]
        for parts in dict.fromkeys(below)
    ]
    return chains or [[each] for each in _found("/".join(fixed))]


def _found(pattern: str) -> list[str]:
    """The folders that a pattern names; the pattern where there are none."""
    folders = [each for each in matching(pattern) if path_of(each).is_dir() and not is_hidden(each, pattern)]
    return folders or [pattern]
