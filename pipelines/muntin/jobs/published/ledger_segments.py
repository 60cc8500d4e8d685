"""The segments of a ledger: files without rows in the table of windows, with entries in their footers.

segments, oldest first     600 entries   70   64   8   8   1   1
a publication adds                                             1
`MANY` small segments at the end become one segment, so that n publications leave about log(n) segments and
write an entry log(n) times.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, replace
from functools import lru_cache, reduce
from math import log

import pyarrow as pa

from muntin.files.paths import AnyPath
from muntin.files.weighted_cache import WeightedCache, weighted_cache
from muntin.store.contents import damaged, problem_once
from muntin.store.parquet import footer, table_of, text_of, write_named
from muntin.store.store import File
from muntin.timeline.ledger import Derivation, Entries, Ledger, Superseded

MANY = 8
_MOST = 2_000_000  # entries in memory, of some 100 bytes
# of a table's ledger: the whole, what was published since a run read it, what by then, the segments that
# become one
_VERSIONS = 4
_SEGMENT = "ledger"  # how the names of segments begin
_ENTRIES, _DEFINITION = "muntin.entries", "muntin.definition"
_STATE, _SUPERSEDED, _TABLES, _GIVEN = "muntin.state", "muntin.superseded", "muntin.tables", "muntin.given"
_NAME = re.compile(r"ledger_(?P<number>\d{10})_(?P<entries>\d{7,})_[0-9a-f]{16}\.parquet")


@dataclass(frozen=True, slots=True)
class Segment:
    """A file of a ledger: its number, which grows with every publication, and how many entries it has."""

    file: File
    number: int
    entries: int


def segments_of(files: Iterable[File]) -> tuple[Segment, ...]:
    """The segments among the files of a table, oldest first."""
    # of hundreds of files, many times a run: no call for each
    ledgers = [file for file in files if file.path.startswith(_SEGMENT)]
    return tuple(
        sorted((Segment(file, *_numbers(file.path)) for file in ledgers), key=lambda segment: segment.number)
    )


def is_segment(path: str) -> bool:
    """Whether a file of a table is a segment of its ledger."""
    return path.startswith(_SEGMENT)


@lru_cache(maxsize=1024)
def _numbers(path: str) -> tuple[int, int]:
    """The number of a segment, and how many entries it has, as its name says."""
    match = _NAME.fullmatch(path)
    return (int(match["number"]), int(match["entries"])) if match else (0, 0)


def _weight(ledger: Ledger) -> int:
    """The weight of a ledger, in entries. A ledger without entries takes as much memory as some."""
    return 50 + len(ledger.entries)


_LEDGERS: WeightedCache[AnyPath, tuple[tuple[tuple[str, ...], Ledger], ...]] = WeightedCache(
    _MOST, lambda ledgers: sum(_weight(ledger) for _, ledger in ledgers)
)
"""Folder of a table -> the ledgers in some of its segments, the newest first."""


def read_ledger(folder: AnyPath, paths: tuple[str, ...]) -> Ledger | None:
    """The ledger in some segments of a table, oldest first; None without segments. Names are contents:
    several steps of a run ask for it.

    The newest segments, which are small, are put together first.
    """
    if not paths:
        return None
    before = _LEDGERS.get(folder) or ()
    for of_paths, ledger in before:
        if of_paths == paths:
            return ledger
    ledgers = (read_segment(f"{folder}/{path}") for path in reversed(paths))
    ledger = reduce(lambda newer, older: replace(newer, entries=older.entries.newest(newer.entries)), ledgers)
    _LEDGERS.keep(folder, ((paths, ledger), *before)[:_VERSIONS])
    return ledger


@weighted_cache(_MOST, _weight)
def read_segment(path: str) -> Ledger:
    """The ledger in a single segment."""
    if problem := problem_once(path):
        raise damaged(path, problem)
    try:
        texts = footer(path)
    except (OSError, pa.ArrowException) as wrong:
        raise damaged(path, f"is gone or cannot be read ({wrong})") from wrong
    superseded = tuple(
        Superseded(Derivation(state, name), version)
        for state, name, version in json.loads(texts[_SUPERSEDED])
    )
    tables = tuple(
        (name, identity, version) for name, identity, version in json.loads(texts.get(_TABLES, "[]"))
    )
    return Ledger(
        texts[_DEFINITION],
        Entries.of_table(table_of(texts[_ENTRIES])),
        texts[_STATE],
        superseded,
        tables,
        texts.get(_GIVEN, ""),
    )


def write_segment(folder: AnyPath, schema: pa.Schema, number: int, ledger: Ledger) -> File:
    """Write entries to a file without rows, which readers of a table with this schema do not notice."""
    superseded = json.dumps([[*astuple(each.derivation), each.version] for each in ledger.superseded])
    texts = {
        _ENTRIES: text_of(ledger.entries.to_table()),
        _DEFINITION: ledger.definition,
        _STATE: ledger.state,
        _SUPERSEDED: superseded,
    }
    texts |= {_TABLES: json.dumps(ledger.tables)} if ledger.tables else {}
    texts |= {_GIVEN: ledger.given} if ledger.given else {}
    no_rows = schema.with_metadata(texts).empty_table()
    return File(
        **write_named(
            no_rows, folder, lambda digest: f"ledger_{number:010d}_{len(ledger.entries):07d}_{digest}.parquet"
        )
    )


def to_merge(segments: Sequence[Segment], entries: int) -> int:
    """How many of the last segments become one with a new one of some entries."""
    merged, size = 0, entries
    while True:
        level = _level(size)
        alike = next(
            (at for at, segment in enumerate(reversed(segments)) if _level(segment.entries) > level),
            len(segments),
        )
        if alike + 1 < MANY or alike <= merged:
            return merged
        merged, size = alike, entries + sum(segment.entries for segment in segments[-alike:])


def _level(entries: int) -> int:
    return int(log(max(entries, 1), MANY) + 1e-9)
