"""The borders of a topic's batches, noted in the state of a pipeline: a table beside the states, which a
changed definition goes on with.

A row is the offset of a partition at an instant. A file holds the borders that a run noted; many small files
become one. The folder of a file says which instants it has, so that a run reads the files near its own
batches, however many there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pyarrow as pa

from muntin.errors import SourceError
from muntin.extensions.kafka.broker import Offsets
from muntin.files.readable import opened
from muntin.jobs.state.bound import Bound
from muntin.states.columns import INSTANT
from muntin.store.parquet import write_named
from muntin.store.paths import batches_of_windows, windows_path
from muntin.store.state import TOPICS
from muntin.store.store import Change, File, Snapshot, Texts

_SCHEMA = pa.schema(
    [
        pa.field("border", INSTANT, nullable=False),
        pa.field("partition", pa.int32(), nullable=False),
        pa.field("offset", pa.int64(), nullable=False),
        pa.field("topic_id", pa.string()),
    ]
)
_TEXTS = Texts(
    "borders",
    "Which offsets of a topic the batches of a pipeline hold: those between the borders of their start and"
    " their end",
    {
        "border": "start or end of the interval of a batch, UTC",
        "partition": "of the topic",
        "offset": "the first offset behind the border",
        "topic_id": "what the broker calls the topic",
    },
)
_SMALL, _MANY = 4096, 32  # rows of a small file; so many small files become one
_LOCK = "borders"


@dataclass(frozen=True, slots=True)
class NotedBorders:
    """The borders near some instants.

    Attributes:
        snapshot: the table as it was read.
        borders: instant -> partition -> offset; of instants that were asked for, the last noted before and
            the first noted after, too.
        topic_id: what the broker called the topic; None where nothing is noted.
    """

    snapshot: Snapshot
    borders: Mapping[int, Offsets]
    topic_id: str | None


def table_of(topic: str) -> str:
    """The table, as seen from a state: beside the states, since messages stay where they are when a
    definition changes.
    """
    return f"../{TOPICS}/{topic}"


def kept(bound: Bound, topic: str, first_us: int, last_us: int) -> NotedBorders:
    """The borders from one instant to another, and their neighbours."""
    snapshot = bound.store.snapshot(table_of(topic))
    spans = [(file, batches_of_windows(file.path) or (0, -1)) for file in snapshot.files]
    within = [file for file, (low, high) in spans if low <= last_us and high >= first_us]
    before = max(((high, file.path, file) for file, (_, high) in spans if high < first_us), default=None)
    after = min(((low, file.path, file) for file, (low, _) in spans if low > last_us), default=None)
    rows = _read(bound, topic, [*within, *(neighbour[2] for neighbour in (before, after) if neighbour)])
    borders: dict[int, Offsets] = {}
    for at, partition, offset, _ in rows:
        borders.setdefault(at, {})[partition] = offset
    names = {name for *_, name in rows}
    return NotedBorders(snapshot, borders, max(names, default=None))


def keep(bound: Bound, topic: str, base: Snapshot, borders: Mapping[int, Offsets], topic_id: str) -> None:
    """Note more borders. A `ConflictError` if another run noted some since `base`."""
    rows = [
        (at, partition, offset, topic_id)
        for at in sorted(borders)
        for partition, offset in sorted(borders[at].items())
    ]
    small = [file for file in base.files if file.rows < _SMALL]
    merged = small if len(small) >= _MANY else []
    table = _table([*_read(bound, topic, merged), *rows])
    first, last = table["border"].cast(pa.int64())[0].as_py(), table["border"].cast(pa.int64())[-1].as_py()
    file = File(
        **write_named(
            table, bound.table(table_of(topic)), lambda digest: windows_path(first, last, 0, digest)
        )
    )
    bound.store.commit(table_of(topic), base, Change(_SCHEMA, [file], merged, [_LOCK], texts=_TEXTS))


def _read(bound: Bound, topic: str, files: Iterable[File]) -> list[tuple[int, int, int, str]]:
    folder, rows = bound.table(table_of(topic)), list[tuple[int, int, int, str]]()
    for file in files:
        try:
            table = opened(f"{folder}/{file.path}").read()
        except (OSError, pa.ArrowException) as gone:
            raise SourceError(
                f"{folder}/{file.path}: the offsets of batches cannot be read ({type(gone).__name__}); bring"
                " the file back from a backup: without it nobody knows which messages these batches hold"
            ) from gone
        columns = (table["border"].cast(pa.int64()), table["partition"], table["offset"], table["topic_id"])
        rows += zip(*(column.to_pylist() for column in columns), strict=True)
    return rows


def _table(rows: Iterable[tuple[int, int, int, str]]) -> pa.Table:
    borders, partitions, offsets, names = zip(*sorted(rows), strict=True)
    columns = [
        pa.array(borders, pa.int64()).cast(INSTANT),
        pa.array(partitions, pa.int32()),
        pa.array(offsets, pa.int64()),
        pa.array(names, pa.string()),
    ]
    return pa.Table.from_arrays(columns, schema=_SCHEMA)
