"""The files of a table of tiers: a file holds the rows of tiles of one level, and a file without rows tells
of all tiles.

`<level>/<start of the tile above>_<digest>.parquet`   the rows of the tiles that the tile above is made of,
as far as they are made `index_<digest>.parquet`                                no rows; in its footer the
level, number and name of every tile

The table is a cache: a file that is gone or damaged is made again, and the states are read meanwhile.

Expiry marks: a file without rows whose name says before which batch a table has lost its rows, as the
definition's `retain` says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import pyarrow as pa

from muntin.definition.instants import BEFORE_ALL, label, of_label
from muntin.files.paths import AnyPath
from muntin.store.contents import problem_of
from muntin.store.parquet import Encoding, footer, table_of, text_of, write_named
from muntin.store.store import File
from muntin.timeline.tiers import NO_TILES, Tiles

_NAME = re.compile(r"expired-(?P<before>[^/-]+)-[0-9a-f]{16}\.parquet")


def write_mark(folder: AnyPath, schema: pa.Schema, before_us: int) -> File:
    """Write the expiry mark of a table with these columns: rows of batches that start before an instant are
    gone.
    """
    no_rows = schema.remove_metadata().empty_table()
    return File(**write_named(no_rows, folder, lambda digest: f"expired-{label(before_us)}-{digest}.parquet"))


def marks(files: Iterable[File]) -> Sequence[File]:
    """The expiry marks among the files of a table."""
    return [file for file in files if is_mark(file.path)]


def is_mark(path: str) -> bool:
    """Whether a file of a table is an expiry mark."""
    return _NAME.fullmatch(path) is not None


def carried_on(folder: AnyPath, schema: pa.Schema, files: Iterable[File]) -> tuple[list[File], list[File]]:
    """The expiry marks to add and to remove so that a table which takes other columns keeps its mark."""
    old = marks(files)
    before_us = expired_before(old)
    new = [] if before_us is None else [write_mark(folder, schema, before_us)]
    had = {file.path for file in old}
    have = {file.path for file in new}
    return [file for file in new if file.path not in had], [file for file in old if file.path not in have]


def expired_before(files: Iterable[File]) -> int | None:
    """The start of the first batch that has kept its rows, microseconds; None while all have."""
    matches = (_NAME.fullmatch(file.path) for file in marks(files))
    return max((of_label(each["before"]) for each in matches if each), default=None)


_ROWS = re.compile(r"(?P<level>\d\d)/(?P<start>[^/_]+)_[0-9a-f]{16}\.parquet")
_KEY, _TO = "muntin.tiers", "muntin.tiers.to"
Place = tuple[int, int]  # the level of the tiles in a file, and the start of the tile above, microseconds


def file_of_rows(table: pa.Table, folder: AnyPath, place: Place, keys: Sequence[str]) -> File:
    """Write the rows of some tiles.

    `table`: as states are, without the column `batch`; `frame` is the start of the tile. `folder`: of the
    table of tiers. `place`: of the tiles. `keys`: the key columns.
    """
    level, start_us = place
    return File(
        **write_named(
            table, folder, lambda digest: f"{level:02d}/{label(start_us)}_{digest}.parquet", Encoding(keys)
        )
    )


def files_of_rows(files: Iterable[File]) -> Mapping[Place, File]:
    """Place -> file, of the files of a table."""
    matches = ((_ROWS.fullmatch(file.path), file) for file in files)
    return {(int(match["level"]), of_label(match["start"])): file for match, file in matches if match}


def index_file(tiles: Tiles, folder: AnyPath, schema: pa.Schema, to_us: int) -> File:
    """Write the file that tells of all tiles.

    `tiles`: which are in the table. `folder`, `schema`: of the table. `to_us`: the start of the last batch
    that they may hold states of, microseconds.
    """
    facts = pa.table({name: getattr(tiles, name) for name in Tiles.__slots__})
    no_rows = schema.with_metadata({_KEY: text_of(facts), _TO: str(to_us)}).empty_table()
    written = write_named(no_rows, folder, lambda digest: f"index_{digest}.parquet")
    return File(written["path"], written["size"], 0)


def index_files(files: Iterable[File]) -> list[File]:
    """The files that tell of all tiles: one, or none while the table is new."""
    return [file for file in files if file.path.startswith("index_")]


def tiles_of(folder: AnyPath, files: Iterable[File]) -> Tiles:
    """The tiles of a table; none if the file that tells of them is gone or damaged."""
    indexes = index_files(files)
    return _tiles(folder / indexes[0].path) if len(indexes) == 1 else NO_TILES


def made_to(folder: AnyPath, files: Iterable[File]) -> int:
    """The start of the last batch that the tiles of a table may hold states of, microseconds; `BEFORE_ALL` of
    a table without tiles.
    """
    indexes = index_files(files)
    return (
        int(footer(str(folder / indexes[0].path))[_TO])
        if len(indexes) == 1 and len(tiles_of(folder, indexes))
        else BEFORE_ALL
    )


@lru_cache(maxsize=64)
def _tiles(path: AnyPath) -> Tiles:
    if problem_of(path):
        return NO_TILES
    facts = table_of(footer(str(path))[_KEY])
    return Tiles(*(facts[name].combine_chunks().to_numpy(zero_copy_only=False) for name in Tiles.__slots__))
