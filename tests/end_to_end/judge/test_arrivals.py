"""Windows in order of arrival through the public API: the oracle's, to the last bit the same in every way to run them.

Tasks run in this process; those of one bulk run on Spark.

`MUNTIN_JUDGE=100` runs a hundred scenarios instead of a few.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.case_counts import at_length, seeds
from tests.end_to_end.judge import user_files as face
from tests.end_to_end.judge.arrivals import ARRIVALS, ArrivalBench, arrival_bench, coming
from tests.end_to_end.judge.test_random_batches import one_by_one, reversed_
from tests.end_to_end.judge.verdict import accounted, bits, same
from tests.storage.three_batches import HERE

SEEDS = seeds(3)


def replaced(made: ArrivalBench) -> None:
    """One batch had its successor's rows at first, as of its own time; one had none."""
    other = coming(made.case.seed, made.case.batches[1]).rows
    later = [{**row, "a": mine["a"]} for row, mine in zip(made.case.batches[2].rows, other, strict=False)]
    made.write(made.case.with_batch(1, later).with_batch(4, []))
    made.run("state")
    made.write(made.case)
    made.run("state", 4, 4)
    made.run("state", 1, 1)


def reversed_in_this_process(made: ArrivalBench) -> None:
    """The last batch first, whatever session the others have."""
    reversed_(replace(made, spark=HERE))


WAYS = (replaced, one_by_one, reversed_)


def differences(made: ArrivalBench, name: str, found: face.Rows, wanted: face.Rows) -> list[str]:
    """One line for each window that is missing, too many, or has other values."""
    names = (*made.case.keys, "window_index", *ARRIVALS[name].theirs.group_by)
    ours, theirs = ({tuple(row[key] for key in names): row for row in rows} for rows in (found, wanted))
    twice = [f"twice: {len(found) - len(ours)}"] if len(found) != len(ours) else []
    return twice + [
        f"{key}: {ours.get(key)} not {theirs.get(key)}"
        for key in ours | theirs
        if key not in ours or key not in theirs or not all(same(ours[key][column], value) for column, value in theirs[key].items())
    ]


@pytest.mark.parametrize("seed", SEEDS)
def test_every_way_publishes_what_the_oracle_says(seed: int, tmp_path: Path) -> None:
    judged(arrival_bench(seed, tmp_path, HERE), WAYS[seed % len(WAYS)])


@at_length
def test_so_it_is_on_spark(tmp_path: Path, spark: object) -> None:
    judged(arrival_bench(3, tmp_path, spark), reversed_in_this_process)


def judged(made: ArrivalBench, way: Callable[[ArrivalBench], None]) -> None:
    """Bulk against the oracle, window by window; then another way against bulk, bit by bit."""
    way(made)
    assert accounted(made.case, made.run("clean").batches) == []
    clean, other = made.tables("clean"), made.tables("state")
    for name in ARRIVALS:
        rows: list[dict[str, Any]] = face.published(made.pipeline, name, made.folder / "clean", made.case.batches)
        assert differences(made, name, rows, made.truth(name).published) == [], name
        assert bits(other[name]) == bits(clean[name]), (way.__name__, name)
