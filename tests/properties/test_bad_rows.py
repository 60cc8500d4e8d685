"""Every row of a file of garbage ends up somewhere: in states, left out by the filter, or in the quarantine with its line and reason."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from deltalake import DeltaTable

from muntin import aggregates as agg
from muntin.jobs.state.bound import bind
from tests.case_counts import some
from tests.end_to_end.hourly import Hourly
from tests.properties.random_text_files import TEN_PAST, Row, naive_csv, naive_json, random_csv, random_json

SEEDS = range(int(os.environ["MUNTIN_GARBAGE"])) if "MUNTIN_GARBAGE" in os.environ else some(range(25), one_in=3)
LARGEST = 2**63


def hourly(folder: Path, ending: str) -> Hourly:
    """Sums of a column with a type of the definition, and of a text that is cast in SQL, per key."""
    return Hourly(
        folder,
        f"{{start:%H}}*.{ending}",
        {"types": {"x": "BIGINT", "y": "VARCHAR", "k": "VARCHAR"}},
        {
            "keys": ["k"],
            "where": "k <> 'left' OR k IS NULL",
            "aggregates": {"n": agg.count(), "x": agg.sum("x"), "y": agg.sum("y::BIGINT")},
        },
    )


def fate(row: Row) -> str:
    """What becomes of a row."""
    if row.cells is None or not _fits(row.cells["x"]):
        return "unread"
    if row.cells["at"] != TEN_PAST:
        return "no time"
    if row.cells["k"] == "left":
        return "left out"
    return "taken" if _fits(row.cells["y"]) else "not computed"


def _fits(cell: Any) -> bool:
    try:
        return cell is None or (not isinstance(cell, list) and abs(int(cell)) < LARGEST)
    except ValueError:
        return False


def sums(rows: list[Row]) -> list[tuple[Any, ...]]:
    """Key, rows and sums of the rows that are taken."""
    found: dict[str | None, list[dict[str, Any]]] = {}
    for row in rows:
        if row.cells and fate(row) == "taken":
            found.setdefault(row.cells["k"], []).append(row.cells)
    return sorted(((key, len(cells), _sum(cells, "x"), _sum(cells, "y")) for key, cells in found.items()), key=repr)


def _sum(cells: list[dict[str, Any]], name: str) -> int | None:
    values = [int(each[name]) for each in cells if each[name] is not None]
    return sum(values) if values else None


READERS: dict[str, tuple[Callable[[Random], bytes], Callable[[bytes], Iterator[Row]]]] = {
    "csv": (random_csv, naive_csv),
    "jsonl": (random_json, naive_json),
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("ending", READERS)
def test_every_row_of_garbage_ends_up_where_a_naive_reader_says(ending: str, seed: int, tmp_path: Path) -> None:
    made, naive = READERS[ending]
    dice, case = Random(seed), hourly(tmp_path, ending)
    rows = dict[str, list[Row]]()
    for number in range(dice.randint(1, 2)):
        path = case.write(f"00-{number}.{ending}", {"at": []})
        path.write_bytes(made(dice))
        rows[str(path)] = list(naive(path.read_bytes()))
    every = [row for found in rows.values() for row in found]
    fates = [fate(row) for row in every]
    (batch,) = case.run().batches
    kept, left_out = fates.count("taken"), fates.count("left out")
    assert (batch.rows_read, batch.rows_accepted, batch.rows_left_out) == (len(every), kept, left_out)
    assert sorted(case.rows("k", "n", "x", "y"), key=repr) == sums(every)
    bad = {(path, row.line) for path, found in rows.items() for row in found if fate(row) not in ("taken", "left out")}
    told = quarantine(case)
    assert len(told) == len(bad) == batch.rows_quarantined
    assert {(row["file"], row["line"]) for row in told} == bad
    texts = {(path, row.line): row.text for path, found in rows.items() for row in found if row.cells is None}
    assert {place: row["row"] for row in told if (place := (row["file"], row["line"])) in texts} == texts
    assert all(row["reason"] for row in told)


def quarantine(case: Hourly) -> list[dict[str, Any]]:
    """The rows of the quarantine."""
    folder = Path(bind(case.pipeline, case.root).folder, "quarantine")
    return DeltaTable(folder).to_pyarrow_table().to_pylist() if folder.exists() else []
