"""The rows of a file that a Delta table marks as deleted, by their numbers in the file (deletion vectors).

https://github.com/delta-io/delta/blob/master/PROTOCOL.md#deletion-vector-format

A commit that deletes rows removes a file and adds the same file with another vector. So it takes back the
rows that the new vector has and the older vector has not; a table that is put back brings such rows again.
"""

from __future__ import annotations

import base64
import re
import zlib
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote
from uuid import UUID

import numpy as np

from muntin.errors import SourceError
from muntin.files.paths import path_of
from muntin.files.some_rows import FILE_NUMBER, ROW, file_of
from muntin.files.weighted_cache import WeightedCache

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pyroaring import BitMap64

_PYTHONS = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
_Z85 = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
_OF_PYTHON = bytes.maketrans(_Z85, _PYTHONS)
_UUID = 20  # signs of a UUID in Z85
_MAGIC = (1681511377).to_bytes(4, "little")
_SIZE = 4  # bytes of the size before a vector in a file, and of the checksum behind it
_ROWS = re.compile(r"#(without|only)=([^&#]*)(?:&not=([^#]*))?(?:#in/.*)?")
_KEPT_BYTES = 2**24
_SELECTED: WeightedCache[str, tuple[str, int]] = WeightedCache(_KEPT_BYTES, lambda each: len(each[0]))
"""Address -> bits of the rows that its first word names, and the number of the last bit, which is 0.

A vector never changes.
"""


def vector(line: Mapping[str, Any], path: str, root: str) -> str:
    """The name of a vector: of its line in the log of a table, for a file with a path below the table."""
    kind, text = line["storageType"], line["pathOrInlineDv"]
    if kind == "i":
        return f"i.{base64.urlsafe_b64encode(_of_z85(text)).decode().rstrip('=')}"
    if kind != "u":
        raise SourceError(
            f"{root}/{path}: its deleted rows are named by an address outside of the table"
            f" (a deletion vector of kind {kind!r}, as of SHALLOW CLONE); read the table with"
            " sources.spark(...), or rewrite it (REORG TABLE ... APPLY (PURGE))"
        )
    folder, name = text[:-_UUID], UUID(bytes=_of_z85(text[-_UUID:]))
    below = f"{folder}/" if folder else ""
    where = quote(f"{below}deletion_vector_{name}.bin", safe="")
    return f"{path.count('/')}.{where}@{line.get('offset') or 0}"


def rows_sql(paths: Sequence[str]) -> str:
    """The condition on the rows of files, in the order of the files; "" if all rows are meant."""
    some = [(at, path) for at, path in enumerate(paths) if _ROWS.fullmatch(path, len(file_of(path)))]
    cases = " ".join(f"WHEN {at} THEN {_one(path)}" for at, path in some)
    return f"CASE {FILE_NUMBER} {cases} ELSE true END" if some else ""


def vector_files(path: str) -> Iterator[str]:
    """The files with the vectors that an address names."""
    if match := _ROWS.fullmatch(path, len(file_of(path))):
        for name in match.group(2, 3):
            if name and not name.startswith("i."):
                yield _place(file_of(path), name)[0]


def _one(path: str) -> str:
    bits, last = _SELECTED.of(path, lambda: _bits(path))
    wanted = int(path.startswith("#only", len(file_of(path))))
    return f"get_bit(from_base64('{bits}')::BIT, least({ROW}, {last})::INTEGER) = {wanted}"


def _bits(path: str) -> tuple[str, int]:
    file = file_of(path)
    match = _ROWS.fullmatch(path, len(file))
    assert match  # noqa: S101 - `file_of` says so
    rows = _rows(file, match[2])
    if match[3]:
        rows = rows - _rows(file, match[3])
    last = rows.max() + 1 if rows else 0
    bits = np.zeros(last + 1, bool)
    bits[np.fromiter(rows, np.int64, len(rows))] = True
    return base64.b64encode(np.packbits(bits).tobytes()).decode(), last


def _rows(file: str, name: str) -> BitMap64:
    """The numbers of the rows of a vector."""
    from pyroaring import BitMap64

    if name.startswith("i."):
        where, content = file, base64.urlsafe_b64decode(name[2:] + "=" * (-len(name[2:]) % 4))
        size = len(content)
    else:
        where, offset = _place(file, name)
        try:
            whole = path_of(where).read_bytes()
        except OSError as wrong:
            raise SourceError(
                f"{where}: it says which rows of {file} are deleted, and cannot be read ({wrong}); bring it"
                " back"
            ) from wrong
        size = int.from_bytes(whole[offset : offset + _SIZE], "big")
        content = whole[offset + _SIZE : offset + _SIZE + size]
        checksum = whole[offset + _SIZE + size : offset + 2 * _SIZE + size]
        if zlib.crc32(content).to_bytes(_SIZE, "big") != checksum:
            content = b""
    try:
        if content[:4] == _MAGIC and len(content) == size > len(_MAGIC):
            return BitMap64.deserialize(content[4:])
    except ValueError:
        pass
    raise SourceError(
        f"{where}: it says which rows of {file} are deleted, and is damaged; bring it back as it was"
    )


def _place(file: str, name: str) -> tuple[str, int]:
    """The file of a vector, and the vector's place there."""
    above, _, rest = name.partition(".")
    where, _, offset = rest.rpartition("@")
    return f"{file.rsplit('/', int(above) + 1)[0]}/{unquote(where)}", int(offset)


def _of_z85(text: str) -> bytes:
    """https://rfc.zeromq.org/spec/32"""
    return base64.b85decode(text.encode().translate(_OF_PYTHON))
