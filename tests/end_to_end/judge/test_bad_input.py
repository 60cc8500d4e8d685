"""What cannot be is refused by name, before anything is published."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from muntin import Pipeline, read, run, sources, windows
from muntin import aggregates as agg
from muntin.errors import DefinitionError, MuntinError
from muntin.testing.oracle import SECOND, Batch
from tests.end_to_end.judge import user_files as face
from tests.storage.three_batches import HERE

START = 1_704_067_200 * SECOND
TYPES = {"k": pa.string(), "v": pa.int64(), "text": pa.string(), "x": pa.float64()}
ROW = {"t": START + SECOND, "k": "a", "v": 2**63 - 1, "text": "one", "x": 1.5}


def pipeline(folder: Path, **other: Any) -> Pipeline:
    """A right definition, but for what is said otherwise."""
    right: dict[str, Any] = {
        "name": "refused",
        "source": sources.files(str(folder / ("{start:" + face.NAME + "}.parquet")), event_time="t", missing="empty"),
        "schedule": "10s",
        "start": face.instant(START),
        "keys": ["k"],
        "windows": {"w": windows.tumbling("10s")},
        "aggregates": {"n": agg.count()},
    }
    return Pipeline(**(right | other))


DEFINITIONS: dict[str, tuple[Callable[[], dict[str, Any]], str]] = {  # and the words of the error
    "a step that does not divide": (lambda: {"windows": {"w": windows.sliding("6h", step="4h")}}, "size must be a whole number of steps"),
    "no size": (lambda: {"windows": {"w": windows.tumbling("0s")}}, "size: '0s' must be longer than 0"),
    "a negative gap": (lambda: {"windows": {"w": windows.session("-1s")}}, "gap: '-1s' must be longer than 0"),
    "a negative grace": (lambda: {"windows": {"w": windows.tumbling("1s", grace="-1s")}}, "grace: '-1s' must not be negative"),
    "a third way to touch": (lambda: {"windows": {"w": windows.session("1s", touching="maybe")}}, "touching: 'maybe' is not understood"),
    "a zone nobody knows": (
        lambda: {"windows": {"w": windows.tumbling("1d", timezone="Mars/Olympus")}},
        "'Mars/Olympus' is not a time zone",
    ),
    "no window": (lambda: {"windows": {}}, "is not a dict of at least one name"),
    "a third watermark": (lambda: {"watermark": "later"}, "watermark: 'later' is not possible"),
    "a naive start": (lambda: {"start": datetime(2024, 1, 1)}, "has no time zone"),  # noqa: DTZ001 - the point
    "a key twice": (lambda: {"keys": ["k", "k"]}, "'k' stands twice"),
    "a key named as an aggregate": (lambda: {"aggregates": {"k": agg.count()}}, "'k' stands twice"),
    "a reserved name": (lambda: {"aggregates": {"window_start": agg.count()}}, "'window_start' is reserved"),
    "another reserved name": (lambda: {"aggregates": {"batch": agg.count()}}, "'batch' is reserved"),
    "a reserved key": (lambda: {"keys": ["window_end"]}, "'window_end' is reserved"),
    "a key with a NUL": (lambda: {"keys": ["k\0"]}, r"keys: 'k\\x00' holds a NUL.+give the column another name"),
    "a key with a point": (lambda: {"keys": [".k"]}, r"keys: '\.k' begins with a point.+give the column another name"),
    "too many edges": (lambda: {"aggregates": {"n": agg.histogram("x", range(1002))}}, r"1,002 edges, and 1,001 are possible.+count_by"),
    "an aggregate with a NUL": (lambda: {"aggregates": {"n\0x": agg.count()}}, r"aggregates: 'n\\x00x' holds a NUL"),
    "a derived column with a NUL": (lambda: {"aggregates": {"n": agg.count(), "\0": "n"}}, r"aggregates: '\\x00' holds a NUL"),
    "a duration nobody knows": (lambda: {"windows": {"w": windows.tumbling("3 fortnights")}}, "'3 fortnights' is not a duration"),
}


@pytest.mark.parametrize("wrong", DEFINITIONS)
def test_a_definition_that_cannot_be(wrong: str, tmp_path: Path) -> None:
    definition, said = DEFINITIONS[wrong]
    with pytest.raises(DefinitionError, match=said):
        pipeline(tmp_path, **definition())


RUNS: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown column": ({"aggregates": {"n": agg.sum("absent")}}, "absent"),
    "an unknown key": ({"keys": ["nobody"]}, "nobody"),
    "an unknown column in the filter": ({"where": "absent > 1"}, "absent"),
    "a sum over text": ({"aggregates": {"n": agg.sum("text")}}, r"sum\(text\) does not fit"),
    "integer overflow": ({"aggregates": {"n": agg.sum("v")}}, r"overflow|range|64"),
}


@pytest.mark.parametrize("wrong", RUNS)
def test_a_source_that_does_not_fit(wrong: str, tmp_path: Path) -> None:
    other, named = RUNS[wrong]
    face.write(tmp_path / "data", Batch(START, START + 10 * SECOND, [ROW, ROW]), TYPES)
    asked = pipeline(tmp_path / "data", **other)
    with pytest.raises(MuntinError, match=named):
        attempt(asked, tmp_path, 10)
    assert read(asked, "w", root=str(tmp_path / "state")).num_rows == 0


def attempt(asked: Pipeline, folder: Path, seconds: int, spark: object = HERE) -> None:
    """Run from the start for so many seconds."""
    until = face.instant(START + seconds * SECOND)
    run(asked, root=str(folder / "state"), start=face.instant(START), end=until, spark=spark)


def test_a_truncated_file_is_named_by_tasks_of_spark(tmp_path: Path, spark: object) -> None:
    face.write(tmp_path / "data", Batch(START, START + 10 * SECOND, [ROW]), TYPES)
    (file,) = (tmp_path / "data").iterdir()
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(MuntinError, match=file.name):
        attempt(pipeline(tmp_path / "data"), tmp_path, 10, spark)


def test_an_interval_that_is_not_of_the_schedule(tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match=r"schedule|interval"):
        attempt(pipeline(tmp_path), tmp_path, 7)


def test_a_missing_file_is_an_error_where_asked(tmp_path: Path) -> None:
    source = sources.files(str(tmp_path / ("{start:" + face.NAME + "}.parquet")), event_time="t", missing="error")
    with pytest.raises(MuntinError, match="20240101T000000"):
        attempt(pipeline(tmp_path, source=source), tmp_path, 10)


def test_nothing_is_published_by_a_run_that_failed(tmp_path: Path) -> None:
    """What earlier runs published stays."""
    folder, asked = tmp_path / "data", pipeline(tmp_path / "data", aggregates={"n": agg.sum("v")})
    face.write(folder, Batch(START, START + 10 * SECOND, [ROW]), TYPES)
    attempt(asked, tmp_path, 10)
    before = read(asked, "w", root=str(tmp_path / "state"))
    face.write(folder, Batch(START + 10 * SECOND, START + 20 * SECOND, [{**ROW, "t": START + 11 * SECOND}] * 2), TYPES)
    with pytest.raises(MuntinError, match=r"overflow|range|64"):
        attempt(asked, tmp_path, 20)
    assert before.num_rows == 1
    assert read(asked, "w", root=str(tmp_path / "state")).equals(before)
