"""Contents of files, whatever their names:

Parquet, Arrow, Avro, JSON and text, also compressed and in archives.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from muntin.definition.extras import is_installed
from muntin.extensions.forgetting.said import says, table_says
from muntin.extensions.forgetting.without_keys import ranges_tell
from muntin.files.paths import AnyPath
from muntin.states.forgotten_keys import Plain

_DEEPEST = 8  # archives in archives
_TAR_AT, _TAR = 257, b"ustar"


class UnreadableError(Exception):
    """A file whose content nobody can tell."""


def file_says(path: AnyPath, keys: Plain) -> int:
    """How many rows, records or texts of a file say some keys; 0 of a file that is gone.

    Raises:
        UnreadableError: it is damaged, or of a format that is not known here.
    """
    try:
        return content_says(path.read_bytes(), keys)
    except FileNotFoundError:
        return 0
    except Exception as wrong:  # whatever its reader raises of a damaged file
        if not path.is_file():  # a draft of a run at work has its name by now
            return 0
        raise UnreadableError(str(wrong).partition("\n")[0] or type(wrong).__name__) from wrong


def content_says(content: bytes, keys: Plain, depth: int = 0) -> int:
    """The same of bytes. `depth`: how many archives and compressions they came out of."""
    if depth > _DEEPEST:
        raise UnreadableError("it is packed too often")
    for begin, read in _READERS.items():
        if content.startswith(begin):
            return read(content, keys, depth)
    if content[_TAR_AT:].startswith(_TAR):
        return _tar(content, keys, depth)
    try:
        text = content.decode("utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
        if any((letter < " " and letter not in "\t\n\r\f\v") or "\x7f" <= letter < "\xa0" for letter in text):
            return _letters(content, keys)
    if "\0" in text:
        return _letters(content, keys)
    try:
        return int(says(json.loads(text, object_pairs_hook=list), keys))
    except ValueError:
        return sum(says(_line(line), keys) for line in text.splitlines()) or int(says(text, keys))


def footer_says(file: pq.ParquetFile, keys: Plain) -> bool:
    """Whether the footer of a Parquet file says some keys: in the names of columns, or in texts beside them
    that are not Muntin's own.
    """
    schema = file.schema_arrow
    texts = [file.metadata.metadata or {}, schema.metadata or {}, *((each.metadata or {}) for each in schema)]
    statistics = [
        (name, text)
        for each in texts
        for name, text in each.items()
        if not name.startswith((b"muntin", b"ARROW:schema", b"PARQUET:"))
    ]
    return says(
        [schema.names, [[_decoded(each) for each in pair] for pair in statistics]], keys, numbers=False
    )


def _decoded(text: bytes) -> Any:  # noqa: ANN401 - JSON, or a text
    words = text.decode(errors="replace")
    try:
        return json.loads(words)
    except ValueError:
        return words


def _parquet(content: bytes, keys: Plain, _depth: int) -> int:
    with pq.ParquetFile(pa.BufferReader(content), page_checksum_verification=True) as file:
        rows = sum(table_says(file.read_row_group(at), keys) for at in range(file.num_row_groups))
        own = [name for name in file.schema_arrow.names if (name,) in keys.columns]
        return rows + footer_says(file, keys) or int(ranges_tell(file, file.read(own), keys))


def _arrow(content: bytes, keys: Plain, _depth: int) -> int:
    opened = pa.ipc.open_file if content.startswith(b"ARROW1") else pa.ipc.open_stream
    table = opened(pa.BufferReader(content)).read_all()
    return table_says(table, keys) + says(
        [table.column_names, str(table.schema.metadata)], keys, numbers=False
    )


def _avro(content: bytes, keys: Plain, _depth: int) -> int:
    if not is_installed("fastavro"):
        raise UnreadableError("it is Avro; pip install 'muntin[iceberg]' reads it")
    from fastavro import reader

    records: Any = reader(io.BytesIO(content))
    return says(records.metadata, keys, numbers=False) + sum(says(record, keys) for record in records)


def _packed(unpack: Callable[[bytes], bytes]) -> Callable[[bytes, Plain, int], int]:
    return lambda content, keys, depth: content_says(unpack(content), keys, depth + 1)


def _by_arrow(name: str) -> Callable[[bytes], bytes]:
    return lambda content: pa.CompressedInputStream(pa.BufferReader(content), name).read()


def _zip(content: bytes, keys: Plain, depth: int) -> int:
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        return _members(((each, packed.read(each)) for each in packed.namelist()), keys, depth)


def _tar(content: bytes, keys: Plain, depth: int) -> int:
    with tarfile.open(fileobj=io.BytesIO(content)) as packed:
        files = ((each.name, packed.extractfile(each)) for each in packed)
        return _members(((name, file.read() if file else b"") for name, file in files), keys, depth)


def _members(files: Iterator[tuple[str, bytes]], keys: Plain, depth: int) -> int:
    return sum(
        says(name, keys, numbers=False) + content_says(content, keys, depth + 1) for name, content in files
    )


def _line(text: str) -> Any:  # noqa: ANN401 - JSON, or a text
    try:
        return json.loads(text, object_pairs_hook=list)
    except ValueError:
        return text


def _letters(content: bytes, keys: Plain) -> int:
    codes = ("utf-8", "utf-16-le", "utf-16-be")
    if any(all(any(text.encode(code) in content for code in codes) for _, text in key) for key in keys.keys):
        return 1
    raise UnreadableError("its format is not known")


_READERS: dict[bytes, Callable[[bytes, Plain, int], int]] = {
    b"PAR1": _parquet,
    b"ARROW1": _arrow,
    b"\xff\xff\xff\xff": _arrow,
    b"Obj\x01": _avro,
    b"\x1f\x8b": _packed(gzip.decompress),
    b"BZh": _packed(bz2.decompress),
    b"\xfd7zXZ": _packed(lzma.decompress),
    b"\x28\xb5\x2f\xfd": _packed(_by_arrow("zstd")),
    b"\x04\x22\x4d\x18": _packed(_by_arrow("lz4")),
    b"PK": _zip,
}
