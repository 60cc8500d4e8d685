"""Look-ups by `as_of` in random histories: what was known of windows, against the loop of the judge; no file is written.

The windows stand in memory, as the judge finds them; tests/end_to_end/judge/test_as_of.py has the same through files.
"""

import random
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest

from muntin.definition.instants import BEFORE_ALL
from muntin.jobs.lookups import windows_then
from muntin.jobs.lookups.answers import Answers
from muntin.jobs.lookups.asked_rows import instants_of, keys_of
from muntin.jobs.published.pending import Pending
from muntin.jobs.state.bound import Bound, bind
from muntin.states.columns import INSTANT
from muntin.testing.oracle.kinds import micros
from muntin.testing.oracle.time import NEVER, Batch
from muntin.timeline.batches import Batches
from muntin.timeline.history import History
from tests.case_counts import random_seeds
from tests.catalogue.kinds import JUDGED
from tests.end_to_end.judge import user_files as face
from tests.end_to_end.judge.scenario_on_disk import bench
from tests.end_to_end.judge.scenarios import MEASURES, TYPES, Scenario, scenario
from tests.end_to_end.judge.test_as_of import BOUNDS, KNOWLEDGE, Judge, different, published, questions, table_of
from tests.end_to_end.judge.user_files import Rows
from tests.storage.three_batches import HERE

CHUNKS, ROWS, ASKED, BATCHES = 20, 8, 10, 4


@pytest.fixture(scope="module")
def state_columns(tmp_path_factory: pytest.TempPathFactory) -> pa.Schema:
    """The columns of states, which say what an empty window is."""
    made = bench(scenario(1), tmp_path_factory.mktemp("states"), HERE)
    made.run("state")
    bound = bind(made.pipeline, made.folder / "state")
    return bound.store.snapshot(bound.frame_sets[0].table).schema


@cache
def bound_of(keys: tuple[str, ...], first: int) -> Bound:
    """A pipeline that was never run, with every kind of window."""
    batches = [Batch(first, first + 10 * face.SECOND, [])]
    return bind(face.define("judged", Path("nowhere"), batches, JUDGED, MEASURES, keys=keys), "nowhere")


def without_rows(starts: np.ndarray, ends: np.ndarray) -> Batches:
    """Batches of these intervals without a row."""
    return Batches.of((start, end, *[0] * 5) for start, end in zip(starts.tolist(), ends.tolist(), strict=True))


@dataclass(frozen=True)
class InMemory:
    """A history of batches, whose windows stand in memory: published are those that the last batch knows."""

    judge: Judge
    bound: Bound
    state_columns: pa.Schema

    def answers(self, known: Any, *, provisional: bool) -> Answers:
        """What `as_of` asks."""
        return Answers(windows_then.WindowsThen(self.bound, self.todo, known), provisional=provisional)

    @property
    def todo(self) -> Pending:
        """What is published, as it is read from tables."""
        batches, marks = self.judge.case.batches, self.judge.after(len(self.judge.case.batches) - 1).watermarks
        starts, ends = (np.array([getattr(batch, name) for batch in batches], np.int64) for name in ("start", "end"))
        watermarks_us = np.array([BEFORE_ALL if mark == NEVER else mark for mark in marks], np.int64)
        ledger = SimpleNamespace(entries=SimpleNamespace(watermark_us=watermarks_us))
        snapshot = SimpleNamespace(files=(), schema=self.published().schema)
        past: Any = History(without_rows(starts, ends), without_rows(starts[:0], ends[:0]), ())
        parts: dict[str, Any] = {"published": SimpleNamespace(ledger=ledger, starts=starts, snapshot=snapshot), "work": None}
        states: Any = SimpleNamespace(schema=self.state_columns)
        return Pending(self.judge.name, states=states, history=past, watermarks_us=watermarks_us, **parts)

    def published(self, *_: object) -> pa.Table:
        """All windows that are published, whatever the condition."""
        return self.table(self.judge.after(len(self.judge.case.batches) - 1).published)

    def open_then(self, _: Bound, todo: Pending, *_since: int) -> pa.Table:
        """The windows that the last batch of a shorter history left open."""
        return self.table(self.judge.after(len(todo.history.batches) - 1).still_open)

    def table(self, rows: Rows) -> pa.Table:
        """Windows as tables have them."""
        starts = [batch.start for batch in self.judge.case.batches]
        names = [*self.judge.case.keys, *self.bound.windows[self.judge.name].columns, *MEASURES]
        instants = {name: [row[name] for row in rows] for name in BOUNDS}
        instants["batch"] = [None if row["batch"] is None else starts[row["batch"]] for row in rows]
        columns = {name: pa.array([row[name] for row in rows], TYPES.get(name)) for name in names}
        return pa.table(columns | {name: pa.array(values, pa.int64()).cast(INSTANT) for name, values in instants.items()})


def small(seed: int) -> Scenario:
    """A scenario of few batches with few rows."""
    dice, case = random.Random(seed), scenario(seed, BATCHES)
    return replace(case, batches=tuple(replace(each, rows=each.rows[: dice.randrange(ROWS)]) for each in case.batches))


def wrong(seed: int, state_columns: pa.Schema) -> list[Any]:
    """The rows that got another window than the judge's."""
    dice, case = random.Random(seed), small(seed)
    window, (known, provisional) = dice.choice([*case.windows]), dice.choice(KNOWLEDGE)
    if not published(window, provisional):
        return []
    made = InMemory(Judge(case, window), bound_of(case.keys, case.batches[0].start), state_columns)
    rows = questions(case, dice)[:ASKED]
    table = table_of(case, rows)
    stand_ins: dict[str, Any] = {"published_windows": made.published, "unpublished": made.open_then}
    stand_ins |= {"unpublished_work": lambda *_: None, "missing_states": lambda *_: ()}
    with patch.multiple(windows_then, **stand_ins):
        found = made.answers(known, provisional=provisional).of(keys_of(table, case.keys), instants_of(table, "seen"))
    numbers = {batch.start: number for number, batch in enumerate(case.batches)}
    answers = found.to_pylist()
    for each in answers:
        each |= {name: each[name] and micros(each[name]) for name in BOUNDS}
        each["batch"] = each["batch"] and numbers[micros(each["batch"])]
    wanted = [made.judge.answer(row, known, provisional=provisional) for row in rows]
    return [(window, known, provisional, *three) for three in zip(rows, answers, wanted, strict=True) if different(three[2], three[1])]


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_every_row_gets_the_window_that_was_known_then(chunk: int, state_columns: pa.Schema) -> None:
    found = {seed: bad for seed in random_seeds(30_000)[chunk::CHUNKS] if (bad := wrong(seed, state_columns))}
    assert not found, next(iter(found.items()))
