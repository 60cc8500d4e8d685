"""The published windows are those of Kafka Streams, Jet and Flink, closing batch by closing batch."""

from pathlib import Path

import pyarrow as pa
import pytest

from muntin import Limits, run
from muntin.testing.oracle.time import watermarks
from tests.end_to_end.judge import user_files as face
from tests.golden.loader import AGGREGATES, Golden, load, names
from tests.storage.three_batches import HERE

TYPES = {"key": pa.string(), "v": pa.int64()}
MEASURES = {name: face.measure(name, None if name == "count" else "v") for name in AGGREGATES}
KEY = ("key", "window_start", "window_end", "count", "sum", "min", "max", "batch")
FAR = 10**6 * face.SECOND


def expected(case: Golden) -> list[tuple[object, ...]]:
    """The golden windows; sessions of Jet's close when time reaches their end, not past it."""
    marks = watermarks(case.batches, "events", FAR)
    lines = [(w.key, w.start, w.end, w.count, w.sum, w.min, w.max, w.closed) for w in case.lines]
    if not case.waits:
        return lines
    reached = {end: [n for n, mark in enumerate(marks) if mark >= end + case.window.grace] for _, _, end, *_ in lines}
    return [(*line[:-1], next(iter(reached[line[2]]), None)) for line in lines]


@pytest.mark.parametrize("name", names())
def test_windows_of_other_systems(name: str, tmp_path: Path) -> None:
    """All batches in bulk; what is open at the end is compared as provisional."""
    case = load(name)
    data, root, found = tmp_path / "data", tmp_path / "state", case.batches
    for batch in found:
        face.write(data, batch, TYPES)
    more = {"watermark": "events", "limits": Limits(max_quarantined=None, max_ahead=face.span(FAR))}
    pipeline = face.define(name, data, found, {"w": case.window}, MEASURES, keys=["key"], **more)
    run(pipeline, root=str(root), start=face.instant(found[0].start), end=face.instant(found[-1].end), spark=HERE)
    final = face.published(pipeline, "w", root, found)
    assert [tuple(row[column] for column in KEY) for row in final] == [w for w in expected(case) if w[-1] is not None]
    rows = face.published(pipeline, "w", root, found, provisional=True)
    assert [tuple(row[column] for column in KEY) for row in rows] == expected(case)
