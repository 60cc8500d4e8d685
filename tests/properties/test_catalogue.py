"""The catalogue from raw rows to windows: several batches and splits, late rows, sliding windows, as the oracle says."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from muntin.aggregates.aggregate import Aggregate, sealed
from muntin.definition.instants import BEFORE_ALL
from muntin.engine.windows import Combined
from muntin.sources.reading.lift_sql import lifts_sql
from muntin.states.columns import EVENT_TIME, INSTANT, ORDER, ORDINAL
from muntin.testing.oracle import DAY, Judgement, judge
from muntin.testing.oracle.time import events
from muntin.testing.oracle.time import watermarks as known
from muntin.timeline.closing import closing
from tests.catalogue.aggregates import CARRYING, ROWS
from tests.catalogue.columns import COLUMNS
from tests.oracle import lasting
from tests.properties.combining import combine
from tests.properties.laws.states import lifted
from tests.properties.naive_lift import positioned
from tests.properties.random_cases import Case, case

ASKED = {f"a{at}": row.made() for at, row in enumerate(ROWS)}
ORACLE = {f"a{at}": row.oracle for at, row in enumerate(ROWS) if row.oracle}
LASTING = {row.call: row.made() for row in CARRYING}
FIELDS = {field.stem: field for each in (*ASKED.values(), *LASTING.values()) for field in each.fields}
LIFTS = {name: lift for field in FIELDS.values() for name, lift in lifts_sql(field).items()}
PLACES = {"case": pa.int64(), "at": pa.int64(), "split": pa.int64(), "group": pa.string(), "frame": pa.int64()}
SCHEMA = pa.schema([("t", pa.int64()), ("k", pa.string()), *COLUMNS.items(), *PLACES.items()])
SEEDS = range(1, 13)


def with_columns(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of a case with the columns of the catalogue."""
    n, x = row["v"], row["x"]
    lists = None if n is None else [x, float(n), None][: abs(n) % 4]
    of_n = dict.fromkeys("ybd") if n is None else {"y": 1e9 + n / 8, "b": n > 3, "d": Decimal(n) / 4}
    return {"t": row["t"], "k": row["k"], "n": n, "x": x, "s": row["s"], "l": lists, "m": lists and lists[1:]} | of_n


@cache
def states() -> pa.Table:
    """The states of all cases, as DuckDB lifts them, by one query: to plan it takes longer than to run it."""
    rows = [
        with_columns(row) | {"case": seed, "split": split, "at": at, "group": row["k"] if given.keys else None, "frame": frame(given, row)}
        for seed in SEEDS
        for given in [case(seed)]
        for at, batch in enumerate(given.batches)
        for split, places in enumerate(np.array_split(np.arange(len(batch.rows)), 1 + seed % 3))
        for row in (batch.rows[place] for place in places)
    ]
    table = pa.Table.from_pylist(rows, SCHEMA)
    for name in (EVENT_TIME, ORDER):
        table = table.append_column(name, table["t"])
    table = table.append_column(ORDINAL, pa.array(np.arange(len(rows))))
    groups = {name: f'"{name}"' for name in ("case", "at", "split", "group", "frame")}
    times = {"first_event": f"min({EVENT_TIME})", "last_event": f"max({EVENT_TIME})"}
    return sealed(lifted(table, groups | times | LIFTS, list(groups.values())), FIELDS.values())


def frame(given: Case, row: Mapping[str, Any]) -> int:
    return row["t"] // given.width * given.width


def states_of(seed: int, given: Case) -> list[tuple[int, pa.Table]]:
    """Of one case: position of the batch, states of one of its splits."""
    found = states().filter(pc.field("case") == seed)
    for name in ("frame", "first_event", "last_event"):
        found = found.set_column(found.column_names.index(name), name, found[name].combine_chunks().view(INSTANT))
    if given.keys:
        found = found.rename_columns(["k" if name == "group" else name for name in found.column_names])
    pieces = [(at, split) for at in range(len(given.batches)) for split in range(1 + seed % 3)]
    other = [name for name in found.column_names if name not in ("case", "at", "split", "group")]
    return [(at, found.filter((pc.field("at") == at) & (pc.field("split") == split)).select(other)) for at, split in pieces]


def windows(seed: int, given: Case, watermarks: Sequence[float], aggregates: Mapping[str, Aggregate] = ASKED) -> Combined:
    """What the engine makes of a case whose batches are lifted in pieces."""
    return combine(
        positioned(states_of(seed, given)),
        window=given.ours,
        when=closing(given.ours, np.array([max(watermark, BEFORE_ALL) for watermark in watermarks]).astype(np.int64)),
        keys=given.keys,
        aggregates=aggregates,
        width_us=given.width,
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_from_rows_to_windows(seed: int) -> None:
    given = case(seed)
    batches = [replace(batch, rows=[with_columns(row) for row in batch.rows]) for batch in given.batches]
    said = judge(given.theirs, batches, ORACLE, keys=given.keys, watermark=given.policy, lateness=given.lateness)
    found = windows(seed, given, said.watermarks).windows
    starts, ends = (found[name].combine_chunks().view("int64").to_pylist() for name in ("window_start", "window_end"))
    ours = {(row.get("k"), start, end): row for row, start, end in zip(found.to_pylist(), starts, ends, strict=True)}
    theirs = {(row.get("k"), row["window_start"], row["window_end"]): row for row in said.published + said.still_open}
    assert ours.keys() == theirs.keys()
    for (key, start, end), row in theirs.items():
        wanted = {name: per_second(ASKED[name], row[name], end - start) for name in ORACLE}
        wrong = {
            each.call: (ours[key, start, end][name], wanted[name])
            for name, each in zip(ASKED, ROWS, strict=True)
            if name in ORACLE and not each.right.holds(ours[key, start, end][name], wanted[name])
        }
        assert wrong == {}, (key, start, end)


@pytest.mark.parametrize("seed", [seed for seed in SEEDS if case(seed).ours.grid])
def test_from_rows_to_windows_of_values_that_last(seed: int) -> None:
    given, never = case(seed), 1000 * DAY
    batches = [replace(batch, rows=[with_columns(row) for row in batch.rows]) for batch in given.batches]
    said = Judgement(known(batches, given.policy, never), given.lateness)
    spans = lasting.spans(given.theirs, events(batches, given.keys, never, lambda _: True), said, lambda _: iter(()))
    longest = max(each.carry.us for each in LASTING.values() if each.carry)
    found = windows(seed, replace(given, ours=given.ours.carrying(longest)), said.watermarks, LASTING).windows
    starts, ends = (found[name].combine_chunks().view("int64").to_pylist() for name in ("window_start", "window_end"))
    ours = {(row.get("k"), start, end): row for row, start, end in zip(found.to_pylist(), starts, ends, strict=True)}
    theirs = {(key[0] if key else None, start, end): span for (key, start, end), (span, _) in spans.items()}
    assert ours.keys() == theirs.keys()
    for window, span in theirs.items():
        wrong = {
            row.call: (ours[window][row.call], row.oracle(span))
            for row in CARRYING
            if not row.right.holds(ours[window][row.call], row.oracle(span))
        }
        assert wrong == {}, window


@pytest.mark.parametrize("seed", [seed for seed in SEEDS if case(seed).ours.grid])
def test_a_grid_is_told_between_any_two_instants(seed: int) -> None:
    kind, dice = case(seed).ours, random.Random(seed)
    middle = case(seed).batches[0].start
    for _ in range(20):
        low = middle + dice.randint(-30 * DAY, 30 * DAY)
        high = low + dice.choice([dice.randint(0, 3 * 3_600_000_000), dice.randint(0, 3 * DAY)])
        told = {*zip(*(each.tolist() for each in kind.grid(low, high)), strict=True)}
        over = {window for at in {low, high, *range(low, high, max(1, (high - low) // 400))} for window in kind.windows_for(at)}
        inside = {window for window in over if low <= window[0] and window[1] <= high}
        assert inside <= told
        assert all(low <= start and end <= high for start, end in told - over)


def per_second(aggregate: Aggregate, value: Any, length_us: int) -> Any:
    """Aggregates that use the window are rates; the oracle gives the sum."""
    return value * 1e6 / length_us if aggregate.uses_window and value is not None else value
