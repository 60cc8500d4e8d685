"""A path in an object store, with the verbs of `pathlib.Path` that Muntin needs.

A folder is what lies below a path: it is there while a file is. A file is written whole. A link is a copy.
"""

from __future__ import annotations

import errno
import posixpath
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from math import inf
from stat import S_IFDIR
from typing import TYPE_CHECKING

from pipelines.files.object_stat import ObjectStat, stat_in
from pipelines.files.object_stores import to_ask, to_move, told
from pipelines.files.patterns import fits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

_ONE_REQUEST = 2**26  # bytes; what is larger is written in parts, side by side


@dataclass(frozen=True, slots=True, order=True)
class ObjectPath:
    """An address without a slash at its end, as `s3://bucket/prefix`."""

    address: str

    def __str__(self) -> str:
        return self.address

    def __truediv__(self, more: str) -> ObjectPath:
        return ObjectPath(f"{self.address}/{more.strip('/')}") if more.strip("/") else self

    @property
    def bucket(self) -> str:
        """The address of the bucket."""
        scheme, _, rest = self.address.partition("://")
        return f"{scheme}://{rest.partition('/')[0]}"

    @property
    def key(self) -> str:
        """What follows the bucket."""
        return self.address[len(self.bucket) + 1 :]

    @property
    def name(self) -> str:
        """The last part."""
        return posixpath.basename(self.key)

    @property
    def stem(self) -> str:
        """The name without its suffix."""
        return posixpath.splitext(self.name)[0]

    @property
    def suffix(self) -> str:
        """The end of the name, from its last dot."""
        return posixpath.splitext(self.name)[1]

    @property
    def parent(self) -> ObjectPath:
        """The folder above; of a bucket, the bucket."""
        return ObjectPath(self.address.rpartition("/")[0]) if self.key else self

    def with_name(self, name: str) -> ObjectPath:
        """A neighbour."""
        return self.parent / name

    def absolute(self) -> ObjectPath:
        """Itself: an address is absolute."""
        return self

    def exists(self) -> bool:
        """Whether there is a file or a folder."""
        return self.is_file() or self.is_dir()

    def is_file(self) -> bool:
        """Whether there is a file."""
        try:
            self._head()
        except FileNotFoundError:
            return False
        return True

    def is_dir(self) -> bool:
        """Whether there is a file below."""
        return next(self._below(chunk=1), None) is not None

    def stat(self) -> ObjectStat:
        """Facts of the file, else of the folder.

        Raises:
            FileNotFoundError: there is neither.
        """
        try:
            return self._head()
        except FileNotFoundError:
            if self.is_dir():
                return ObjectStat(0, 0, "", S_IFDIR)
            raise

    def content(self, most: float = inf) -> tuple[ObjectStat, memoryview]:
        """The facts of the file and its content, by one request; the content is left out if it has more than `most` bytes.

        Raises:
            FileNotFoundError: there is no such file.
        """
        import obstore

        with told(self.address):
            found = obstore.get(to_move(self.bucket), self.key)
            stat = stat_in(found.meta)
            return stat, memoryview(found.bytes() if stat.st_size <= most else b"")

    def read_bytes(self) -> bytes:
        """The content."""
        return bytes(self.readable())

    def readable(self) -> pa.Buffer:
        """The content where Arrow reads it."""
        import pyarrow as pa

        return pa.py_buffer(self.content()[1])

    def read_text(self, encoding: str = "utf-8") -> str:
        """The content as text."""
        return self.read_bytes().decode(encoding)

    def open(self, _mode: str = "rb") -> pa.BufferReader:
        """The content as a file that is open for reading."""
        import pyarrow as pa

        return pa.BufferReader(self.readable())

    def end(self, size: int) -> tuple[bytes, int]:
        """At most so many bytes from the end, and the size of the whole."""
        import obstore
        from obstore.exceptions import NotSupportedError

        with told(self.address):
            try:
                found = obstore.get(to_move(self.bucket), self.key, options={"range": {"suffix": size}})
                return bytes(found.bytes()), found.meta["size"]
            except NotSupportedError:  # Azure has no ranges that are counted from the end
                whole = obstore.head(to_ask(self.bucket), self.key)["size"]
                return self.part(max(0, whole - size), min(size, whole)) if whole else b"", whole

    def part(self, start: int, length: int) -> bytes:
        """Some bytes of the content."""
        import obstore

        with told(self.address):
            return bytes(obstore.get_range(to_move(self.bucket), self.key, start=start, length=length))

    def parts(self, ranges: Sequence[tuple[int, int]]) -> list[memoryview]:
        """The bytes of several ranges, from a place to before another, fetched side by side."""
        import obstore

        starts, ends = zip(*ranges, strict=True)
        with told(self.address):
            found = obstore.get_ranges(to_move(self.bucket), self.key, starts=starts, ends=ends)
            return [memoryview(content) for content in found]

    def write_bytes(self, content: bytes | memoryview) -> int:
        """Write the file: whole, or not at all. Up to `_ONE_REQUEST` by one request, which leaves nothing behind if it is cut off."""
        import obstore

        view = memoryview(content).cast("B")
        with told(self.address):
            obstore.put(to_move(self.bucket), self.key, view, use_multipart=len(view) > _ONE_REQUEST)
        return len(view)

    def write_new(self, content: bytes | memoryview) -> None:
        """Write the file unless it is there.

        Raises:
            FileExistsError: it is there.
        """
        import obstore
        from obstore.exceptions import AlreadyExistsError

        with told(self.address):
            try:
                obstore.put(to_move(self.bucket), self.key, memoryview(content).cast("B"), mode="create")
            except AlreadyExistsError:
                raise FileExistsError(errno.EEXIST, "there is a file", self.address) from None

    def chmod(self, mode: int) -> None:
        """Nothing: the store's own rules say who may read."""

    def touch(self) -> None:
        """Nothing: a file that was copied is of now."""

    def hardlink_to(self, source: ObjectPath) -> None:
        """Copy a file to here: names in a store cannot share a content.

        Raises:
            FileNotFoundError: there is no such file.
        """
        import obstore

        with told(source.address):
            obstore.copy(to_move(self.bucket), source.key, self.key)

    def rename(self, target: ObjectPath) -> None:
        """Move a file, or all files of a folder, one after the other."""
        here = [path for path, _ in self.files()]
        if not here:
            return self.replace(target)
        for path in here:
            ObjectPath(target.address + path.address[len(self.address) :]).hardlink_to(path)
        return self.remove_all()

    def replace(self, target: ObjectPath) -> None:
        """Move a file: a copy, and then the file is removed.

        Raises:
            FileNotFoundError: there is no such file.
        """
        target.hardlink_to(self)
        self.unlink()

    def unlink(self, missing_ok: bool = True) -> None:  # noqa: FBT001, FBT002, ARG002 - as `Path.unlink`; S3 does not tell
        """Remove the file, if it is there."""
        import obstore

        with told(self.address), suppress(FileNotFoundError):
            obstore.delete(to_ask(self.bucket), self.key)

    def remove_all(self) -> None:
        """Remove all files of the folder."""
        import obstore

        if keys := [path.key for path, _ in self.files()]:
            with told(self.address), suppress(FileNotFoundError):
                obstore.delete(to_move(self.bucket), keys)
                return
            self.remove_all()  # Azure tells that another run has removed one of them

    def mkdir(self, mode: int = 0o777, parents: bool = False, exist_ok: bool = False) -> None:  # noqa: FBT001, FBT002 - as `Path.mkdir`
        """Nothing: a folder is there while a file is."""

    def files(self) -> list[tuple[ObjectPath, ObjectStat]]:
        """All files below, each with its facts, ascending."""
        return sorted(self._below(), key=lambda found: found[0])

    def entries(self) -> dict[str, ObjectStat]:
        """The names in the folder, each with its facts, ascending."""
        import obstore

        with told(self.address):
            found = obstore.list_with_delimiter(to_ask(self.bucket), self.key or None)
        names = {posixpath.basename(path.rstrip("/")): ObjectStat(0, 0, "", S_IFDIR) for path in found["common_prefixes"]}
        names |= {posixpath.basename(meta["path"]): stat_in(meta) for meta in found["objects"]}
        return dict(sorted(names.items()))

    def iterdir(self) -> Iterator[ObjectPath]:
        """What lies in the folder."""
        return iter([self / name for name in self.entries()])

    def glob(self, pattern: str) -> Iterator[ObjectPath]:
        """The files and folders that a pattern with `*`, `?`, `[...]` and `**` names. Hidden names count, as in `Path.glob`."""
        head, _, rest = pattern.partition("/")
        if head == "**":
            return iter(sorted({path for path in self._all() if fits(path.address[len(self.address) + 1 :], pattern)}))
        found = [self / head] if not set(head) & set("*?[") else [path for path in self.iterdir() if fnmatchcase(path.name, head)]
        if not rest:
            return iter([path for path in found if (path.is_dir() if pattern.endswith("/") else path.exists())])
        return iter([deeper for path in found for deeper in path.glob(rest)])

    def rglob(self, name: str) -> Iterator[ObjectPath]:
        """All files and folders below with a name that a pattern names."""
        return iter([path for path in self._all() if fnmatchcase(path.name, name)])

    def relative_to(self, folder: ObjectPath) -> str:
        """The path below a folder."""
        if not self.address.startswith(f"{folder.address}/"):
            raise ValueError(f"{self} is not below {folder}")
        return self.address[len(folder.address) + 1 :]

    def _all(self) -> list[ObjectPath]:
        """All files below, and the folders that they lie in."""
        files = [path for path, _ in self.files()]
        folders: set[ObjectPath] = set()
        for path in files:
            above = path.parent
            while above != self and above not in folders:
                folders.add(above)
                above = above.parent
        return sorted({*files, *folders})

    def _head(self) -> ObjectStat:
        import obstore

        if not self.key:
            raise FileNotFoundError(errno.ENOENT, "a bucket is no file", self.address)
        with told(self.address):
            return stat_in(obstore.head(to_ask(self.bucket), self.key))

    def _below(self, chunk: int = 1000) -> Iterator[tuple[ObjectPath, ObjectStat]]:
        import obstore

        with told(self.address):
            for found in obstore.list(to_ask(self.bucket), self.key or None, chunk_size=chunk):
                for meta in found:
                    yield ObjectPath(f"{self.bucket}/{meta['path']}"), stat_in(meta)
