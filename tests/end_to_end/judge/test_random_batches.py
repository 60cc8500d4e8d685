"""Random batches through the public API, in every way to run them: the oracle's windows, to the last bit the same.

Tasks run in this process, and once on Spark: two runs at once.

`MUNTIN_JUDGE=100` runs a hundred scenarios instead of a few.
"""

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.case_counts import seeds, some
from tests.end_to_end.judge import user_files as face
from tests.end_to_end.judge.scenario_on_disk import Bench, bench
from tests.end_to_end.judge.scenarios import AHEAD, Scenario, scenario
from tests.end_to_end.judge.verdict import accounted, bits, differences, in_order, truth
from tests.storage.three_batches import HERE

SEEDS = seeds(8)


def one_by_one(made: Bench) -> None:
    """In order, a run for each batch."""
    for number in range(len(made.case.batches)):
        made.run("state", number, number)


def reversed_(made: Bench) -> None:
    """The last batch first."""
    for number in reversed(range(len(made.case.batches))):
        made.run("state", number, number)


def in_pieces(made: Bench) -> None:
    """Holes that are filled later, and the last piece twice."""
    for first, last in ((0, 1), (4, 5), (2, 2), (3, 3), (3, 5)):
        made.run("state", first, last)


def two_at_once(made: Bench) -> None:
    """Every batch by two threads, neighbours side by side."""
    numbers = [number for number in range(len(made.case.batches)) for _ in range(2)]
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda number: made.run("state", number, number), numbers))


def twice(made: Bench) -> None:
    """The whole range over itself."""
    made.run("state")
    made.run("state")


def replaced(made: Bench) -> None:
    """One batch had other data at first; one had none."""
    before = made.case.with_batch(1, scenario(made.case.seed + 1000).batches[1].rows).with_batch(4, [])
    shifted = [{**row, "t": row["t"] and row["t"] + offset(made.case, before)} for row in before.batches[1].rows]
    made.write(before.with_batch(1, shifted))
    made.run("state")
    made.write(made.case)
    made.run("state", 4, 4)
    made.run("state", 1, 1)


def emptied(made: Bench) -> None:
    """Two batches had their predecessors' events at first; the third is empty in even scenarios."""
    before = made.case
    for number in range(2, len(before.batches), 3):
        before = before.with_batch(number, made.case.batches[number - 1].rows)
    made.write(before)
    made.run("state")
    made.write(made.case)
    for number in range(2, len(before.batches), 3):
        made.run("state", number, number)


def offset(case: Scenario, before: Scenario) -> int:
    """What brings another scenario's rows into this one's time."""
    return case.batches[1].start - scenario(before.seed + 1000).batches[1].start


WAYS: tuple[Callable[[Bench], None], ...] = (one_by_one, reversed_, in_pieces, two_at_once, twice, replaced, emptied)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_way_publishes_what_the_oracle_says(seed: int, tmp_path: Path) -> None:
    judged(bench(scenario(seed), tmp_path, HERE), WAYS[seed % len(WAYS)])


def test_so_it_is_on_spark(tmp_path: Path, spark: object) -> None:
    judged(bench(scenario(3, 3), tmp_path, spark), two_at_once)


def judged(made: Bench, way: Callable[[Bench], None]) -> None:
    """Bulk, under `clean`, against the oracle, window by window, open ones too; then another way against bulk, bit by bit."""
    way(made)
    assert accounted(made.case, made.run("clean").batches) == []
    clean, other = made.tables("clean"), made.tables("state")
    for name in made.case.windows:
        said = truth(made.case, name)
        rows = face.published(made.pipeline, name, made.folder / "clean", made.case.batches)
        assert differences(made.case, rows, said.published) == [], name
        assert in_order(made.case, rows), name
        every = face.published(made.pipeline, name, made.folder / "clean", made.case.batches, provisional=True)
        assert differences(made.case, [row for row in every if row["provisional"]], said.still_open) == [], name
        assert bits(other[name]) == bits(clean[name]), (way.__name__, name)


@pytest.mark.parametrize("seed", some([0, 1]))
def test_each_batch_has_a_report(seed: int, tmp_path: Path) -> None:
    """Rows and windows, in bulk and by itself."""
    made = bench(scenario(seed), tmp_path, HERE)
    reported(made.case, made.run("bulk").batches)
    alone = [made.run("alone", number, number).batches for number in range(len(made.case.batches))]
    reported(made.case, [report for reports in alone for report in reports])


def reported(case: Scenario, reports: Sequence[Any]) -> None:
    """What the oracle counts is what each report says."""
    assert accounted(case, reports) == []
    judged = {name: truth(case, name) for name in case.windows}
    known = next(iter(judged.values())).watermarks
    for number, (batch, said) in enumerate(zip(case.batches, reports, strict=True)):
        assert said.watermark == (None if math.isinf(known[number]) else face.instant(int(known[number])))
        assert said.interval_start == face.instant(batch.start)
        assert said.interval_end == face.instant(batch.end)
        assert said.rows_read == len(batch.rows)
        incredible = [row for row in batch.rows if row["t"] is None or row["t"] > batch.end + AHEAD]
        assert said.rows_quarantined == len(incredible)
        closed = {name: sum(row["batch"] == number for row in said.published) for name, said in judged.items()}
        assert {name: said.windows_closed.get(name, 0) for name in case.windows} == closed
