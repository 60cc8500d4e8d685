"""A definition's paths: of this machine or of an object store; relative paths below the project's folder."""

from __future__ import annotations

import re
from pathlib import Path

from muntin.errors import DefinitionError

_ADDRESS = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]+:/"
)  # one slash: `Path` leaves no more of `file://host`; one letter is a drive
OBJECT_STORES = ("s3", "s3a", "gs", "az", "abfs", "abfss")
_STORE = re.compile(rf"(?:{'|'.join(OBJECT_STORES)})://(?P<bucket>[^/]+)")


def is_object_store(path: str) -> bool:
    """Whether a path is an address of an object store.

    >>> is_object_store("s3://bucket/data"), is_object_store("data")
    (True, False)
    """
    return "://" in path and _STORE.match(path) is not None


def readable(path: str | Path, what: str) -> str | Path:
    """A path, or an address of an object store, as it is; `what` is what it was given to."""
    if not _ADDRESS.match(str(path)):
        return path
    if not is_object_store(str(path)):
        raise DefinitionError(
            f"{what}: {str(path)!r} is an address that Muntin cannot read or write; give s3://bucket/prefix "
            f"(or {', '.join(OBJECT_STORES[1:])}), "
            f"or mount what is there, and give the path of a file or folder, as /mnt/data"
        )
    if ":" in _STORE.match(str(path))["bucket"]:  # type: ignore[index]
        raise DefinitionError(
            f"{what}: the address holds a password, which would be shown wherever the address is shown; let "
            "the environment have it"
        )
    return path


def local(path: str | Path, what: str) -> str | Path:
    """A path of this machine as it is; `what` is what it was given to."""
    if _ADDRESS.match(str(path)):
        raise DefinitionError(
            f"{what}: {str(path)!r} is an address, and this must lie on the file system of its machines; "
            f"mount what is there, and give the path of a file or folder, as /mnt/data"
        )
    return path
