"""Published windows, drawn at random."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from muntin.definition.instants import instant_us
from muntin.jobs.inspect.read import published_windows, shaped
from muntin.jobs.published.ledger_segments import is_segment
from muntin.jobs.published.pending import Pending
from muntin.jobs.state.bound import Bound
from muntin.store.store import File


@dataclass
class Drawn:
    """A published window, and what became of it.

    Attributes:
        window, key, start_us, end_us, batch_us: its name, its keys, its bounds, the batch that closed it.
        published: result column -> published value.
        file: the file that holds it.
        rows: of the source that count in it.
        differs: how it differs from the oracle's; empty: it is the same.
        not_judged: why it could not be compared; "" where it was.
    """

    window: str
    key: Mapping[str, Any]
    start_us: int
    end_us: int
    batch_us: int
    published: Mapping[str, Any]
    file: str
    rows: int = 0
    differs: list[str] = field(default_factory=list)
    not_judged: str = ""

    def leave(self, why: str) -> None:
        """Leave the window without a judgement."""
        self.not_judged = why

    def count(self, rows: int) -> None:
        """Say how many rows count in the window."""
        self.rows = rows


@dataclass(frozen=True)
class Asked:
    """A name of windows: as the oracle has it, its state, and what is asked of rows."""

    kind: Any
    pending: Pending
    keys: Sequence[str]
    lateness_us: int

    @property
    def files(self) -> list[File]:
        """The files that hold the published windows."""
        return [file for file in self.pending.published.snapshot.files if not is_segment(file.path)]


def draw(bound: Bound, name: str, asked: Asked, count: int, dice: Random) -> Iterator[Drawn]:
    """Some of the published windows of a name: all of them alike."""
    now = asked.pending.published
    total = sum(file.rows for file in asked.files)
    chosen, before = sorted(dice.sample(range(total), min(count, total))), 0
    for file in asked.files:
        here = [at - before for at in chosen if before <= at < before + file.rows]
        before += file.rows
        if not here:
            continue
        one = replace(now, snapshot=replace(now.snapshot, files=(file,)))
        for row in shaped(bound.pipeline, name, published_windows(bound, one, None)).take(here).to_pylist():
            start, end, batch = (
                instant_us(row[each], each) for each in ("window_start", "window_end", "batch")
            )
            yield Drawn(
                name,
                {key: row[key] for key in asked.keys},
                start,
                end,
                batch,
                {result: row[result] for result in bound.pipeline.results},
                str(bound.table(now.table) / file.path),
            )
