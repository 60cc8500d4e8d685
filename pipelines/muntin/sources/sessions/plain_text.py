"""Files of text as plain text: not compressed, and in UTF-8.

What a compressed file says of its content is checked: checksum and length.
"""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections import OrderedDict
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from tempfile import SpooledTemporaryFile
from threading import Lock
from typing import IO, TYPE_CHECKING, cast

import pyarrow as pa

from muntin.definition.relative_paths import is_object_store
from muntin.errors import SourceError, StorageError
from muntin.files.paths import stat_of
from muntin.sources.dialect import UTF_8
from muntin.sources.sessions.encodings import MOST_OF_A_MARK, in_utf_8, mark_of
from muntin.sources.sessions.fetched_files import KEPT_BYTES, InParts, fetched

if TYPE_CHECKING:
    from collections.abc import Iterator

    Facts = tuple[int, int, int | str]  # size, when it was written, and its number on the disk or its ETag

_LARGE = 2  # files whose contents stay on the disk while the process lives, for what is read next of them
_PART, _STORED_PART = 2**20, 2**23  # bytes that are read at once, of a disk and of an object store


class DamagedError(SourceError):
    """A file is cut off or damaged. `problem`: the error without the path."""

    def __init__(self, path: str, wrong: Exception | str) -> None:
        self.problem = f"is cut off or damaged ({wrong})"
        super().__init__(f"{path} {self.problem}")


def is_plain(path: str, encoding: str) -> bool:
    """Whether a file is plain text as it stands. `encoding`: of a file without a byte order mark."""
    if encoding != UTF_8 or path.lower().endswith((".gz", ".zst")):
        return False
    with suppress(OSError, StorageError), opened(path, MOST_OF_A_MARK) as raw:  # which reading tells
        return not mark_of(raw.read(MOST_OF_A_MARK))
    return True


class PlainTexts:
    """The contents that were read last, small ones in memory, large ones on the disk: a task reads a file
    several times.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str], tuple[Facts, bytes]] = OrderedDict()
        self._large: OrderedDict[tuple[str, str], tuple[Facts, SpooledTemporaryFile[bytes], int]] = (
            OrderedDict()
        )
        self._lock = Lock()

    def opened(self, path: str, encoding: str) -> tuple[IO[bytes], int]:
        """The content of a file for reading, and its size in bytes."""
        facts = facts_of(path)
        with self._lock:
            before, text = self._kept.get((path, encoding), (None, b""))
            large = self._large.get((path, encoding))
            if before:
                self._kept.move_to_end((path, encoding))
            if large:
                self._large.move_to_end((path, encoding))
        if before == facts:
            return io.BytesIO(text), len(text)
        if large and large[0] == facts:
            return _read_apart(large[1], large[2]), large[2]
        spool = SpooledTemporaryFile[bytes](KEPT_BYTES)
        size = sum(spool.write(part) for part in parts(path, encoding))
        spool.seek(0)
        if size > KEPT_BYTES:
            self._keep_large((path, encoding), facts, spool, size)
            return _read_apart(spool, size), size
        with spool:
            data = spool.read()
        self._keep((path, encoding), facts, data)
        return io.BytesIO(data), size

    def _keep(self, file: tuple[str, str], facts: Facts, data: bytes) -> None:
        with self._lock:
            self._kept[file] = facts, data
            while len(self._kept) > 1 and sum(len(each) for _, each in self._kept.values()) > KEPT_BYTES:
                self._kept.popitem(last=False)

    def _keep_large(
        self, file: tuple[str, str], facts: Facts, content: SpooledTemporaryFile[bytes], size: int
    ) -> None:
        with self._lock:
            self._large[file] = facts, content, size
            while len(self._large) > _LARGE:
                self._large.popitem(last=False)  # who reads it holds it until then


@cache
def plain_texts() -> PlainTexts:
    """The contents that this process has read."""
    return PlainTexts()


def _read_apart(content: SpooledTemporaryFile[bytes], size: int) -> IO[bytes]:
    """A file on the disk from its first byte, whoever else reads it."""
    return cast("IO[bytes]", InParts(lambda at, length: os.pread(content.fileno(), length, at), size))


def facts_of(path: str) -> Facts:
    """Facts that change when a file is written: its size, when that was, and its number or ETag."""
    stat = fetched().stat(path) if is_object_store(path) else stat_of(path)
    return stat.st_size, stat.st_mtime_ns, stat.st_ino


def content(path: str, encoding: str) -> bytes:
    """The content of a file in UTF-8. `encoding`: of a file without a byte order mark.

    A DamagedError by its checksum, its length or its end.
    """
    return b"".join(parts(path, encoding))


def parts(path: str, encoding: str) -> Iterator[bytes]:
    """The content of a file in UTF-8, in parts."""
    return in_utf_8(_unpacked(path), encoding)


def encoding_in(path: str, encoding: str) -> str:
    """The encoding that a file is in. `encoding`: of a file without a byte order mark."""
    return mark_of(next(_unpacked(path), b"")) or encoding


def _unpacked(path: str) -> Iterator[bytes]:
    with opened(path, _STORED_PART if is_object_store(path) else _PART) as raw:
        stream = _unpacking(path, raw)
        try:
            while part := stream.read(_PART):
                yield part
        except (EOFError, zlib.error, gzip.BadGzipFile, pa.ArrowException) as wrong:
            raise DamagedError(path, wrong) from wrong
        except OSError as wrong:  # Arrow's, of a checksum
            if wrong.errno is not None:
                raise
            raise DamagedError(path, wrong) from wrong


def _unpacking(path: str, raw: IO[bytes]) -> IO[bytes] | pa.NativeFile:
    # of all members, with zeros behind them, as tapes leave them; other bytes there are refused
    if path.lower().endswith(".gz"):
        return gzip.GzipFile(fileobj=raw)
    return (
        pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd")
        if path.lower().endswith(".zst")
        else raw
    )


@contextmanager
def opened(path: str, at_once: int) -> Iterator[IO[bytes]]:
    """A file for reading as it is, of a disk or of an object store.

    `at_once`: bytes that are read at least.
    """
    if is_object_store(path):
        yield io.BufferedReader(fetched().opened(path), at_once)
        return
    with Path(path).open("rb", buffering=at_once) as raw:
        yield raw
