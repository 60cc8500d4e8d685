"""The same batches in other clothes give the same windows: CSV, JSON lines, compressed, in several files."""

import csv
import gzip
import io
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import Limits, Pipeline, run, sources
from tests.catalogue.kinds import JUDGED, called
from tests.end_to_end.judge import user_files as face
from tests.end_to_end.judge.scenarios import AHEAD, MEASURES, TYPES, Scenario, scenario
from tests.end_to_end.judge.verdict import accounted, differences, truth
from tests.source_options import grouped
from tests.storage.three_batches import HERE

Lines = Sequence[Mapping[str, Any]]
NAMED = "{start:" + face.NAME + "}"


def iso(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with its time as text."""
    return {**row, "t": None if row["t"] is None else face.instant(row["t"]).isoformat()}


def as_csv(folder: Path, name: str, rows: Lines) -> None:
    """Nulls are empty fields."""
    text = io.StringIO()
    writer = csv.DictWriter(text, ["t", *TYPES])
    writer.writeheader()
    writer.writerows(map(iso, rows))
    (folder / f"{name}.csv.gz").write_bytes(gzip.compress(text.getvalue().encode()))


def as_json(folder: Path, name: str, rows: Lines) -> None:
    """One object a line."""
    lines = "".join(json.dumps(iso(row), ensure_ascii=False) + "\n" for row in rows)
    (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")


def as_parts(folder: Path, name: str, rows: Lines) -> None:
    """Three files, whose names say which came first."""
    cuts = [0, len(rows) // 3, len(rows) // 2, len(rows)]
    for part, (begin, end) in enumerate(pairwise(cuts)):
        parquet(folder / f"{name}-{part}.parquet", rows[begin:end], pa.timestamp("us", tz="Asia/Kolkata"))


def as_naive(folder: Path, name: str, rows: Lines) -> None:
    """Timestamps without a zone, read as UTC."""
    parquet(folder / f"{name}.parquet", rows, pa.timestamp("us"))


def as_numbers(folder: Path, name: str, rows: Lines) -> None:
    """Microseconds since 1970 in an integer column."""
    parquet(folder / f"{name}.parquet", rows, pa.int64())


def parquet(path: Path, rows: Lines, time: pa.DataType) -> None:
    """A file with times of that type."""
    columns = {name: pa.array([row[name] for row in rows], kind) for name, kind in TYPES.items()}
    pq.write_table(pa.table({"t": pa.array([row["t"] for row in rows], pa.int64()).cast(time), **columns}), path)


SQL = {"name": "VARCHAR", "shard": "BIGINT", "v": "BIGINT", "x": "DOUBLE", "y": "DOUBLE", "s": "VARCHAR"}
CLOTHES: dict[str, tuple[Callable[[Path, str, Lines], None], str, dict[str, Any]]] = {
    "csv": (as_csv, f"{NAMED}.csv.gz", {"types": SQL}),
    "json": (as_json, f"{NAMED}.jsonl", {"types": SQL}),
    "parts": (as_parts, f"{NAMED}-*.parquet", {}),
    "naive": (as_naive, f"{NAMED}.parquet", {}),
    "numbers": (as_numbers, f"{NAMED}.parquet", {"unit": "us"}),
}


def plain(case: Scenario) -> Scenario:
    """Without what CSV and JSON cannot say: empty strings, NaN, infinity."""
    kept = [
        replace(batch, rows=[{**row, "name": row["name"] or None, "y": finite(row["y"])} for row in batch.rows]) for batch in case.batches
    ]
    return replace(case, batches=tuple(kept), windows={name: JUDGED[name] for name in ("thirty", "quiet", "seven")})


def finite(value: float | None) -> float | None:
    """A number or nothing."""
    return value if value is not None and math.isfinite(value) else None


@pytest.mark.parametrize("clothes", CLOTHES)
def test_the_format_makes_no_difference(clothes: str, tmp_path: Path) -> None:
    """Bulk, against the oracle."""
    dress, file, more = CLOTHES[clothes]
    case, root = plain(scenario(3)), tmp_path / "state"
    for batch in case.batches:
        if batch.rows:
            dress(tmp_path, f"{face.instant(batch.start):{face.NAME}}", batch.rows)
    pipeline = dressed(case, sources.files(str(tmp_path / file), **grouped(event_time="t", missing="empty", **more)))
    first, last = case.batches[0].start, case.batches[-1].end
    report = run(pipeline, root=str(root), start=face.instant(first), end=face.instant(last), spark=HERE)
    assert accounted(case, report.batches) == []
    for name in case.windows:
        rows = face.published(pipeline, name, root, case.batches)
        assert differences(case, rows, truth(case, name).published) == [], name


def dressed(case: Scenario, source: object) -> Pipeline:
    """The scenario's pipeline over another source."""
    return Pipeline(
        name="dressed",
        source=source,
        schedule="10s",
        start=face.instant(case.batches[0].start),
        keys=list(case.keys),
        watermark=case.watermark,
        limits=Limits(max_ahead=face.span(AHEAD)),
        windows={name: called(value) for name, value in case.windows.items()},
        aggregates={name: measure.public for name, measure in MEASURES.items()},
    )
