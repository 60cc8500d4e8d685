"""Facts of a file in an object store."""

from __future__ import annotations

from dataclasses import dataclass
from stat import S_IFREG
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(frozen=True, slots=True)
class ObjectStat:
    """Facts of a file in a store, named as `os.stat_result` has them.

    `st_ino` is the ETag: another content, another ETag.
    """

    st_size: int
    st_mtime_ns: int
    st_ino: str
    st_mode: int = S_IFREG

    @property
    def st_mtime(self) -> float:
        """When it was written, in seconds since 1970."""
        return self.st_mtime_ns / 1e9


def stat_in(meta: object) -> ObjectStat:
    """The facts that a store gives of a file."""
    written: datetime = meta["last_modified"]  # type: ignore[index]
    tag = meta["e_tag"] or ""  # type: ignore[index]
    if tag and not tag.endswith('"'):  # a listing of Azure has it bare
        tag = f'"{tag}"'
    whole = int(written.timestamp()) * 10**9 + written.microsecond * 1000
    return ObjectStat(meta["size"], whole, tag)  # type: ignore[index]
