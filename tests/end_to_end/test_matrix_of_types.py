"""Every type that files can have, with hostile values, alone and in pairs: exact windows, a row in the quarantine, or an error of ours."""

import json
import random
from dataclasses import replace
from datetime import date
from decimal import Decimal
from itertools import permutations
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import aggregates as agg
from muntin import read
from muntin.errors import MuntinError
from tests.case_counts import cases, paired, some
from tests.end_to_end.exact_values import differences, exact
from tests.end_to_end.hourly import Hourly
from tests.end_to_end.typed_columns import COLUMNS
from tests.end_to_end.written_by import AT

PAIRS = cases(750)  # of 1,190: `make soak` takes others each time
CELLS = [
    "0", "-1", "7", "007", "1.0", "0.1", "1e2", "-0.0", str(2**53 + 1), str(2**53), str(2**63 - 1), str(2**63), str(2**64), "9" * 38,
    "9" * 39, f"{2**53}.5", "0.12345678901234567890", "1e400", "1e-400", "true", "a", "NaN", "12:30", "2024-01-02", "0x10", "1_000",
    "+5", "1,5",
]  # fmt: skip


def wrong(made: Hourly, *columns: pa.Array, hour: int = 0) -> list[str]:
    """What is wrong with the windows of an hour, by key and over all its rows. An error of ours that names the column is right."""
    try:
        (batch,) = made.run(hour, hour).batches
    except MuntinError as refused:
        return [] if "k" in str(refused) and "Traceback" not in str(refused) else [str(refused)]
    table = read(made.pipeline, "hour", root=made.root)
    table = table.filter(pa.array([each.hour == hour for each in table["window_start"].to_pylist()], pa.bool_()))
    written = [each for column in columns for each in exact(column)]
    found = [*differences(written, exact(table["k"]), table["n"].to_pylist(), batch.rows_quarantined)]
    values = {*written}
    for name in ("first", "last"):
        found += [f"{name} is {each!r}" for each in exact(table[name]) if each not in values]
    return found + [f"{count} distinct values" for count in table["distinct"].to_pylist() if count != (count > 0)]


def made_of(folder: Path, columns: dict[int, pa.Array]) -> Hourly:
    aggregates = {"n": agg.count(), "first": agg.first("k"), "last": agg.last("k"), "distinct": agg.count_distinct("k")}
    made = Hourly(folder, "{start:%H}.parquet", {"unit": "s"}, {"keys": ["k"], "aggregates": aggregates})
    for hour, column in columns.items():
        path = made.write(f"{hour:02d}.parquet", {"at": []})
        pq.write_table(pa.table({"at": [AT + 3600 * hour] * len(column), "k": column}), path)
    return made


@pytest.mark.parametrize("name", some(COLUMNS, one_in=3))
def test_alone(name: str, tmp_path: Path) -> None:
    assert wrong(made_of(tmp_path, {0: COLUMNS[name]}), COLUMNS[name]) == []


@pytest.mark.parametrize(("first", "second"), random.Random(39).sample([*permutations(COLUMNS, 2)], PAIRS))
def test_a_type_behind_another(first: str, second: str, tmp_path: Path) -> None:
    made = made_of(tmp_path, {0: COLUMNS[first], 1: COLUMNS[second]})
    for hour, name in enumerate((first, second)):
        assert wrong(made, COLUMNS[name], hour=hour) == []


@pytest.mark.parametrize(("first", "second"), random.Random(40).sample([*permutations(COLUMNS, 2)], PAIRS))
def test_a_type_beside_another_in_a_batch(first: str, second: str, tmp_path: Path) -> None:
    made = made_of(tmp_path, {0: COLUMNS[first]})
    both = replace(made, path="{start:%H}*.parquet")
    pq.write_table(pa.table({"at": [AT] * len(COLUMNS[second]), "k": COLUMNS[second]}), tmp_path / "data/00b.parquet")
    assert wrong(both, COLUMNS[first], COLUMNS[second]) == []


def is_cell(value: Any, cell: str) -> bool:
    """Whether a value is what a cell of text says."""
    if isinstance(value, str):
        return value in (cell, json.dumps(cell)) or is_number(value, cell)  # beside values of other types, JSON stays JSON
    if isinstance(value, bool):
        return str(value).lower() == cell.lower()
    if isinstance(value, date):
        return value.isoformat() == cell
    return is_number(repr(value) if isinstance(value, float) else value, cell)


def is_number(value: Any, cell: str) -> bool:
    try:
        return Decimal(value) == Decimal(cell) or (Decimal(value).is_nan() and cell.lower() == "nan")
    except ArithmeticError:
        return False


@pytest.mark.parametrize(("first", "ending"), some(paired(CELLS, ["csv", "jsonl"]), one_in=3))
def test_a_cell_above_another(ending: str, first: str, tmp_path: Path) -> None:
    for number, second in enumerate(random.Random(first).sample(CELLS, 2)):
        made = Hourly(
            tmp_path / str(number), f"{{start:%H}}.{ending}", {"unit": "s", "delimiter": ";" if ending == "csv" else None}, {"keys": ["k"]}
        )
        path = made.write(f"00.{ending}", {"at": []})
        lines = [f"{AT};{cell}" if ending == "csv" else f'{{"at": {AT}, "k": {as_json(cell)}}}' for cell in (first, second)]
        path.write_text("\n".join(["at;k", *lines] if ending == "csv" else lines) + "\n")
        (batch,) = made.run().batches
        keys = [key for (key,) in made.rows("k")] if batch.rows_accepted else []
        assert all(any(is_cell(key, cell) for cell in (first, second)) for key in keys), (second, keys)
        assert sum(count for (count,) in (made.rows("n") if keys else [])) + batch.rows_quarantined == 2
        same = is_cell(keys[0], first) and is_cell(keys[0], second) if keys else False
        assert len(keys) + batch.rows_quarantined == 2 or same, (second, keys)


def as_json(cell: str) -> str:
    """A cell as JSON: a number where JSON writes it so, else a text."""
    try:
        json.loads(cell)
    except ValueError:
        return json.dumps(cell)
    return cell
