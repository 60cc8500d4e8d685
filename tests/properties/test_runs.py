"""Sessions made of runs: windows are the oracle's, late rows too, and any history equals a clean run, to the last bit.

Order within one instant is not among what runs keep, so no aggregate here reads it. `MUNTIN_CORE=30000` runs more cases.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from muntin.aggregates.counting import shared_fields
from muntin.definition.instants import BEFORE_ALL
from muntin.engine.merged_states import runs, tallies
from muntin.engine.windows import Combined
from muntin.states.checkpoint import frame_range
from muntin.testing.oracle import DAY, judge
from muntin.timeline.closing import closing
from tests.case_counts import random_seeds
from tests.properties import random_histories, test_any_history
from tests.properties.combining import combine
from tests.properties.equal_values import alike
from tests.properties.naive_lift import AGGREGATES, FIELDS, INSTANT, ORACLE, Rows, positioned, states
from tests.properties.random_cases import Case, case_of

CASES, HISTORIES = random_seeds(900), random_seeds(300)
CHUNK = 150
ORDERLESS = {name: each for name, each in AGGREGATES.items() if not any(field.uses_order for field in each.fields)}


def session(seed: int) -> Case:
    return case_of("session", seed)


def joined(given: Case, rows: Rows) -> pa.Table:
    """The states of a split, as runs."""
    table = states(rows, given.width, given.keys)
    table = table.append_column("batch", pa.array([0] * len(table), pa.int64()).cast(INSTANT))
    return runs(table, given.keys, given.ours.run_us, list(FIELDS.values())).drop_columns(["batch"])


def derived(given: Case, tables: Sequence[tuple[int, pa.Table]], watermarks: Sequence[float]) -> Combined:
    return combine(
        positioned(tables),
        window=given.ours,
        when=closing(given.ours, np.array([max(watermark, BEFORE_ALL) for watermark in watermarks]).astype(np.int64)),
        keys=given.keys,
        aggregates=ORDERLESS,
        width_us=given.width,
    )


def disagreement(given: Case) -> list[str]:
    """What windows of runs and oracle say differently."""
    said = judge(
        given.theirs, given.batches, ORACLE, keys=given.keys, watermark=given.policy, lateness=given.lateness, max_ahead=1000 * DAY
    )
    halves = [(at, half) for at, batch in enumerate(given.batches) for half in cut(given, batch.rows)]
    combined = derived(given, [(at, joined(given, rows)) for at, rows in halves], said.watermarks)
    never = len(given.batches)
    wanted = {
        key(given, row): [never if row["batch"] is None else row["batch"], *(row[name] for name in ORDERLESS)]
        for row in said.published + said.still_open
    }
    starts = {name: combined.windows[name].cast(pa.int64()) for name in ("window_start", "window_end")}
    rows = pa.table({name: starts.get(name, combined.windows[name]) for name in combined.windows.column_names}).to_pylist()
    found = {
        key(given, row): [closed, *(row[name] for name in ORDERLESS)] for row, closed in zip(rows, combined.closed.tolist(), strict=True)
    }
    told = tallies(combined, never, np.arange(never), opened=True)
    right = {name: [len(rows[at]) for at in range(never)] for name, rows in (("late", said.late), ("correcting", said.correcting))}
    wrong = [f"{each}: {found.get(each)} not {wanted.get(each)}" for each in found | wanted if not alike(found.get(each), wanted.get(each))]
    return wrong + [f"{name} {told[name]} not {counted}" for name, counted in right.items() if told[name] != counted]


def cut(given: Case, rows: Rows) -> list[Rows]:
    """A batch of two splits in every third case."""
    middle = len(rows) // 2 if given.seed % 3 == 0 else len(rows)
    return [rows[:middle], rows[middle:]]


def key(given: Case, row: dict[str, Any]) -> tuple[Any, ...]:
    return (*(row[name] for name in given.keys), row["window_start"], row["window_end"])


@pytest.mark.parametrize("chunk", range(0, len(CASES), CHUNK))
def test_windows_of_runs_are_the_oracles(chunk: int) -> None:
    given = [session(seed) for seed in CASES[chunk : chunk + CHUNK]]
    assert {each.seed: said for each in given if (said := disagreement(each))} == {}
    assert any(len(joined(each, batch.rows)) < len(states(batch.rows, each.width, each.keys)) for each in given for batch in each.batches)


class DeskOfRuns(random_histories.Desk):
    """A desk whose checkpoint holds runs."""

    def accumulate(self, at: int, rows: Rows) -> int:
        start = super().accumulate(at, rows)
        batches, _ = self.checkpoint[start]
        table = joined(self.given, [row for row in rows if row["v"] != random_histories.FILTERED])
        low, high = frame_range(table, self.given.width)
        if low is not None and high is not None:
            batches = replace(batches, low_us=np.array([low]), high_us=np.array([high]))
        self.checkpoint[start] = (batches, table)
        return start


@pytest.mark.parametrize("chunk", range(0, len(HISTORIES), CHUNK))
def test_any_history_of_runs_equals_a_clean_run(monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    monkeypatch.setattr(test_any_history, "Desk", DeskOfRuns)
    monkeypatch.setattr(random_histories, "Desk", DeskOfRuns)
    seeds = HISTORIES[chunk : chunk + CHUNK]
    assert {seed: said for seed in seeds if (said := test_any_history.first_mistake(session(seed)))} == {}


# gap 10        x x     x             x       x  x         events at 5, 8, 12, 29, 32 and 35
# frames      [0, 10) [10, 20)     [20, 30) [30, 40)
# runs          |-------|             |----------|
def test_a_run_has_the_frame_of_its_first_event_and_all_events() -> None:
    rows = [{"t": t, "k": "a", "v": t, "x": 0.5, "s": "s"} for t in (5, 8, 12, 29, 32, 35)]
    table = states(rows, 10, ("k",)).append_column("batch", pa.array([0, 0, 0, 0], pa.int64()).cast(INSTANT))
    found = runs(table, ("k",), 10, shared_fields(ORDERLESS))
    told = {name: found[name].cast(pa.int64()).to_pylist() for name in ("frame", "first_event", "last_event", "rows", "sum_v")}
    assert told == {"frame": [0, 20], "first_event": [5, 29], "last_event": [12, 35], "rows": [3, 3], "sum_v": [25, 96]}
    assert frame_range(found, 10) == (0, 30)


def test_neither_keys_nor_batches_are_joined() -> None:
    rows = [{"t": t, "k": k, "v": 1, "x": 0.5, "s": "s"} for k in "ab" for t in (5, 15)]
    table = states(rows, 10, ("k",)).append_column("batch", pa.array([0, 1, 1, 1], pa.int64()).cast(INSTANT))
    found = runs(table, ("k",), 10, shared_fields(ORDERLESS))
    assert found.select(["k", "rows"]).to_pylist() == [{"k": "a", "rows": 1}, {"k": "a", "rows": 1}, {"k": "b", "rows": 2}]


def test_a_sum_that_does_not_fit_is_left_to_the_windows() -> None:
    rows = [{"t": t, "k": "a", "v": 2**62, "x": 0.5, "s": "s"} for t in (5, 15)]
    table = states(rows, 10, ("k",)).append_column("batch", pa.array([0, 0], pa.int64()).cast(INSTANT))
    assert runs(table, ("k",), 10, shared_fields(ORDERLESS)).equals(table)


# batch 0 (a: its sum does not fit) and batch 1 (b) in one table, as where batches are read together
def test_a_batch_whose_sum_does_not_fit_changes_nothing_of_its_neighbour() -> None:
    rows = [{"t": t, "k": k, "v": v, "x": 0.5, "s": "s"} for k, v in (("a", 2**62), ("b", 1)) for t in (5, 15)]
    table = states(rows, 10, ("k",)).append_column("batch", pa.array([0, 0, 1, 1], pa.int64()).cast(INSTANT))
    fields = shared_fields(ORDERLESS)
    together, alone = runs(table, ("k",), 10, fields), [runs(table.slice(at, 2), ("k",), 10, fields) for at in (0, 2)]
    assert [len(each) for each in alone] == [2, 1]
    assert together.to_pylist() == pa.concat_tables(alone).to_pylist()
