"""Whether a file still holds what its name says: the last part of a name is the digest of the content."""

from __future__ import annotations

from hashlib import blake2b, file_digest
from typing import TYPE_CHECKING

from pipelines.store.paths import DIGEST_BYTES

if TYPE_CHECKING:
    from pathlib import Path


def problem_of(path: Path) -> str | None:
    """What is wrong with a file that is named by its content; None: nothing is.

    A page's checksum would not do: a damaged footer hides pages, and what it says of them decides which are read.
    """
    try:
        with path.open("rb") as content:
            found = file_digest(content, lambda: blake2b(digest_size=DIGEST_BYTES)).hexdigest()
    except FileNotFoundError:
        return "is gone"
    except OSError as wrong:
        return f"cannot be read ({wrong.strerror})"
    return None if path.stem.endswith(found) else "is damaged: its content is not what its name says"
