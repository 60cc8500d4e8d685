"""Windows given by a table of spans for some keys, whose table changes from run to run: as the oracle says, and as a clean run's.

`MUNTIN_CORE=30000` runs more of them.
"""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from muntin import windows
from muntin.engine.given_spans import END, START, given_spans
from muntin.testing.oracle import DAY, judge
from muntin.timeline.closing import closing
from tests.case_counts import cases, random_seeds
from tests.catalogue.calls import span
from tests.catalogue.given_tables import instants, spans_around
from tests.catalogue.random_times import MINUTE, grace, some
from tests.oracle.given import Given
from tests.properties.equal_values import alike
from tests.properties.naive_lift import ORACLE
from tests.properties.random_cases import Case, case_over
from tests.properties.random_histories import Desk
from tests.properties.test_against_oracle import derived
from tests.properties.test_any_history import steps

Spans = Sequence[tuple[str | None, str, int, int]]
"""Key, name, start and end."""
NAMES = ("a", "b", "ü", None, "nobody")


def spans_of_keys(dice: random.Random, base: int) -> Spans:
    """Spans of some keys, now and then with the same times and another name."""
    found = {
        (key, dice.choice(["early", "late"]), *each)
        for key in dice.sample(NAMES, k=dice.randint(0, 4))
        for each in spans_around(dice, base, most=8)
    }
    return sorted(found, key=repr)


def changed(dice: random.Random, spans: Spans, base: int) -> Spans:
    """The same table, or without a span, with one more, with a span elsewhere or of another name, or another table."""
    rest = [each for each in spans if dice.random() < 0.8]
    other = [(key, name, start, end + dice.choice([0, MINUTE])) for key, name, start, end in rest]
    renamed = [(key, "night" if dice.random() < 0.2 else name, start, end) for key, name, start, end in spans]
    fresh = spans_of_keys(dice, base)
    return sorted({*dice.choice([spans, spans, rest, other, renamed, [*spans, *fresh[:1]], fresh])}, key=repr)


def kind(spans: Spans, grace_us: int, *, keyed: bool, lateness: int = 0) -> Any:
    """Our kind with this table; without keys each span is of every key."""
    keys, names, starts, ends = zip(*spans, strict=True) if spans else ((), (), (), ())
    columns = {"k": pa.array(keys, pa.string()), START: instants(starts), END: instants(ends), "name": pa.array(names, pa.string())}
    table = pa.table(columns) if keyed else pa.table(columns).drop_columns(["k"])
    found = given_spans(table, ("k",) if keyed else ())
    asked = windows.given("spans.csv", start="s", end="e", keys=["k"] if keyed else [], columns=["name"], grace=span(grace_us))
    return replace(asked.with_spans(lambda: found), lateness_us=lateness)


def case(seed: int) -> tuple[Case, Spans, random.Random]:
    """A case with spans of keys, and its table."""
    dice = random.Random(f"given {seed}")
    drawn = some(dice, None)
    spans, grace_us = spans_of_keys(dice, drawn.base), grace(dice)
    if seed % 3 == 0:
        spans = sorted({(None, *rest) for _, *rest in spans}, key=repr)
    asked = case_over(dice, replace(drawn, theirs=grace_us), kind(spans, grace_us, keyed=bool(seed % 3)), seed)
    return replace(asked, keys=("k",)), spans, dice


def told(given: Case, spans: Spans) -> Counter[str]:
    """What the oracle says, key by key and name by name."""
    found: Counter[str] = Counter()
    for key in {row["k"] for batch in given.batches for row in batch.rows}:
        own = [each for each in spans if not given.ours.by_keys or each[0] == key]
        for name in sorted({each[1] for each in own}):
            window = Given(tuple((start, end) for _, each, start, end in own if each == name), given.theirs)
            said = judge(
                window,
                given.batches,
                ORACLE,
                keys=given.keys,
                watermark=given.policy,
                lateness=given.lateness,
                max_ahead=1000 * DAY,
                where=_is_of(key),
            )
            for row in said.published + said.still_open:
                found[repr((key, row["window_start"], row["window_end"], name, row["n"], row["total"], row["opening"], row["batch"]))] += 1
    return found


def _is_of(key: str | None) -> Any:
    return lambda row: row["k"] == key


def found_by_us(given: Case) -> Counter[str]:
    watermarks = judge(Given((), given.theirs), given.batches, ORACLE, watermark=given.policy, max_ahead=1000 * DAY).watermarks
    combined = derived(given, watermarks)
    table = combined.windows
    bounds = [table[name].combine_chunks().view("int64").to_pylist() for name in (START, END)]
    batch = [None if at == len(given.batches) else at for at in combined.closed.tolist()]
    columns = (table["k"].to_pylist(), *bounds, *(table[name].to_pylist() for name in ("name", "n", "total", "opening")), batch)
    return Counter(map(repr, zip(*columns, strict=True)))


def test_windows_of_keys_are_what_the_oracle_says() -> None:
    wrong = {}
    for seed in random_seeds(600):
        given, spans, _ = case(seed)
        ours, theirs = found_by_us(given), told(given, spans)
        if ours != theirs:
            wrong[seed] = (ours - theirs, theirs - ours)
    assert wrong == {}


def first_mistake(seed: int) -> list[str]:
    """A history of batches and tables, until it differs from a clean run."""
    given, spans, dice = case(seed)
    desk, base = Desk(given), given.batches[0].start
    for at, step in enumerate(steps(given, dice)):
        asked = [desk.accumulate(number, rows) for number, rows in step]
        if dice.random() < 0.7:
            spans = changed(dice, spans, base)
            desk.given = replace(desk.given, ours=kind(spans, given.theirs, keyed=bool(given.ours.by_keys), lateness=given.lateness))
        desk.finalize(asked)
        if said := desk.wrong():
            return [f"step {at}", *said]
        assert not desk.finalize(asked), "a second finalize finds nothing to do"
    return []


def test_every_history_of_batches_and_tables_equals_a_clean_run() -> None:
    wrong = {seed: said for seed in random_seeds(400) if (said := first_mistake(seed))}
    assert wrong == {}


def needed(desk: Desk, before: Any, now: Any) -> set[int]:
    """The batches that close a span which only one of two tables has, or have a row that is late for one; span by span."""
    todo = desk.to_do([])
    when, batches = closing(now, todo.watermarks_us), todo.history.batches
    only = {*_rows(before)} ^ {*_rows(now)}
    found = {int(when.batch_of(np.array([end]))[0]) for _, _, end in only}
    for at in range(len(batches)):
        frames = batches.low_us[at], batches.high_us[at]
        found |= {at} if any(start <= frames[1] and frames[0] < end <= when.floor[at] for _, start, end in only) else set()
    return found - {len(batches)}


def _rows(asked: Any) -> list[tuple[str, int, int]]:
    table: Mapping[str, list[Any]] = asked.spans.table.to_pydict()
    times = asked.spans.start.tolist(), asked.spans.end.tolist()
    return [(repr(rest), start, end) for *rest, start, end in zip(*table.values(), *times, strict=True)]


def test_a_changed_table_derives_the_batches_of_changed_spans_alone() -> None:
    seen = 0
    for seed in random_seeds(300):
        given, spans, dice = case(seed)
        desk = Desk(given)
        desk.finalize([desk.accumulate(number, batch.rows) for number, batch in enumerate(given.batches)])
        other = kind(changed(dice, spans, given.batches[0].start), given.theirs, keyed=bool(given.ours.by_keys), lateness=given.lateness)
        desk.given = replace(given, ours=other)
        wanted = needed(desk, given.ours, other)
        assert {*desk.finalize([]).positions.tolist()} == wanted, seed
        seen += bool(wanted)
    assert seen or cases(300) < 20


def test_values_of_other_spans_stay_to_the_bit() -> None:
    """A state that is late for one span counts in the order of time in another: whether the first is there changes no bit of the second."""
    for seed in random_seeds(300):
        given, spans, dice = case(seed)
        more = spans_of_keys(dice, given.batches[0].start)
        whole = kind(sorted({*spans, *more}, key=repr), given.theirs, keyed=bool(given.ours.by_keys), lateness=given.lateness)
        watermarks = judge(Given((), given.theirs), given.batches, ORACLE, watermark=given.policy, max_ahead=1000 * DAY).watermarks
        few, many = (derived(replace(given, ours=ours), watermarks).windows.to_pylist() for ours in (given.ours, whole))
        names = ("k", START, END, "name")
        known = {tuple(row[name] for name in names): row for row in many}
        assert all(alike(repr([*row.values()]), repr([*known[tuple(row[name] for name in names)].values()])) for row in few), seed
