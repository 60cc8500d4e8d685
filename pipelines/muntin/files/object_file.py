"""A file in an object store, with the verbs of `pathlib.Path` that Muntin needs.

A file is written whole. A link is a copy.

An address in an object store, as `s3://bucket/prefix`: its parts and its neighbours.

Nothing is asked of the store.
"""

from __future__ import annotations

import errno
import posixpath
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

from muntin.files.object_stores import ObjectStat, stat_in, to_ask, to_move, worded_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

    import pyarrow as pa


@dataclass(frozen=True, slots=True, order=True)
class Address:
    """An address without a slash at its end."""

    address: str

    def __str__(self) -> str:
        return self.address

    def __truediv__(self, more: str) -> Self:
        return type(self)(f"{self.address}/{more.strip('/')}") if more.strip("/") else self

    @property
    def bucket(self) -> str:
        scheme, _, rest = self.address.partition("://")
        return f"{scheme}://{rest.partition('/')[0]}"

    @property
    def key(self) -> str:
        """The key: the part of the address after the bucket."""
        return self.address[len(self.bucket) + 1 :]

    @property
    def name(self) -> str:
        return posixpath.basename(self.key)

    @property
    def stem(self) -> str:
        return posixpath.splitext(self.name)[0]

    @property
    def suffix(self) -> str:
        return posixpath.splitext(self.name)[1]

    @property
    def parent(self) -> Self:
        """The folder above; of a bucket, the bucket."""
        return type(self)(self.address.rpartition("/")[0]) if self.key else self

    def with_name(self, name: str) -> Self:
        return self.parent / name

    def absolute(self) -> Self:
        """Itself: an address is absolute."""
        return self

    def relative_to(self, folder: Address) -> str:
        if not self.address.startswith(f"{folder.address}/"):
            raise ValueError(f"{self} is not below {folder}")
        return self.address[len(folder.address) + 1 :]


_ONE_REQUEST = 2**26  # bytes; what is larger is written in parts, side by side


class ObjectFile(Address):
    """The file at an address, which may be missing."""

    __slots__ = ()

    def is_file(self) -> bool:
        try:
            self.head()
        except FileNotFoundError:
            return False
        return True

    def content(self, most: float = inf) -> tuple[ObjectStat, memoryview]:
        """The facts of the file and its content, by one request; the content is left out if it has more than
        `most` bytes.
        """
        import obstore

        with worded_errors(self.address):
            answer = obstore.get(to_move(self.bucket), self.key)
            stat = stat_in(answer.meta)
            return stat, memoryview(answer.bytes() if stat.st_size <= most else b"")

    def read_bytes(self) -> bytes:
        return bytes(self.readable())

    def readable(self) -> pa.Buffer:
        """The content where Arrow reads it."""
        import pyarrow as pa

        return pa.py_buffer(self.content()[1])

    def read_text(self, encoding: str = "utf-8") -> str:
        return self.read_bytes().decode(encoding)

    def open(self, _mode: str = "rb") -> pa.BufferReader:
        """The content as a file that is open for reading."""
        import pyarrow as pa

        return pa.BufferReader(self.readable())

    def end(self, size: int) -> tuple[bytes, int]:
        """The last bytes, at most so many, and the size of the whole."""
        import obstore
        from obstore.exceptions import NotSupportedError

        with worded_errors(self.address):
            try:
                answer = obstore.get(to_move(self.bucket), self.key, options={"range": {"suffix": size}})
                return bytes(answer.bytes()), answer.meta["size"]
            except NotSupportedError:  # Azure has no ranges that are counted from the end
                whole = obstore.head(to_ask(self.bucket), self.key)["size"]
                return self.part(max(0, whole - size), min(size, whole)) if whole else b"", whole

    def part(self, start: int, length: int) -> bytes:
        import obstore

        with worded_errors(self.address):
            return bytes(obstore.get_range(to_move(self.bucket), self.key, start=start, length=length))

    def parts(self, ranges: Sequence[tuple[int, int]]) -> list[memoryview]:
        """The bytes of several ranges, from a place to before another, fetched side by side."""
        import obstore

        starts, ends = zip(*ranges, strict=True)
        with worded_errors(self.address):
            contents = obstore.get_ranges(to_move(self.bucket), self.key, starts=starts, ends=ends)
            return [memoryview(content) for content in contents]

    def write_bytes(self, content: bytes | memoryview) -> int:
        """Write the file: whole, or not at all.

        Up to `_ONE_REQUEST` by one request, which leaves nothing behind if it is cut off.
        """
        import obstore

        view = memoryview(content).cast("B")
        with worded_errors(self.address):
            obstore.put(to_move(self.bucket), self.key, view, use_multipart=len(view) > _ONE_REQUEST)
        return len(view)

    def write_new(self, content: bytes | memoryview) -> None:
        """Write the file; a FileExistsError if it is there."""
        import obstore
        from obstore.exceptions import AlreadyExistsError

        with worded_errors(self.address):
            try:
                obstore.put(to_move(self.bucket), self.key, memoryview(content).cast("B"), mode="create")
            except AlreadyExistsError:
                raise FileExistsError(errno.EEXIST, "there is a file", self.address) from None

    def change(self, changed: Callable[[bytes | None], bytes | None]) -> None:
        """Write what becomes of the content, by a condition: where another writer comes between, it is read
        again.

        `changed`: gets the content, None where there is no file; returns the new content, None to leave the
            file as it is.
        """
        import obstore
        from obstore.exceptions import AlreadyExistsError, NotSupportedError, PreconditionError

        with worded_errors(self.address):
            while True:
                before: bytes | None = None
                same: Any = "create"
                with suppress(FileNotFoundError):
                    answer = obstore.get(to_move(self.bucket), self.key)
                    before = bytes(answer.bytes())
                    same = {name: answer.meta[name] for name in ("e_tag", "version") if answer.meta[name]}
                if (after := changed(before)) is None:
                    return
                try:
                    obstore.put(to_move(self.bucket), self.key, after, mode=same)
                except (AlreadyExistsError, PreconditionError, FileNotFoundError):
                    continue
                except NotSupportedError:  # a store without conditions
                    obstore.put(to_move(self.bucket), self.key, after)
                return

    def chmod(self, mode: int) -> None:
        """Nothing: the store's own rules say who may read."""

    def touch(self) -> None:
        """Nothing: a file that was copied is of now."""

    def hardlink_to(self, source: ObjectFile) -> None:
        """Copy a file to here: names in a store cannot share a content."""
        import obstore

        with worded_errors(source.address):
            obstore.copy(to_move(self.bucket), source.key, self.key)

    def replace(self, target: ObjectFile) -> None:
        """Move a file: a copy, and then the file is removed."""
        target.hardlink_to(self)
        self.unlink()

    def unlink(self, missing_ok: bool = True) -> None:  # noqa: FBT001, FBT002, ARG002 - as `Path.unlink`; S3 does not tell
        import obstore

        with worded_errors(self.address), suppress(FileNotFoundError):
            obstore.delete(to_ask(self.bucket), self.key)

    def head(self) -> ObjectStat:
        import obstore

        if not self.key:
            raise FileNotFoundError(errno.ENOENT, "a bucket is no file", self.address)
        with worded_errors(self.address):
            return stat_in(obstore.head(to_ask(self.bucket), self.key))
