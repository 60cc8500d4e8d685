"""An address in an object store, as `s3://bucket/prefix`: its parts and its neighbours.

Nothing is asked of the store.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Self


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
        """The address of the bucket."""
        scheme, _, rest = self.address.partition("://")
        return f"{scheme}://{rest.partition('/')[0]}"

    @property
    def key(self) -> str:
        """The key: the part of the address after the bucket."""
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
    def parent(self) -> Self:
        """The folder above; of a bucket, the bucket."""
        return type(self)(self.address.rpartition("/")[0]) if self.key else self

    def with_name(self, name: str) -> Self:
        """A neighbour."""
        return self.parent / name

    def absolute(self) -> Self:
        """Itself: an address is absolute."""
        return self

    def relative_to(self, folder: Address) -> str:
        """The path below a folder."""
        if not self.address.startswith(f"{folder.address}/"):
            raise ValueError(f"{self} is not below {folder}")
        return self.address[len(folder.address) + 1 :]
