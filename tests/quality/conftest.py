"""Staged files and suites, as small as they can be."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin.quality import load_suite
from muntin.quality.suite import Suite

NEW_YEAR = datetime(2013, 1, 1, tzinfo=UTC)
INSTANT = pa.timestamp("us", tz="UTC")
Column = pa.Array | list[object] | None
Stage = Callable[..., str]
SuiteOf = Callable[..., Suite]


def hour(number: int) -> datetime:
    """The instant so many hours after the year began."""
    return NEW_YEAR + timedelta(hours=number)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    """`stage(flights=[3, 4])` writes one file of windows, an hour apart; None leaves a column out. Returns its path."""

    def write(file: str = "staged.parquet", **columns: Column) -> str:
        count = next((len(values) for values in columns.values() if values is not None), 3)
        usual: dict[str, Column] = {
            "origin": [("EWR", "JFK", "LGA")[n % 3] for n in range(count)],
            "window_start": pa.array([hour(n) for n in range(count)], INSTANT),
            "window_end": pa.array([hour(n + 6) for n in range(count)], INSTANT),
            "flights": pa.array([10] * count, pa.int64()),
            "late": pa.array([2] * count, pa.int64()),
            "delay": pa.array([12.5] * count, pa.float64()),
            "worst": pa.array([80.0] * count, pa.float64()),
            "batch": pa.array([NEW_YEAR] * count, INSTANT),
        }
        kept = {name: values for name, values in (usual | columns).items() if values is not None}
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table(kept), path)
        return str(path)

    return write


@pytest.fixture
def suite_of(tmp_path: Path) -> SuiteOf:
    """`suite_of(("expect_...", {"column": "flights"}, "warning"))` is that suite, by way of a file."""

    def write(*expectations: tuple[object, ...]) -> Suite:
        fields = ("type", "kwargs", "severity")
        entries = [dict(zip(fields, expectation, strict=False)) for expectation in expectations]
        path = tmp_path / "suite.json"
        path.write_text(json.dumps({"name": "test", "expectations": entries}), encoding="utf-8")
        return load_suite(path)

    return write
