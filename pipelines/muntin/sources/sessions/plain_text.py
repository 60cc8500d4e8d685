"""Files of text as plain text: not compressed, and in UTF-8, of any encoding that Python knows.

What a compressed file says of its content is checked: checksum and length. A byte order mark counts more than
what a definition says. Facts of whole files are asked for once (`answered_once`): a run needs the types of
its first file when it checks the definition, and again when it reads that file.
"""

from __future__ import annotations

import codecs
import gzip
import io
import os
import zlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Any, TypeVar, cast

import pyarrow as pa

from muntin.definition.relative_paths import is_object_store
from muntin.errors import MissingPackageError, SourceError, StorageError
from muntin.files.paths import stat_of
from muntin.files.weighted_cache import WeightedCache
from muntin.sources.dialect import ENVELOPES, JSON, SHEET, UTF_8
from muntin.sources.sessions.fetched_files import KEPT_BYTES, InParts, fetched

Facts = tuple[int, int, int | str]
_Text = tuple[Facts, bytes | SpooledTemporaryFile[bytes], int]


_MARKS = {  # marks of UTF-32 begin as marks of UTF-16
    codecs.BOM_UTF8: UTF_8,
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
MOST_OF_A_MARK = 4
# on every machine; Python goes by the machine
_WITHOUT_A_MARK = {"utf-16": "utf-16-le", "utf-32": "utf-32-le"}
_NO_TEXT = "muntin_no_text"


def mark_of(begin: bytes) -> str:
    """The encoding that a byte order mark tells; "" if there is none.

    >>> mark_of("x".encode("utf-16")), mark_of(b"x")
    ('utf-16-le', '')
    """
    return next((encoding for mark, encoding in _MARKS.items() if begin.startswith(mark)), "")


def in_utf_8(parts: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """The parts of a text in UTF-8, without a mark. For bytes that are none of the encoding stands 0xff,
    which UTF-8 never has.

    What is in UTF-8 stays as it is. `encoding`: of a text without a byte order mark.
    """
    rest, begin = iter(parts), b""
    while len(begin) < MOST_OF_A_MARK and (more := next(rest, b"")):
        begin += more
    mark, actual_encoding = next(
        ((mark, actual_encoding) for mark, actual_encoding in _MARKS.items() if begin.startswith(mark)),
        (b"", encoding),
    )
    rest = chain([begin[len(mark) :]], rest)
    if actual_encoding == UTF_8:
        yield from rest
        return
    name = codecs.lookup(actual_encoding).name
    decoder = codecs.getincrementaldecoder(_WITHOUT_A_MARK.get(name, name))(_NO_TEXT)
    for part in rest:
        yield decoder.decode(part).encode(errors=_NO_TEXT)
    yield decoder.decode(b"", final=True).encode(errors=_NO_TEXT)


def _no_text(wrong: UnicodeError) -> tuple[str | bytes, int]:
    """Half of a pair of UTF-16, which no text has, for bytes that are none; 0xff for such a half."""
    if isinstance(wrong, UnicodeDecodeError):
        return "\udcff", wrong.end
    if isinstance(wrong, UnicodeEncodeError):
        return b"\xff", wrong.end
    raise wrong


codecs.register_error(_NO_TEXT, _no_text)


_LARGE = 2  # files whose contents stay on the disk while the process lives, for what is read next of them
_PART, _STORED_PART = 2**20, 2**23  # bytes that are read at once, of a disk and of an object store


class DamagedError(SourceError):
    """A file is cut off or damaged. `problem`: the error without the path."""

    def __init__(self, path: str, wrong: Exception | str) -> None:
        self.problem = f"is cut off or damaged ({wrong})"
        super().__init__(f"{path} {self.problem}")


def is_plain(path: str, encoding: str) -> bool:
    """Whether a file is plain text as it stands. `encoding`: as `Dialect.made_plain` says it."""
    if encoding not in (UTF_8, f"{UTF_8}+{JSON}") or path.lower().endswith((".gz", ".zst")):
        return False
    of_json = encoding != UTF_8
    if of_json:
        from muntin.sources.sessions.json_lines import BEGIN, are_lines
    first = BEGIN if of_json else MOST_OF_A_MARK
    with suppress(OSError, StorageError), opened(path, first) as raw:  # which reading tells
        begin = raw.read(first)
        return not mark_of(begin) and (not of_json or are_lines(begin))
    return True


# contents that were read last, small ones in memory, large ones on the disk: a task reads a file often
_SMALL_TEXTS = WeightedCache[tuple[str, str], "_Text"](KEPT_BYTES, lambda text: text[2])
_LARGE_TEXTS = WeightedCache[tuple[str, str], "_Text"](_LARGE)


def opened_text(path: str, encoding: str) -> tuple[IO[bytes], int]:
    """The content of a file in UTF-8 for reading, and its size in bytes."""
    file, facts = (path, encoding), facts_of(path)
    known_texts = (_SMALL_TEXTS.get(file), _LARGE_TEXTS.get(file))
    _, text, size = next((each for each in known_texts if each and each[0] == facts), None) or (
        facts,
        *_spooled(path, encoding),
    )
    # who reads a text that goes holds it until then
    (_SMALL_TEXTS if isinstance(text, bytes) else _LARGE_TEXTS).keep(file, (facts, text, size))
    if isinstance(text, bytes):
        return io.BytesIO(text), size
    spool = text  # from its first byte, whoever else reads it
    return cast("IO[bytes]", InParts(lambda at, length: os.pread(spool.fileno(), length, at), size)), size


def _spooled(path: str, encoding: str) -> tuple[bytes | SpooledTemporaryFile[bytes], int]:
    """The content of a file, in memory if it is small, and its size in bytes."""
    spool = SpooledTemporaryFile[bytes](KEPT_BYTES)
    size = sum(spool.write(part) for part in parts(path, encoding))
    if size > KEPT_BYTES:
        return spool, size
    with spool:
        spool.seek(0)
        return spool.read(), size


def facts_of(path: str) -> Facts:
    """Facts that change when a file is written: its size, when that was, and its number or ETag."""
    stat = fetched().stat(path) if is_object_store(path) else stat_of(path)
    return stat.st_size, stat.st_mtime_ns, stat.st_ino


def content(path: str, how: str) -> bytes:
    """The content of a file in UTF-8. `how`: as `Dialect.made_plain` says it.

    A DamagedError by its checksum, its length or its end.
    """
    return b"".join(parts(path, how))


def parts(path: str, how: str) -> Iterator[bytes]:
    """The content of a file in UTF-8, in parts. `how`: as `Dialect.made_plain` says it."""
    encoding, _, skipped = how.partition("+")
    if skipped == SHEET:
        from muntin.sources.sheets import sheet_in_lines

        try:
            yield from sheet_in_lines(b"".join(_unpacked(path)))
        except ValueError as wrong:
            raise DamagedError(path, wrong) from wrong
        return
    if skipped == ENVELOPES:
        yield from _envelopes(path, encoding)
        return
    if skipped == JSON:
        yield from _objects(_unpacked(path), encoding)
        return
    left = int(skipped or 0)
    for part in in_utf_8(_unpacked(path), encoding):
        at = 0
        while left and at < len(part):
            end = part.find(b"\n", at)
            left = left - (end >= 0)
            at = end + 1 if end >= 0 else len(part)
        if at < len(part):
            yield part[at:]


def _objects(content: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    from muntin.sources.sessions.json_lines import in_lines

    return in_lines(in_utf_8(content, encoding))


def _envelopes(path: str, encoding: str) -> Iterator[bytes]:
    from muntin.sources.envelopes import OF_AVRO, flattened_lines, messages_in_lines

    rest = _unpacked(path)
    content = chain([begin := next(rest, b"")], rest)
    if not begin.startswith(OF_AVRO):
        yield from flattened_lines(_objects(content, encoding))
        return
    try:
        yield from flattened_lines(messages_in_lines(b"".join(content)))
    except (MissingPackageError, MemoryError, DamagedError):
        raise
    except Exception as wrong:  # whatever a library says of bytes that it cannot read
        raise DamagedError(path, wrong) from wrong


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


T = TypeVar("T")
_ANSWERS = WeightedCache[Hashable, Any](100)


def answered_once(question: str, paths: Sequence[str], answer: Callable[[], T]) -> T:
    """An answer about files; the earlier answer, if no file was written since. An error is not kept.

    `question`: its text, another for another answer. The answer must not be changed. Files of an object store
    are asked about anew: to see that one is still the same is a question, too.
    """
    if any(map(is_object_store, paths)):
        return answer()
    try:
        asked = (question, *map(facts_of, paths))
    except OSError:  # which reading tells
        return answer()
    return _ANSWERS.of(asked, answer)  # type: ignore[no-any-return]
