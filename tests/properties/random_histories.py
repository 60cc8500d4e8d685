"""Finalize on a desk: batches, ledger and published windows in memory; what is read and recomputed is what reconcile says."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from muntin.aggregates.aggregate import Aggregate
from muntin.definition.instants import AFTER_ALL, BEFORE_ALL
from muntin.definition.kinds import Carried, Chained, Kind
from muntin.definition.schedule import Schedule
from muntin.definition.several_sources import Watermarking
from muntin.engine.arrival.reading import note_after
from muntin.engine.merged_states import tallies
from muntin.engine.windows import Combined, combine_arranged, still_open
from muntin.jobs.published.pending import Pending
from muntin.jobs.published.staged_windows import new_entries, note_of
from muntin.jobs.published.window_tables import Published
from muntin.states.checkpoint import frame_range
from muntin.states.sorted import Arranged
from muntin.store.paths import digest_of
from muntin.store.store import Snapshot
from muntin.timeline.batches import Batches
from muntin.timeline.carried import first_part, part_behind
from muntin.timeline.closing import closing, watermarks
from muntin.timeline.history import Work, history
from muntin.timeline.ledger import Entries, Ledger
from muntin.timeline.reconcile import reconcile, settled_us
from tests.properties.combining import arranged, lifted
from tests.properties.equal_values import bitwise
from tests.properties.naive_lift import AGGREGATES, FIELDS, Rows, positioned
from tests.properties.random_cases import Case

NOTHING = Snapshot(-1, ())
Tables = dict[Any, pa.Table]
DEFINITION = "d"
FILTERED = 8  # rows with this `v` are left out, yet they move the watermark


@dataclass
class Desk:
    """A pipeline of one window. `published`: start of a batch -> the windows it closed."""

    given: Case
    checkpoint: dict[int, tuple[Batches, pa.Table]] = field(default_factory=dict)
    published: Tables = field(default_factory=dict)
    ledger: Ledger | None = None
    notes: Tables = field(default_factory=dict)
    was: Kind | None = None
    """The kind as windows were last published by it, with the table of that time."""

    aggregates: ClassVar[Mapping[str, Aggregate]] = AGGREGATES

    def lifted(self, rows: Rows) -> pa.Table:
        """The states of some rows."""
        return lifted(rows, self.given)

    @property
    def schedule(self) -> Schedule:
        first = self.given.batches[0]
        return Schedule(None, first.end - first.start, first.start, first.start)

    @property
    def keys(self) -> tuple[str, ...]:
        """Of the windows."""
        return self.given.keys

    def accumulate(self, at: int, rows: Rows) -> int:
        """Batch number `at` brings these rows, whatever it brought before; returns its start."""
        start, length = self.given.batches[at].start, self.schedule.step_us
        table = self.lifted([row for row in rows if row["v"] != FILTERED])
        newest = max((row["t"] for row in rows), default=BEFORE_ALL)
        version = int(digest_of(repr(rows).encode()), 16)
        first, last = frame_range(table, self.given.width)
        low, high = (AFTER_ALL, BEFORE_ALL) if first is None or last is None else (first, last)
        self.checkpoint[start] = (Batches.of([(start, start + length, version, newest, low, high, len(table))]), table)
        return start

    def finalize(self, asked: Iterable[int] = ()) -> Work:
        """Recompute what changed, from the states that matter, and publish it; part by part, as far as something changes."""
        todo = self.to_do(asked)
        part = first_part(todo.work)
        while part:
            part = part_behind(todo.work, part, self.derive(replace(todo, work=part)))
        return todo.work

    def derive(self, todo: Pending) -> tuple[str, ...]:
        """Recompute some batches and publish them; the note after the last one."""
        found, positions = self.read(todo), todo.work.positions
        combined = self.combined(todo, found)
        told = tallies(combined, len(todo.watermarks_us), positions, opened=isinstance(self.given.ours.follows, Chained | Carried))
        results = told | {"notes": self.note(todo, found, combined)}
        stored = Entries.of_table(new_entries(todo, [results], []).to_table())
        self.ledger = Ledger(DEFINITION, self.ledger.entries.newest(stored) if self.ledger else stored, "")
        self.was = self.given.ours
        for at in positions.tolist():
            self.published[int(todo.history.batches.start_us[at])] = combined.windows.filter(pa.array(combined.closed == at))
        return note_of([results], int(positions[-1]))

    def note(self, todo: Pending, found: Arranged, combined: Combined) -> dict[str, str]:
        """What is open after some batches, for windows that go on from there; named by its content, as notes are."""
        follows, when, names = self.given.ours.follows, closing(self.given.ours, todo.watermarks_us), {}
        for at in todo.work.notes_after:
            until = settled_us(follows.margin_us, when, at + 1) if isinstance(follows, Chained) else None
            held = combined.candidates.held
            note = note_after(found, held, at) if held else still_open(combined, at, until, list(FIELDS.values()))
            names[str(at)] = digest_of(repr(note.to_pylist()).encode())
            self.notes[names[str(at)]] = note
        return names

    def to_do(self, asked: Iterable[int]) -> Pending:
        batches = Batches.joined([batch for batch, _ in self.checkpoint.values()])
        starts = self.ledger.entries.start_us if self.ledger else np.empty(0, np.int64)
        found = history(batches, starts, np.array([*asked], np.int64), self.schedule)
        known = watermarks(found.batches, Watermarking(self.given.policy))
        work = reconcile(self.given.ours, self.given.width, found.batches, known, self.ledger, DEFINITION, self.was)
        return Pending("w", Published("windows/w", NOTHING, (), self.ledger), NOTHING, found, known, work, self.ledger)

    def combined(self, todo: Pending, found: Arranged) -> Combined:
        """What a finalize task computes: from the states that `Work` admits, the windows of its batches."""
        return combine_arranged(
            found,
            window=self.given.ours,
            when=closing(self.given.ours, todo.watermarks_us),
            keys=self.keys,
            aggregates=self.aggregates,
            wanted=todo.work.positions,
        )

    def read(self, todo: Pending) -> Arranged:
        """As `jobs.finalize_task.read_states` filters, to the row; in the order in which windows read states."""
        work, position = todo.work, {start: at for at, start in enumerate(todo.history.batches.start_us.tolist())}
        files = [(position[start], table) for start, (_, table) in sorted(self.checkpoint.items()) if start in position]
        table = positioned([(at, found) for at, found in files if at <= work.last], lifted([], self.given).schema)
        before = [self.notes[path] for path in work.note]
        frame, at = table["frame"].combine_chunks().view("int64").to_numpy(), table["muntin_position"].to_numpy()
        chosen = table.filter(pa.array((frame < work.high_us) & ((frame >= work.low_us) | (at >= work.since))))
        return self.arranged(chosen, pa.concat_tables(before) if before else None, work)

    def arranged(self, states: pa.Table, note: pa.Table | None, work: Work) -> Arranged:
        """States and what a note holds, in order."""
        return arranged(states, note, self.given, work.notes_after)

    def wrong(self) -> list[str]:
        """What differs from a clean run over the same batches: windows by their bits, entries of the ledger."""
        clean = type(self)(self.given, dict(self.checkpoint))
        clean.finalize(self.ledger.entries.start_us.tolist() if self.ledger else ())
        return compared(self, clean)


def compared(ours: Desk, clean: Desk) -> list[str]:
    """One line for each batch whose windows or whose ledger entry differ."""
    had, have = entries(ours), entries(clean)
    if had.keys() != have.keys():
        return [f"history {[*had]} not {[*have]}"]
    lines = [f"entry {had[start]} not {have[start]}" for start in had if had[start] != have[start]]
    starts = ours.published.keys() | clean.published.keys()
    return lines + [
        f"batch {start}: {shown(ours.published.get(start))} not {shown(clean.published.get(start))}"
        for start in sorted(starts)
        if start not in ours.published or start not in clean.published or not bitwise(ours.published[start], clean.published[start])
    ]


def entries(desk: Desk) -> dict[int, dict[str, int]]:
    """Start of a batch -> its entry; without `open_us`, which is a bound, as a clean run knows later batches, and without the note."""
    if desk.ledger is None:
        return {}
    rows = desk.ledger.entries.to_table().drop_columns(["open_us", "note"]).to_pylist()
    return {row["start_us"]: row for row in rows}


def shown(table: pa.Table | None) -> Any:
    return None if table is None else [tuple(row.values()) for row in table.to_pylist()]
