"""Ranges of messages as Parquet files for DuckDB, which opens them by their addresses."""

from __future__ import annotations

import io
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from hashlib import blake2b
from time import monotonic
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from muntin.errors import BrokerError, SourceError
from muntin.extensions.kafka.topics.checks import SCHEME, named, parsed
from muntin.extensions.kafka.topics.messages import messages
from muntin.extensions.kafka.topics.values import decoded
from muntin.files.weighted_cache import WeightedCache

if TYPE_CHECKING:
    import numpy as np
    from fsspec import AbstractFileSystem

    from muntin.extensions.kafka.source import KafkaSource
    from muntin.extensions.kafka.topics.values import Odd

KEPT_BYTES = 2**26
"""Of ranges that a task reads several times: for their columns, for their rows, for their bad messages."""
_AGAIN_S = 5  # until a broker that did not answer is asked again
_READINGS: dict[str, KafkaSource] = {}


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a range.

    Attributes:
        file: a Parquet file of the messages that are rows.
        number, offset: of each row; see `Decoded`.
        odd: the messages that are no rows.
    """

    file: bytes
    number: np.ndarray
    offset: np.ndarray
    odd: tuple[Odd, ...]

    @property
    def size(self) -> int:
        return len(self.file) + self.number.nbytes + self.offset.nbytes


_CONTENTS = WeightedCache[tuple[str, str], Content](KEPT_BYTES, lambda content: content.size)
_REFUSALS = WeightedCache[tuple[str, str], tuple[float, BrokerError]](1)


def content(source: KafkaSource, address: str) -> Content:
    """The content of a range, which never changes. Messages that are gone are a `SourceError`."""
    which = (reading(source), address)

    def read() -> Content:
        # a task that searches bad rows would wait once more
        if (refusal := _REFUSALS.get(which)) and monotonic() - refusal[0] < _AGAIN_S:
            raise refusal[1]
        try:
            return _content(source, address)
        except BrokerError as wrong:
            _REFUSALS.keep(which, (monotonic(), wrong))
            raise

    return _CONTENTS.of(which, read)


def _content(source: KafkaSource, address: str) -> Content:
    decoding = decoded(source, messages(source, parsed(address)[1]))
    sink = pa.BufferOutputStream()
    pq.write_table(decoding.rows, sink, compression="zstd", use_dictionary=False)
    return Content(sink.getvalue().to_pybytes(), decoding.number, decoding.offset, decoding.odd)


def reading(source: KafkaSource) -> str:
    """The name of a way of reading messages, by which this process finds it when DuckDB opens an address."""
    facts = [
        source.broker,
        source.topic,
        source.value,
        source.key,
        sorted(source.fields.items()),
        source.connection,
        source.registry,
    ]
    name = blake2b(repr([*facts, source.schema]).encode(), digest_size=8).hexdigest()
    _READINGS[name] = source
    return name


def opened_as(source: KafkaSource, path: str) -> str:
    """An address with the name of the way of reading; the path of a copy on the disk as it is."""
    return named(path, reading(source)) if path.startswith(f"{SCHEME}://") else path


@cache
def file_system() -> AbstractFileSystem:
    """The file system of all topics. DuckDB takes no file system of another class."""
    from fsspec import AbstractFileSystem

    class Ranges(AbstractFileSystem):  # type: ignore[misc]  # as said
        protocol = SCHEME
        cachable = False

        def open(self, path: str, *_: object, **__: object) -> io.BytesIO:
            name, wanted = parsed(_with_scheme(path))
            range_content = content(_READINGS[name], wanted.address)
            if range_content.odd:
                first = range_content.odd[0]
                raise SourceError(
                    f"offset {first.offset:,} of {wanted.topic}/{wanted.partition}: {first.reason}"
                )
            return io.BytesIO(range_content.file)

        def glob(self, path: str, **_: object) -> list[str]:
            return [path]

        def info(self, path: str, **_: object) -> dict[str, Any]:
            name, wanted = parsed(_with_scheme(path))
            return {"name": path, "size": len(content(_READINGS[name], wanted.address).file), "type": "file"}

        def exists(self, path: str, **_: object) -> bool:  # noqa: ARG002 - reading tells
            return True

        def modified(self, path: str) -> datetime:  # noqa: ARG002 - never
            """When it was written: a range never changes."""
            return datetime.fromtimestamp(0, UTC)

        def unstrip_protocol(self, name: str) -> str:
            return _with_scheme(name)

    return Ranges()


def _with_scheme(path: str) -> str:
    return path if path.startswith(f"{SCHEME}://") else f"{SCHEME}://{path}"
