"""Which files a batch consists of, and how they are split among tasks. Depends on the files, never on the cluster."""

from __future__ import annotations

import os
from dataclasses import dataclass
from errno import ELOOP, ENOENT, ENOTDIR
from functools import partial
from glob import glob
from hashlib import blake2b, file_digest
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import TYPE_CHECKING

from pipelines.errors import SourceError
from pipelines.sources.folders import Folders
from pipelines.sources.path_templates import tells_format

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pipelines.definition.schedule import Interval
    from pipelines.sources import Source
    from pipelines.sources.files import FileSource

SPLIT_BYTES = 48 * 2**20
_NOTHING = (ENOENT, ENOTDIR, ELOOP)


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file of a batch as it is.

    Attributes:
        path: absolute.
        size: in bytes.
        written_ns: when it was last written, in nanoseconds since 1970; 0 of files that are never written anew.
        checksum: of its content, where the source asks for it.
    """

    path: str
    size: int
    written_ns: int
    checksum: str | None = None


def source_files(source: FileSource, intervals: Iterable[Interval]) -> dict[Interval, list[SourceFile]]:
    """The files of each interval, by path. A folder is a bad file if it has the name of a file, as `part.parquet`; else it is none."""
    folders = Folders()
    return {interval: _files(folders.matches(source.patterns(interval))) for interval in intervals}


def _files(paths: Iterable[str]) -> list[SourceFile]:
    stats = [(path, _stat(path)) for path in paths]
    return [
        SourceFile(str(Path(path).absolute()), stat.st_size, stat.st_mtime_ns)
        for path, stat in stats
        if stat and (S_ISREG(stat.st_mode) or (S_ISDIR(stat.st_mode) and tells_format(path)))
    ]


def _stat(path: str) -> os.stat_result | None:
    """What the disk tells of a path; None if there is nothing. A run asks for each file of its batches."""
    try:
        return os.stat(path)  # noqa: PTH116 - a Path takes twice as long
    except OSError as wrong:
        if wrong.errno in _NOTHING:
            return None
        raise


def check_found(source: FileSource, interval: Interval, files: Sequence[SourceFile]) -> None:
    """Refuse an interval without files.

    Raises:
        SourceError: there are none and the source says that is an error.
    """
    if not files and source.missing == "error":
        raise SourceError(
            f"no file at {source.patterns(interval)} for the interval {interval}; bring it, "
            f'or say missing="empty" in sources.files(...) if an interval without files is an empty batch'
        )


def check_ready(source: FileSource, interval: Interval) -> None:
    """Refuse an interval whose files may not be whole: of each of their folders `source.ready` has to be there, if it is asked for.

    Raises:
        SourceError: names the path that is not there.
    """
    if source.ready is None:
        return
    folder = source.patterns(interval).rpartition("/")[0]
    for each in sorted(glob(folder, recursive=True)) or [folder]:  # noqa: PTH207 - Path.glob takes no absolute pattern
        if not Path(each, source.ready).exists():
            raise SourceError(
                f"{each}/{source.ready} is not there yet, which says that the files of the interval {interval} are whole "
                f"(ready={source.ready!r}); run again when their writer is done"
            )


def source_file(source: Source, path: str) -> SourceFile:
    """A file as it is now, with its checksum if the source asks for it.

    Raises:
        FileNotFoundError: it is gone.
    """
    stat = os.stat(path)  # noqa: PTH116 - as in `_stat`
    if source.upstream is not None:
        return SourceFile(path, stat.st_size, 0)
    return SourceFile(path, stat.st_size, stat.st_mtime_ns, _checksum(path) if source.checksum else None)


def _checksum(path: str) -> str:
    with Path(path).open("rb") as content:
        return file_digest(content, partial(blake2b, digest_size=16)).hexdigest()


def splits(files: Sequence[SourceFile], *, whole: bool = False) -> list[list[SourceFile]]:
    """Cut a batch's files into pieces of neighbours of about `SPLIT_BYTES`; one piece if `whole`."""
    pieces: list[list[SourceFile]] = []
    room = 0
    for file in files:
        if not pieces or (file.size > room and not whole):
            pieces.append([])
            room = SPLIT_BYTES
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
