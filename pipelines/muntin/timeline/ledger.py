"""The ledger of a published window: from which version of which batch it was derived, and what the batches
closed.

It is kept in segments, as in a log-structured merge-tree (O'Neil, 1996): a publication adds a
segment with the entries that changed, and the newest entry of a batch counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.states.frames import Ints
from muntin.timeline.batches import Versions, positions_of

NOTES = pa.list_(pa.string())
_FEW = 100
"""So many stretches of entries are put between others one by one; more are sorted in."""
RECENT = 32
"""So many of the last batches keep their notes; see `Entries.thinned`."""


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """Batches as windows were last derived from them, ascending; an array for each fact. Instants in
    microseconds.

    Attributes:
        start_us: of the batch's interval.
        version: of its states.
        watermark_us: the watermark after it.
        low_us, high_us: starts of its first and last frame; `AFTER_ALL` and `BEFORE_ALL` without states.
        windows: how many windows it closed, hidden ones too.
        late: how many of its rows came too late for at least one window.
        missed: how many windows its rows missed, summed over the rows.
        open_us: the earliest start of a window that is open after it; `AFTER_ALL` if no window is, or the
            kind does not ask.
        late_any: how many of its rows came too late for a window of any definition that was derived together
            with it, over the same frames; of windows that may stay open for long, for a window of this
            definition.
        correcting: how many of its rows revise a window that an earlier batch had closed, and miss none.
        hidden: how many of the windows are not published, since `having` does not hold for them.
        made: a name of the windows that it closed, of their files as they were published; 0 where it closed
            none.
        note: the files of the note made after it (list of string); null if no note was made.
    """

    start_us: Ints
    version: Versions
    watermark_us: Ints
    low_us: Ints
    high_us: Ints
    windows: Ints
    late: Ints
    missed: Ints
    open_us: Ints
    late_any: Ints
    correcting: Ints
    hidden: Ints
    made: Versions
    note: pa.Array

    def __len__(self) -> int:
        return len(self.start_us)

    @property
    def published(self) -> Ints:
        """How many windows of each batch readers see."""
        return self.windows - self.hidden

    def take(self, rows: Ints | np.ndarray) -> Entries:
        """Some of the entries, by number or by mask."""
        rows = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        return Entries(*(_at_rows(getattr(self, name), rows) for name in _COLUMNS))

    def position(self, starts: Ints) -> Ints:
        """The number of the entry of the batch that starts then; -1 where there is none."""
        return positions_of(starts, self.start_us)

    def note_of(self, at: int) -> tuple[str, ...] | None:
        """The files of the note made after an entry's batch."""
        files = self.note[at].as_py()
        return None if files is None else tuple(files)

    def noted(self) -> Ints:
        """The numbers of the entries after which a note was made."""
        return np.flatnonzero(np.asarray(self.note.is_valid()))

    def newest(self, later: Entries) -> Entries:
        """The given entries with later entries, which take the place of entries of the same batches."""
        if not len(self) or not len(later):
            return self if len(self) else later
        stay, new = _turns(self.start_us, later.start_us)
        if len(new) <= _FEW:
            return Entries(
                *(_woven(getattr(self, name), stay, getattr(later, name), new) for name in _COLUMNS)
            )
        both = Entries(*(_joined(getattr(self, name), getattr(later, name)) for name in _COLUMNS))
        order = np.argsort(both.start_us, kind="stable")
        starts = both.start_us[order]
        return both.take(order[np.append(starts[1:] != starts[:-1], True)])

    def thinned(self, number: Ints, count: int) -> Entries:
        """The entries with fewer notes: each of the last `RECENT` batches', every `RECENT`th of older
        batches, few of the oldest.

        The work goes on from the last note before a replaced batch: the older the batch, the more is read
        again.

        `number`: of each entry in the ledger. `count`: of all entries of the ledger.
        """
        age = count - number
        stays = (age <= RECENT) | ((age <= RECENT**2) & (number % RECENT == 0)) | (number % RECENT**2 == 0)
        return replace(self, note=pc.if_else(pa.array(stays), self.note, pa.scalar(None, NOTES)))

    def to_table(self) -> pa.Table:
        """A column for each fact: int64, or uint64 for `version` and `made`; `note` is a list of string."""
        return pa.Table.from_arrays([pa.array(getattr(self, name)) for name in _COLUMNS], names=_COLUMNS)

    @staticmethod
    def of_table(table: pa.Table) -> Entries:
        """The entries from a table of `to_table`. Old ledgers have no columns `hidden` and `correcting`."""
        for name in {"hidden", "correcting"} - {*table.column_names}:
            table = table.append_column(name, pa.array(np.zeros(len(table), np.int64)))
        columns: dict[str, Any] = {name: _whole(table[name]) for name in _COLUMNS}
        return Entries(
            **{name: column if name == "note" else column.to_numpy() for name, column in columns.items()}
        )


_COLUMNS = [column.name for column in fields(Entries)]


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _at_rows(column: Any, rows: Ints) -> Any:  # noqa: ANN401 - an array of numpy's or of Arrow's
    return column.take(pa.array(rows)) if isinstance(column, pa.Array) else column[rows]


def _joined(*arrays: Any) -> Any:  # noqa: ANN401 - of numpy's or of Arrow's
    return pa.concat_arrays(arrays) if isinstance(arrays[0], pa.Array) else np.concatenate(arrays)


def _turns(earlier: Ints, later: Ints) -> tuple[Sequence[slice], Sequence[slice]]:
    """Stretches of ascending starts in turns: earlier starts that stay, before each stretch of later starts
    and behind the last.

    earlier   0 1 . 3 4 5 .        stay   0 1 | 3 4 |       (the last has nothing)
    later     . . 2 . . 5 6        new        2     5 6
    """
    begin, end = (np.searchsorted(earlier, later, side=side) for side in ("left", "right"))
    first = np.flatnonzero(np.append(True, begin[1:] != end[:-1]))
    last = np.append(first[1:], len(later)) - 1
    stay = zip((0, *end[last].tolist()), (*begin[first].tolist(), len(earlier)), strict=True)
    return [slice(*ends) for ends in stay], [
        slice(*ends) for ends in zip(first.tolist(), (last + 1).tolist(), strict=True)
    ]


def _woven(earlier: Any, stay: Sequence[slice], later: Any, new: Sequence[slice]) -> Any:  # noqa: ANN401 - arrays of numpy's or of Arrow's
    """Stretches of two arrays in turns: what stays of the earlier array, then what is new."""
    between = (part for one, other in zip(stay, new, strict=False) for part in (earlier[one], later[other]))
    return _joined(*between, earlier[stay[-1]])


def no_entries() -> Entries:
    """Entries of no batch."""
    numbers: Any = {
        column.name: np.empty(0, np.uint64 if column.name in ("version", "made") else np.int64)
        for column in fields(Entries)
    }
    return Entries(**numbers | {"note": pa.array([], NOTES)})


@dataclass(frozen=True, slots=True)
class Derivation:
    """The origin of windows: the name of the state, and the name of the rules that they are derived by."""

    state: str
    definition: str


@dataclass(frozen=True, slots=True)
class Superseded:
    """A derivation whose windows a table held up to a version."""

    derivation: Derivation
    version: int


TableVersion = tuple[str, str, int]
"""Name, identity and version of a table."""
_REMEMBERED = 32  # superseded derivations


@dataclass(frozen=True, slots=True, eq=False)
class Ledger:
    """The entries of all batches of the history.

    Attributes:
        definition: the name of the definition that windows were derived under.
        entries: of the batches.
        state: the name of the state that windows were derived from.
        superseded: the derivations that came before in the table, oldest first.
        tables: the tables of the state that windows were derived from, each with a version that it had.
        given: the file with the spans that windows lie by; "" for kinds without a table.
    """

    definition: str
    entries: Entries
    state: str
    superseded: tuple[Superseded, ...] = ()
    tables: tuple[TableVersion, ...] = ()
    given: str = ""

    @property
    def derivation(self) -> Derivation:
        """The derivation of the windows."""
        return Derivation(self.state, self.definition)

    def superseded_by(self, derivation: Derivation, version: int) -> tuple[Superseded, ...]:
        """The derivations that end when the table at a version gets another derivation; never the new."""
        if derivation == self.derivation:
            return self.superseded
        others = (each for each in self.superseded if each.derivation != derivation)
        return (*others, Superseded(self.derivation, version))[-_REMEMBERED:]

    def version_before(self, derivation: Derivation) -> int | None:
        """The last version of the table under a superseded derivation; None if it is not superseded."""
        return next(
            (each.version for each in reversed(self.superseded) if each.derivation == derivation), None
        )

    def doubted(self, starts: Sequence[int]) -> Ledger:
        """The ledger as if batches with such starts had had other states, at the places of their states."""
        if not starts:
            return self
        other = np.isin(self.entries.start_us, np.array(starts, np.int64))
        version = np.where(other, ~self.entries.version, self.entries.version)
        return replace(self, entries=replace(self.entries, version=version))

    def without_note(self, paths: Sequence[str]) -> Ledger:
        """The ledger as if the note in some files had never been written."""
        lost = [at for at in self.entries.noted().tolist() if self.entries.note_of(at) == tuple(paths)]
        there = np.asarray(self.entries.note.is_valid())
        there[lost] = False
        note = pa.array(
            [
                files if stays else None
                for files, stays in zip(self.entries.note.to_pylist(), there, strict=True)
            ],
            NOTES,
        )
        return replace(self, entries=replace(self.entries, note=note))
