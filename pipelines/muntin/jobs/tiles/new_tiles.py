"""New tiles for a table of tiers: made of states, or of the tiles one level below; then
committed together.

The rows of tiles: states read and combined, a row for each key and tile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import or_

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.engine.merged_states import merged
from muntin.errors import SourceError, StateError
from muntin.files.paths import AnyPath
from muntin.jobs.state.bound import Bound
from muntin.jobs.state.tiered import Tiered
from muntin.states.columns import BATCH, BUCKET, FRAME, INSTANT, ROW_IN_BATCH
from muntin.states.frames import Ints
from muntin.states.keys import buckets, contiguous, odd_floats
from muntin.states.sorted import instants
from muntin.store.contents import problem_of
from muntin.store.parquet import read_parquet
from muntin.store.paths import parse_states_path
from muntin.store.reading import read_files
from muntin.store.store import Change, File, Snapshot
from muntin.store.tier_files import Place, file_of_rows, files_of_rows, index_file, tiles_of
from muntin.timeline.batches import Batches
from muntin.timeline.tiers import NO_TILES, Stretch, Tiles, joined_stretches, names, newest


@dataclass(frozen=True, slots=True)
class Made:
    """The rows of some tiles of one length, with the columns of states but for the batch; and which of the
    tiles are usable.
    """

    rows: pa.Table
    usable: np.ndarray


def schema_of_tiles(states: pa.Schema) -> pa.Schema:
    """The columns of tiles: the columns of states without the batch and without the place in it, which states
    of an upstream have.
    """
    return pa.schema([column for column in states if column.name not in (BATCH, ROW_IN_BATCH)])


def states_in(folder: AnyPath, snapshot: Snapshot, within: Sequence[Stretch], batches: Stretch) -> pa.Table:
    """The states in some stretches of time, of the batches that start between two instants, both included."""
    files = [file for file in snapshot.files if _touches(file.path, within)]
    inside = [(pc.field(FRAME) >= _instant(low)) & (pc.field(FRAME) < _instant(high)) for low, high in within]
    of_batches = (pc.field(BATCH) >= _instant(batches[0])) & (pc.field(BATCH) <= _instant(batches[1]))
    return read_files(
        folder, replace(snapshot, files=tuple(files)), condition=reduce(or_, inside) & of_batches
    )


def _touches(path: str, within: Sequence[Stretch]) -> bool:
    facts = parse_states_path(path)
    low, high = facts.low_us, facts.high_us
    return low is not None and high is not None and any(start <= high and low < end for start, end in within)


def _instant(us: int) -> pa.Scalar:
    return pa.scalar(us, pa.int64()).cast(INSTANT)


def rows_of_tiles(bound: Bound, states: pa.Table, schema: pa.Schema, numbers: Ints, span_us: int) -> Made:
    """A row for each key and tile, of the ascending `numbers`, that has states; states of other tiles are
    left out.

    A tile with an odd float, and tiles whose sums do not fit their types, are not usable and get no rows. The
    states are of frames or of smaller tiles.
    """
    number = instants(states[FRAME]) // span_us
    odd = np.unique(
        number[odd_floats(states, [column for field in bound.fields for column in field.columns])]
    )
    usable = ~np.isin(numbers, odd)
    row_is_usable = np.isin(number, numbers[usable])
    columns = {name: states[name] for name in schema.names if name not in (BUCKET, FRAME)}
    table = pa.table(columns | {FRAME: pa.array(number * span_us)})
    try:
        rows = merged(
            table if row_is_usable.all() else table.filter(pa.array(row_is_usable)),
            bound.pipeline.keys,
            bound.fields,
        )
    except SourceError:
        return Made(schema.empty_table(), np.zeros(len(numbers), np.bool_))
    bucket = buckets([contiguous(rows[key]) for key in bound.pipeline.keys], len(rows))
    rows = rows.append_column(BUCKET, pa.array(bucket))
    return Made(pa.table({column.name: rows[column.name].cast(column.type) for column in schema}), usable)


@dataclass(slots=True)
class NewTiles:
    """Tiles that wait for their commit.

    Attributes:
        bound, found, states, batches: the pipeline state, its tiers, the table of states, and the batches
            that tiles are made of.
        base: the table of tiers.
        files: place -> file of the table.
        kept_tiles: the tiles of the table that stay: at first all tiles made of the batches.
        added_tiles: the new tiles.
        tables: place -> the rows of its new file.
    """

    bound: Bound
    tiered: Tiered
    states: Snapshot
    batches: Batches
    base: Snapshot = field(init=False)
    files: Mapping[Place, File] = field(init=False)
    kept_tiles: Tiles = field(init=False)
    added_tiles: Tiles = NO_TILES
    tables: dict[Place, pa.Table] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.base = self.bound.store.snapshot(self.tiered.table)
        self.files = files_of_rows(self.base.files)
        valid_tiles = tiles_of(self.folder, self.base.files).valid(self.tiered.scale, self.batches)
        whole = {place for place, file in self.files.items() if (self.folder / file.path).exists()}
        self.kept_tiles = valid_tiles.take(
            np.array([place in whole for place in self._places(valid_tiles)], np.bool_)
        )

    @property
    def folder(self) -> AnyPath:
        return self.bound.table(self.tiered.table)

    @property
    def schema(self) -> pa.Schema:
        return schema_of_tiles(self.states.schema or pa.schema([]))

    def make_from_states(self, asked: Tiles, most: int) -> None:
        """Make tiles of level 0 and 1, the newest first, from files of about so many states."""
        if not len(asked):
            return
        paths = [(parse_states_path(file.path), file.rows) for file in self.states.files]
        spans = [
            (path.low_us, path.high_us, rows)
            for path, rows in paths
            if path.low_us is not None and path.high_us is not None
        ]
        low, high, rows = np.array(spans, np.int64).reshape(-1, 3).T
        chosen = newest(self.tiered.scale, asked, low, high, rows, most)
        of_batches = (int(self.batches.start_us[0]), int(self.batches.start_us[-1]))
        within = joined_stretches(self.tiered.scale, chosen)
        states = states_in(self.bound.table(self.tiered.frames.table), self.states, within, of_batches)
        for level in (0, 1):
            self._make(chosen.at(level), states)

    def make_from_tiles(self, asked: Tiles) -> None:
        """Make tiles of a higher level whose parts are all made.

        A tile with a part that is not usable is not usable.
        """
        scale, present = self.tiered.scale, Tiles.joined([self.kept_tiles, self.added_tiles])
        for at in range(len(asked)):
            tile = asked.take(np.array([at]))
            level, number = int(tile.level[0]), int(tile.number[0])
            numbers = np.arange(number * scale.base, (number + 1) * scale.base)
            numbers = numbers[names(scale, level - 1, numbers, self.batches) != 0]
            parts = present.at(level - 1)
            parts = parts.take(np.isin(parts.number, numbers))
            if len(parts) == len(numbers):
                self._make(
                    tile,
                    self._rows((level - 1, number * scale.span_us(level))),
                    possible=bool(parts.usable.all()),
                )

    def _make(self, tiles: Tiles, states: pa.Table, *, possible: bool = True) -> None:
        """Make some tiles of one level, and add their rows to the rows of their places."""
        if not len(tiles):
            return
        tiles = tiles.take(np.argsort(tiles.number))
        level, scale = int(tiles.level[0]), self.tiered.scale
        if not possible:
            states = states.slice(0, 0)
        tile_rows = rows_of_tiles(self.bound, states, self.schema, tiles.number, scale.span_us(level))
        new_tiles = Tiles(tiles.level, tiles.number, tiles.name, tile_rows.usable & possible)
        above = instants(tile_rows.rows[FRAME]) // scale.span_us(level + 1) * scale.span_us(level + 1)
        for place in {*self._places(new_tiles)}:  # a tile may have no rows: then too, its file says so
            new = tile_rows.rows.filter(pa.array(above == place[1]))
            self.tables[place] = pa.concat_tables([self._rows(place), new])
        self.added_tiles = Tiles.joined([self.added_tiles, new_tiles])

    def _rows(self, place: Place) -> pa.Table:
        """The rows of a place: of its new file, or the rows of the table that stay.

        A damaged file is removed, so that it is made again.
        """
        if place in self.tables or place not in self.files:
            return self.tables.get(place, self.schema.empty_table())
        path = self.folder / self.files[place].path
        if problem := problem_of(path):
            path.unlink(missing_ok=True)
            raise StateError(f"{path} {problem}")
        rows = read_parquet(str(path)).cast(self.schema)
        starts = self.kept_tiles.at(place[0]).number * self.tiered.scale.span_us(place[0])
        return rows.filter(pa.array(np.isin(instants(rows[FRAME]), starts)))

    def _places(self, tiles: Tiles) -> list[Place]:
        scale, above = self.tiered.scale, tiles.number // self.tiered.scale.base
        return [
            (level, number * scale.span_us(level + 1))
            for level, number in zip(tiles.level.tolist(), above.tolist(), strict=True)
        ]

    def commit(self) -> None:
        """Write the files, and commit them with the file that tells of all tiles. Files whose tiles are gone
        leave the table.

        ConflictError if another run made tiers meanwhile.
        """
        tiles = Tiles.joined([self.kept_tiles, self.added_tiles])
        places = {*self._places(tiles)}
        files = {place: file for place, file in self.files.items() if place in places}
        files |= {
            place: file_of_rows(rows, self.folder, place, self.bound.pipeline.keys)
            for place, rows in self.tables.items()
        }
        have = {
            file.path: file
            for file in (
                *files.values(),
                index_file(tiles, self.folder, self.schema, int(self.batches.start_us[-1])),
            )
        }
        had = {file.path: file for file in self.base.files}
        adds, removes = (
            [one[path] for path in one.keys() - other.keys()] for one, other in ((have, had), (had, have))
        )
        whole = len(removes) == len(self.base.files)
        self.bound.store.commit(
            self.tiered.table, self.base, Change(self.schema, adds, removes, [], whole=whole)
        )
