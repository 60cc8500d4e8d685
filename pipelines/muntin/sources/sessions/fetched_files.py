"""Files of an object store that are read by parts, as DuckDB reads: small files are fetched whole, and before
they are needed.
"""

from __future__ import annotations

import io
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, partial
from threading import Lock
from typing import TYPE_CHECKING

from muntin.definition.relative_paths import is_object_store
from muntin.files.object_path import ObjectPath
from muntin.files.some_rows import file_of
from muntin.files.weighted_cache import WeightedCache

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from typing_extensions import Buffer

    from muntin.files.object_stores import ObjectStat
    from muntin.sources.listing import SourceFile

KEPT_BYTES = 2**26
"""Of files that a task reads several times: for their columns, for each of its frame sets, for their bad
rows.
"""
END_BYTES = 2**16
_ENDS = 64
_AHEAD, _AHEAD_BYTES = 8, 2**24  # files at once, and bytes of the files after the next


class InParts(io.RawIOBase):
    """A file that is open for reading.

    `part`: its bytes from a place on, so many; `size`: of the whole, in bytes.
    """

    def __init__(self, part: Callable[[int, int], bytes], size: int) -> None:
        super().__init__()
        self.part, self.size, self.at = part, size, 0

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self.at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self.at, io.SEEK_END: self.size}[whence]
        return self.at

    def tell(self) -> int:
        return self.at

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int:
        view = memoryview(buffer).cast("B")
        content = self.read(len(view))
        view[: len(content)] = content
        return len(content)

    def read(self, length: int = -1) -> bytes:
        left = max(0, self.size - self.at)
        length = left if length < 0 else min(length, left)
        content = self.part(self.at, length) if length else b""
        self.at += len(content)
        return content


class Fetched:
    """The contents of files that were read last, each by its path and its ETag; and the files that are read
    now.
    """

    def __init__(self) -> None:
        self._whole = WeightedCache[tuple[str, object, int], memoryview](KEPT_BYTES, len)
        self._ends = WeightedCache[tuple[str, object, int], memoryview](_ENDS)
        self._looks: dict[str, Look] = {}
        self._lock = Lock()

    def stat(self, path: str) -> ObjectStat:
        """A file as it is now; during a reading, as it was when it was first asked for."""
        look = self._looks.get(path)
        return look.stat(path) if look else ObjectPath(path).stat()

    def opened(self, path: str) -> InParts:
        """A file for reading.

        Of who reads the end alone, as the footer of Parquet, the end is fetched; else a small file whole.
        """
        stat = self.stat(path)
        return InParts(partial(self._part, path, stat), stat.st_size)

    def fetch(self, path: str) -> ObjectStat:
        """A file as it is now; by the same request its content is kept, if it is small and new."""
        if any(name == path for name, *_ in self._whole):
            return ObjectPath(path).stat()
        stat, content = ObjectPath(path).content(KEPT_BYTES)
        if stat.st_size <= KEPT_BYTES:
            self._whole.keep((path, stat.st_ino, stat.st_mtime_ns), content)
        return stat

    def look(self, paths: Sequence[str], look: Look | None) -> None:
        with self._lock:
            for path in paths:
                if look:
                    self._looks[path] = look
                else:
                    self._looks.pop(path, None)

    def _part(self, path: str, stat: ObjectStat, start: int, length: int) -> bytes:
        if stat.st_size > KEPT_BYTES:
            return ObjectPath(path).part(start, length)
        key = (path, stat.st_ino, stat.st_mtime_ns)
        content = self._whole.get(key)
        behind = stat.st_size
        if content is None and start >= stat.st_size - END_BYTES:
            content = self._ends.of(key, lambda: memoryview(ObjectPath(path).end(END_BYTES)[0]))
            behind = len(content)
        elif content is None:
            now, content = ObjectPath(path).content()
            self._whole.keep((path, now.st_ino, now.st_mtime_ns), content)
        start += behind - stat.st_size
        return bytes(content[start : start + length])


class Look:
    """Files that are read in turn: each is asked for once, and during a reading the next files are asked for.

    `sizes`: path -> bytes that are kept of it, in the order of reading; `ask` gives the facts of a file.
    """

    def __init__(
        self, sizes: Mapping[str, int], ask: Callable[[str], ObjectStat], threads: ThreadPoolExecutor
    ) -> None:
        self._sizes, self._ask, self._threads, self._lock = list(sizes.items()), ask, threads, Lock()
        self._at = {path: at for at, path in enumerate(sizes)}
        self._asked: dict[str, Future[ObjectStat]] = {}

    def stat(self, path: str) -> ObjectStat:
        """A file as it was when it was first asked for."""
        with self._lock:
            for near in self._near(self._at[path]):
                if near not in self._asked:
                    self._asked[near] = self._threads.submit(self._ask, near)
        return self._asked[path].result()

    def _near(self, at: int) -> Iterator[str]:
        """A file, and the files behind it that are asked for meanwhile."""
        yield self._sizes[at][0]
        size = 0
        for path, more in self._sizes[at + 1 : at + _AHEAD]:
            size += more
            if size > _AHEAD_BYTES:
                return
            yield path


@cache
def fetched() -> Fetched:
    """The files that this process has fetched."""
    return Fetched()


def footer_of(path: str) -> str | InParts:
    """A Parquet file for Arrow to read its footer alone. In an object store nothing is asked for that DuckDB
    has asked for already.

    A local file that is missing is Arrow's error.
    """
    file = file_of(path)
    return fetched().opened(file) if is_object_store(file) else file


def fetched_once(files: Sequence[SourceFile]) -> AbstractContextManager[None]:
    """Meanwhile an object store is asked for each of the files once, content and all.

    For who compares the files before and after.
    """
    return _looked_at({file_of(file.path): file.size for file in files}, lambda path: fetched().fetch(path))


def asked_once(paths: Iterable[str]) -> AbstractContextManager[None]:
    """Meanwhile an object store is asked for the facts of each of the files once.

    For who reads their columns, and not their rows.
    """
    return _looked_at(dict.fromkeys(map(file_of, paths), 0), lambda path: ObjectPath(path).stat())


@contextmanager
def _looked_at(sizes: Mapping[str, int], ask: Callable[[str], ObjectStat]) -> Iterator[None]:
    stored = {path: size for path, size in sizes.items() if is_object_store(path)}
    if not stored:
        yield
        return
    with ThreadPoolExecutor(_AHEAD) as threads:
        fetched().look([*stored], Look(stored, ask, threads))
        try:
            yield
        finally:
            fetched().look([*stored], None)
            threads.shutdown(cancel_futures=True)
