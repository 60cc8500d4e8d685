"""A path in an object store, a file or a folder, with the verbs of `pathlib.Path` that Muntin needs.

A folder is what lies below a path: it is there while a file is.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from contextlib import suppress
from fnmatch import fnmatchcase
from stat import S_IFDIR

from muntin.files.object_file import ObjectFile
from muntin.files.object_stores import ObjectStat, stat_in, to_ask, to_move, worded_errors


class ObjectPath(ObjectFile):
    """A file, or all files below a folder."""

    __slots__ = ()

    def exists(self) -> bool:
        return self.is_file() or self.is_dir()

    def is_dir(self) -> bool:
        """Whether there is a file below."""
        return next(self._below(chunk=1), None) is not None

    def stat(self) -> ObjectStat:
        """Facts of the file, else of the folder."""
        try:
            return self.head()
        except FileNotFoundError:
            if self.is_dir():
                return ObjectStat(0, 0, "", S_IFDIR)
            raise

    def rename(self, target: ObjectPath) -> None:
        """Move a file, or all files of a folder, file by file."""
        here = [path for path, _ in self.files()]
        if not here:
            return self.replace(target)
        for path in here:
            ObjectPath(target.address + path.address[len(self.address) :]).hardlink_to(path)
        return self.remove_all()

    def remove_all(self) -> None:
        import obstore

        if keys := [path.key for path, _ in self.files()]:
            with worded_errors(self.address), suppress(FileNotFoundError):
                obstore.delete(to_move(self.bucket), keys)
                return
            self.remove_all()  # Azure tells that another run has removed one of them

    def mkdir(self, mode: int = 0o777, parents: bool = False, exist_ok: bool = False) -> None:  # noqa: FBT001, FBT002 - as `Path.mkdir`
        """Nothing: a folder is there while a file is."""

    def files(self, after: str | None = None) -> list[tuple[ObjectPath, ObjectStat]]:
        """All files below, each with its facts, ascending. `after`: with greater keys alone."""
        return sorted(self._below(after=after), key=lambda path_and_stat: path_and_stat[0])

    def entries(self) -> dict[str, ObjectStat]:
        """The names in the folder, each with its facts, ascending."""
        import obstore

        with worded_errors(self.address):
            listing = obstore.list_with_delimiter(to_ask(self.bucket), self.key or None)
        names = {
            posixpath.basename(path.rstrip("/")): ObjectStat(0, 0, "", S_IFDIR)
            for path in listing["common_prefixes"]
        }
        names |= {posixpath.basename(meta["path"]): stat_in(meta) for meta in listing["objects"]}
        return dict(sorted(names.items()))

    def iterdir(self) -> Iterator[ObjectPath]:
        return iter([self / name for name in self.entries()])

    def glob(self, pattern: str) -> Iterator[ObjectPath]:
        """The files and folders that a pattern with `*`, `?`, `[...]` and `**` names.

        Hidden names count, as in `Path.glob`.
        """
        head, _, rest = pattern.partition("/")
        if head == "**":
            return iter(
                sorted({path for path in self._all() if fits(path.address[len(self.address) + 1 :], pattern)})
            )
        paths = (
            [self / head]
            if not set(head) & set("*?[")
            else [path for path in self.iterdir() if fnmatchcase(path.name, head)]
        )
        if not rest:
            return iter(
                [path for path in paths if (path.is_dir() if pattern.endswith("/") else path.exists())]
            )
        return iter([deeper for path in paths for deeper in path.glob(rest)])

    def rglob(self, name: str) -> Iterator[ObjectPath]:
        return iter([path for path in self._all() if fnmatchcase(path.name, name)])

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

    def _below(self, chunk: int = 1000, after: str | None = None) -> Iterator[tuple[ObjectPath, ObjectStat]]:
        import obstore

        with worded_errors(self.address):
            chunks = obstore.list(to_ask(self.bucket), self.key or None, offset=after, chunk_size=chunk)
            for chunk_of_metas in chunks:
                for meta in chunk_of_metas:
                    yield ObjectPath(f"{self.bucket}/{meta['path']}"), stat_in(meta)


def fits(path: str, pattern: str) -> bool:
    """Whether a path fits a pattern whose `**` stands for any number of folders."""
    parts, wanted = path.split("/"), pattern.split("/")
    return _fit(parts, wanted)


def _fit(parts: list[str], wanted: list[str]) -> bool:
    if not wanted:
        return not parts
    if wanted[0] == "**":
        return any(_fit(parts[at:], wanted[1:]) for at in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], wanted[0]) and _fit(parts[1:], wanted[1:])
