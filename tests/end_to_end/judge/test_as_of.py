"""Look-ups by `as_of` against a naive judge: a loop over raw events and the batches that had ended, in random scenarios.

`MUNTIN_JUDGE=100` runs a hundred scenarios instead of a few.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pyarrow as pa
import pytest

from muntin import as_of
from muntin.jobs.housekeeping import compact as compaction
from muntin.jobs.upkeep.maintain import maintain
from muntin.jobs.upkeep.promote import rollback
from muntin.testing.oracle import SECOND, Judgement, Window
from muntin.testing.oracle.kinds import micros
from muntin.timeline.closing import Knowledge
from tests.case_counts import seeds
from tests.end_to_end.judge.scenario_on_disk import Bench, bench
from tests.end_to_end.judge.scenarios import LENGTH, MEASURES, Scenario, scenario
from tests.end_to_end.judge.test_random_batches import in_pieces, replaced, reversed_
from tests.end_to_end.judge.verdict import bit, same, truth
from tests.storage.three_batches import HERE

SEEDS = seeds(2)
KNOWLEDGE = [(known, provisional) for known in get_args(Knowledge) for provisional in (False, True)]
WAYS: tuple[Callable[[Bench], None], ...] = (in_pieces, replaced, reversed_)
ASKED = 60
BOUNDS = ("window_start", "window_end")


def questions(case: Scenario, dice: random.Random) -> list[dict[str, Any]]:
    """Keys that are there and keys that are not; instants before, between, in and after the batches, many on borders."""
    first, last = case.batches[0].start - LENGTH, case.batches[-1].end + 2 * LENGTH
    names = {"name": ["a", "b", "ü✓", "", None, "nobody"], "shard": [1, 2, None, 3]}
    instants = [None, *(dice.randrange(first, last, dice.choice([1, SECOND // 2, SECOND])) for _ in range(ASKED - 1))]
    return [{"number": at, "seen": each, **{key: dice.choice(names[key]) for key in case.keys}} for at, each in enumerate(instants)]


def table_of(case: Scenario, rows: Sequence[dict[str, Any]]) -> pa.Table:
    """The questions as a reader has them: longs for numbers, nanoseconds."""
    kinds = {"name": pa.large_string(), "shard": pa.int32()}
    schema = pa.schema({"number": pa.int64(), "seen": pa.int64(), **{key: kinds[key] for key in case.keys}})
    table = pa.Table.from_pylist(list(rows), schema)
    return table.set_column(1, "seen", table["seen"].cast(pa.timestamp("us", tz="UTC")).cast(pa.timestamp("ns", tz="UTC")))


class Judge:
    """The naive answers about one window of a scenario."""

    def __init__(self, case: Scenario, window: str) -> None:
        self.case, self.name, self.window = case, window, case.windows[window]
        self.told: dict[int, Judgement] = {}

    def after(self, position: int) -> Judgement:
        """Every window as a run of the batches up to this one gives it."""
        if position not in self.told:
            self.told[position] = truth(replace(self.case, batches=self.case.batches[: position + 1]), self.name)
        return self.told[position]

    def answer(self, row: dict[str, Any], known: str, *, provisional: bool) -> dict[str, Any] | None:
        """The window of a row; None: none was known."""
        at, batches = row["seen"], self.case.batches
        position = len(batches) - 1 if known == "ended" else sum(at is not None and batch.end <= at for batch in batches) - 1
        if at is None or position < 0:
            return None
        judgement = self.after(position)
        there = [*judgement.published, *(judgement.still_open if provisional else [])]
        mine = [each for each in there if each["window_end"] <= at and all(each[key] == row[key] for key in self.case.keys)]
        if not hasattr(self.window, "windows_for") or hasattr(self.window, "spans"):
            return max(mine, key=lambda each: (each["window_end"], each["window_start"], each.get("tie", 0)), default=None)
        wanted = next((w for w in ended(self.window, at) if provisional or self.window.closed(w[1], judgement.watermarks[-1])), None)
        if wanted is None or (judgement.watermarks[-1] == -float("inf") and not provisional):
            return None
        found = [each for each in mine if (each["window_start"], each["window_end"]) == wanted]
        if not found and self.case.having:
            return None  # it may be a hidden window
        return found[0] if found else self.empty(wanted, judgement)

    def empty(self, wanted: tuple[int, int], judgement: Judgement) -> dict[str, Any]:
        """A window without rows."""
        values = {name: measure.oracle([]) for name, measure in MEASURES.items()}
        return dict(zip(BOUNDS, wanted, strict=True)) | values | {"batch": judgement.closing(self.window, wanted[1])}


def ended(window: Window, at: int) -> Iterator[tuple[int, int]]:
    """The windows of a grid that ended by an instant, the last first."""
    for _ in range(2_000):
        last = last_ended(window, at)
        yield last
        at = last[1] - 1


@cache
def last_ended(window: Window, at: int) -> tuple[int, int]:
    """The window of a grid that ended last by an instant."""
    near = {at, *(t for start, _ in window.windows_for(at) for t in (start, start - 1))}
    found, before = {w for t in near for w in window.windows_for(t) if w[1] <= at}, at
    while not found:  # between windows that have holes between them
        before -= window.probe
        found = {w for w in window.windows_for(before) if w[1] <= at}
    return max(found, key=lambda w: w[1])


def asked(made: Bench, root: str, window: str, rows: Sequence[dict[str, Any]], **more: Any) -> list[dict[str, Any]]:
    """The answers, instants as microseconds and the closing batch as its number."""
    found = as_of(made.pipeline, window, table_of(made.case, rows), at="seen", root=str(made.folder / root), **more)
    numbers = {batch.start: number for number, batch in enumerate(made.case.batches)}
    answers = found.drop_columns(["seen"]).to_pylist()
    for each in answers:
        each |= {name: each[name] and micros(each[name]) for name in BOUNDS}
        each["batch"] = each["batch"] and numbers[micros(each["batch"])]
    return answers


@pytest.mark.parametrize("seed", SEEDS)
def test_every_row_gets_the_window_that_was_known_then(seed: int, tmp_path: Path) -> None:
    made = bench(scenario(seed), tmp_path, HERE)
    WAYS[seed % len(WAYS)](made)
    assert not wrong(made, made.case)


def test_through_a_hole_small_files_put_together_a_changed_definition_and_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """
    batch       0  1  2  3  4  5
    first       r  r     r  r  r      batches 3 to 5 wait for batch 2: known are 0 and 1
    then              r               all are known
    """
    monkeypatch.setattr(compaction, "MANY", 2)
    case = scenario(1)
    graced = {name: kind for name, kind in case.windows.items() if hasattr(kind, "grace")}
    made = bench(replace(case, windows=dict([*graced.items()][::2])), tmp_path, HERE)
    made.run("state", 0, 1)
    made.run("state", 3, 5)
    assert not wrong(made, replace(made.case, batches=made.case.batches[:2]))
    made.run("state", 2, 2)
    root = made.folder / "state"
    assert maintain(made.pipeline, root=root, older_than_us=0, now=datetime(2100, 1, 1, tzinfo=UTC)).compacted
    assert not wrong(made, made.case)
    later = {name: replace(kind, grace=kind.grace + SECOND) for name, kind in made.case.windows.items()}
    changed = bench(replace(made.case, windows=later), tmp_path, HERE)
    changed.run("state")
    assert not wrong(changed, changed.case)
    rollback(changed.pipeline, root=root)
    assert not wrong(made, made.case)


def wrong(made: Bench, case: Scenario) -> list[Any]:
    """The rows that get another window than the judge's, who knows the batches of a case."""
    found, dice = [], random.Random(case.seed)
    for name in case.windows:
        judge, rows = Judge(case, name), questions(made.case, dice)
        for known, provisional in KNOWLEDGE if published(name, provisional=False) else [each for each in KNOWLEDGE if each[1]]:
            answers = asked(made, "state", name, rows, known=known, provisional=provisional)
            assert [each["number"] for each in answers] == [each["number"] for each in rows]
            wanted = [judge.answer(row, known, provisional=provisional) for row in rows]
            three = zip(rows, answers, wanted, strict=True)
            found += [(name, known, provisional, *each) for each in three if different(each[2], each[1])]
    return found


def published(name: str, provisional: bool) -> bool:
    """Whether windows of that name can be looked up: the window over all time is never published."""
    return name != "ever" or provisional


def different(wanted: dict[str, Any] | None, answer: dict[str, Any]) -> list[str]:
    """The columns that differ."""
    names = [*BOUNDS, *MEASURES, "batch"]
    return [name for name in names if not same(answer[name], None if wanted is None else wanted[name])]


def test_answers_are_the_published_windows_to_the_bit(tmp_path: Path) -> None:
    """As a run that stops there publishes them."""
    made, dice = bench(scenario(4), tmp_path, HERE), random.Random(4)
    made.run("state")
    first = next(number for number, batch in enumerate(made.case.batches) if batch.rows)  # before, the types are not known
    for position, batch in list(enumerate(made.case.batches))[first:]:
        made.run(f"to {position}", 0, position)
        for name in made.case.windows:
            rows = [{**row, "seen": batch.end + 3 * SECOND} for row in questions(made.case, dice)]
            for provisional in (False, True) if published(name, provisional=False) else (True,):
                now, then = (
                    asked(made, root, name, rows, known=known, provisional=provisional)
                    for root, known in (("state", "closed"), (f"to {position}", "ended"))
                )
                assert [[*map(bit, row.values())] for row in now] == [[*map(bit, row.values())] for row in then], (name, position)
