"""Files of text as they were before they were compressed. What a compressed file says of its content is checked: checksum and length."""

from __future__ import annotations

import gzip
import io
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

import pyarrow as pa

from muntin.definition.relative_paths import is_object_store
from muntin.errors import SourceError
from muntin.sources.sessions.fetched_files import fetched

if TYPE_CHECKING:
    from collections.abc import Iterator

_PART, _STORED_PART = 2**20, 2**23  # bytes that are read at once, of a disk and of an object store


def is_packed(path: str) -> bool:
    """Whether a file is compressed, by the end of its name.

    >>> is_packed("a.csv.gz"), is_packed("a.csv.ZST"), is_packed("a.gz.csv")
    (True, True, False)
    """
    return path.lower().endswith((".gz", ".zst"))


def content(path: str) -> bytes:
    """The content of a file.

    Raises:
        SourceError: it is cut off or damaged, by its checksum or its length. OSError: it cannot be read.
    """
    return b"".join(parts(path))


def parts(path: str) -> Iterator[bytes]:
    """The content of a file, in parts.

    Raises:
        SourceError, OSError: as `content`.
    """
    with _opened(path) as raw:
        stream = _unpacking(path, raw)
        try:
            while part := stream.read(_PART):
                yield part
        except (EOFError, zlib.error, gzip.BadGzipFile, pa.ArrowException) as wrong:
            raise SourceError(f"{path} is cut off or damaged ({wrong})") from wrong
        except OSError as wrong:  # Arrow's, of a checksum
            if wrong.errno is not None:
                raise
            raise SourceError(f"{path} is cut off or damaged ({wrong})") from wrong


def _unpacking(path: str, raw: IO[bytes]) -> IO[bytes] | pa.NativeFile:
    if not is_packed(path):
        return raw
    if path.lower().endswith(".gz"):  # of all members, with zeros behind them, as tapes leave them; other bytes there are refused
        return gzip.GzipFile(fileobj=raw)
    return pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd")


@contextmanager
def _opened(path: str) -> Iterator[IO[bytes]]:
    if is_object_store(path):
        yield io.BufferedReader(fetched().opened(path), _STORED_PART)
        return
    with Path(path).open("rb", buffering=_PART) as raw:
        yield raw
