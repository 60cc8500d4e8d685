"""The worked examples through the oracle."""

from typing import Any

import pytest

from muntin.testing.oracle import SECOND, Agg, judge
from tests.oracle.examples import BASE, BY_BATCH, ONE_BATCH, Example, batches, summary
from tests.oracle.more_examples import BY_BATCH_MORE, ONE_BATCH_MORE

MEASURES = {name: Agg(name, lambda row: row["v"]) for name in ("count", "sum", "min", "max", "first", "last")}


def drawn(rows: list[dict[str, Any]]) -> dict[tuple[int, int], tuple[int, ...]]:
    """Windows in seconds after `BASE`."""
    return {
        (row["window_start"] // SECOND - BASE, row["window_end"] // SECOND - BASE): tuple(row[name] for name in MEASURES) for row in rows
    }


@pytest.mark.parametrize("example", ONE_BATCH + ONE_BATCH_MORE, ids=lambda example: example.name)
def test_all_in_one_batch(example: Example) -> None:
    """One day's batch; its end closes everything."""
    said = judge(example.window, batches(example, "a", 86_400), MEASURES)
    assert drawn(said.published) == summary(example.held)


@pytest.mark.parametrize("example", BY_BATCH + BY_BATCH_MORE, ids=lambda example: example.name)
def test_batch_by_batch(example: Example) -> None:
    """Time is the largest event; what is open at the end is flushed."""
    said = judge(example.window, batches(example, "a", 1), MEASURES, watermark="events")
    assert drawn(said.published + said.still_open) == summary(example.held)
    closed = {row["window_end"] // SECOND - BASE: row["batch"] for row in said.published}
    assert closed == example.closed


# frames  |2 4 4 |4 5 5 |7 9 |   mean 5, population deviation 2
def test_j5_moments() -> None:
    rows = [{"v": v} for v in (2, 4, 4, 4, 5, 5, 7, 9)]
    found = {name: Agg(name, lambda row: row["v"])(rows) for name in ("mean", "stddev", "min", "max")}
    assert found == {"mean": 5, "stddev": pytest.approx(2.138089935), "min": 2, "max": 9}
    assert Agg("stddev", lambda row: row["v"], population=True)(rows) == 2
