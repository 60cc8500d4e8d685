"""What becomes of the columns of files, run by run: what is said of them, and what waits."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from muntin import Pipeline, read, run, sources, windows
from muntin import aggregates as agg
from muntin.errors import DefinitionError, MuntinError, SourceError
from muntin.jobs.accumulate import readings
from muntin.jobs.inspect.late import quarantined, to_retry
from muntin.jobs.schema_check import source_columns
from tests.end_to_end.test_columns_that_come_later import at, write
from tests.end_to_end.test_types_that_widen import DAY, HERE, START
from tests.source_options import grouped

DATA = "2024-01-{:02d}{}.{}"


def flow(folder: Path, suffix: str, **options: Any) -> Pipeline:
    return Pipeline(
        name="flow",
        source=sources.files(str(folder / f"data/{{start:%Y-%m-%d}}*.{suffix}"), **grouped(event_time="at", **options)),
        schedule="@daily",
        start=START,
        windows={"day": windows.tumbling("1d")},
        aggregates={"n": agg.count(), "x": agg.sum("x")},
    )


def given(folder: Path, suffix: str, day: int, values: Sequence[Any], part: str = "", **more: Any) -> Path:
    path = folder / "data" / DATA.format(day + 1, part, suffix)
    write(path, [{"at": at(day, hour), "x": value, **more} for hour, value in enumerate(values)])
    return path


def ran(pipeline: Pipeline, folder: Path, first: int, last: int) -> Any:
    return run(pipeline, root=folder / "root", start=START + first * DAY, end=START + (last + 1) * DAY, spark=HERE)


@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl"])
def test_a_batch_with_text_after_numbers_waits_as_a_whole(tmp_path: Path, suffix: str) -> None:
    pipeline = flow(tmp_path, suffix, on_schema="quarantine")
    given(tmp_path, suffix, 0, [1, 2])
    bad, good = given(tmp_path, suffix, 1, ["a", "b", "c"], "_a"), given(tmp_path, suffix, 1, [5], "_b")
    given(tmp_path, suffix, 2, [7])
    ran(pipeline, tmp_path, 0, 0)
    report = ran(pipeline, tmp_path, 1, 2)
    told = [(batch.rows_read, batch.rows_accepted, batch.rows_quarantined) for batch in report.batches]
    assert told == [(2, 0, 2), (1, 1, 0)]
    rows = quarantined(pipeline, root=tmp_path / "root").to_pylist()
    assert [(row["file"], row["column"], row["reason"]) for row in rows] == [
        (str(bad), "x", "x is VARCHAR here and BIGINT in earlier batches"),
        (str(good), None, f"its batch waits for {bad}: x is of another type than in earlier batches"),
    ]
    assert read(pipeline, "day", root=tmp_path / "root")["x"].to_pylist() == [3, 7]
    given(tmp_path, suffix, 1, [10, 20], "_a")
    [again] = to_retry(pipeline, quarantined(pipeline, root=tmp_path / "root"), root=tmp_path / "root")
    run(pipeline, root=tmp_path / "root", start=again.interval_start, end=again.interval_end, spark=HERE)
    assert read(pipeline, "day", root=tmp_path / "root")["x"].to_pylist() == [3, 35, 7]
    assert not len(quarantined(pipeline, root=tmp_path / "root"))


@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl"])
def test_else_it_is_an_error_with_file_and_column(tmp_path: Path, suffix: str) -> None:
    pipeline = flow(tmp_path, suffix)
    given(tmp_path, suffix, 0, [1, 2])
    bad = given(tmp_path, suffix, 1, ["a", "b", "c"])
    ran(pipeline, tmp_path, 0, 0)
    with pytest.raises(SourceError, match=rf"{bad}: x is VARCHAR here and \w+ in earlier batches.*on_schema=\"quarantine\""):
        ran(pipeline, tmp_path, 1, 1)
    with pytest.raises(MuntinError, match=str(bad)):  # both at once
        ran(pipeline, tmp_path, 0, 1)


def test_a_contradiction_in_one_of_several_splits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("muntin.sources.listing.SPLIT_BYTES", 1000)
    pipeline = flow(tmp_path, "parquet", on_schema="quarantine")
    given(tmp_path, "parquet", 0, [1, 2])
    for part, values in (("_a", [3]), ("_b", ["a"]), ("_c", [4])):
        given(tmp_path, "parquet", 1, values, part)
    ran(pipeline, tmp_path, 0, 0)
    [batch] = ran(pipeline, tmp_path, 1, 1).batches
    assert (batch.rows_read, batch.rows_accepted, batch.rows_quarantined) == (3, 0, 3)
    assert read(pipeline, "day", root=tmp_path / "root")["x"].to_pylist() == [3]
    assert [row["column"] for row in quarantined(pipeline, root=tmp_path / "root").to_pylist()] == [None, "x", None]


def test_a_column_that_nobody_uses_may_be_of_any_type(tmp_path: Path) -> None:
    for on_schema in ("error", "quarantine"):
        folder = tmp_path / on_schema
        folder.mkdir()
        pipeline = flow(folder, "parquet", on_schema=on_schema)
        given(folder, "parquet", 0, [1], note=1)
        given(folder, "parquet", 1, [2], note="two")
        ran(pipeline, folder, 0, 0)
        report = ran(pipeline, folder, 1, 1)
        assert report.batches[0].rows_accepted == 1
        assert [line.partition(" in ")[0] for line in report.schema_changes] == ["note is VARCHAR"]


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_what_a_run_says_of_columns(tmp_path: Path, suffix: str) -> None:
    pipeline = flow(tmp_path, suffix, columns={"country": "VARCHAR"})
    given(tmp_path, suffix, 0, [1, 2])
    second = tmp_path / "data" / DATA.format(2, "", suffix)
    write(second, [{"x": 2.5, "at": at(1, 0), "country": "at", "note": "new"}])
    assert ran(pipeline, tmp_path, 0, 0).schema_changes == (
        f"country is null in 1 file without it, as {tmp_path}/data/2024-01-01.{suffix}",
    )
    told = ran(pipeline, tmp_path, 1, 1).schema_changes
    assert told[:2] == (
        f"x is DOUBLE in {second} and was BIGINT: DOUBLE holds both",
        f"note VARCHAR is a new column in {second}",
    )
    assert told[2].startswith(f"the columns of {second} are in another order: x, at")
    assert ran(pipeline, tmp_path, 1, 1).schema_changes == ()
    assert read(pipeline, "day", root=tmp_path / "root")["x"].to_pylist() == [3.0, 2.5]
    assert pa.types.is_float64(read(pipeline, "day", root=tmp_path / "root")["x"].type)


def test_bulk_says_it_too(tmp_path: Path) -> None:
    pipeline = flow(tmp_path, "parquet")
    for day in range(8):
        given(tmp_path, "parquet", day, [day] if day < 6 else [day / 2])
    assert [line.split(" in ")[0] for line in ran(pipeline, tmp_path, 0, 7).schema_changes] == ["x is DOUBLE"]


def test_a_word_that_is_none() -> None:
    with pytest.raises(DefinitionError, match=r"on_schema: 'wait' is not possible; choose from 'error', 'quarantine'"):
        sources.files("{start}.csv", event_time="at", on_schema="wait")


def test_a_run_holds_its_definition_against_files_once_and_the_first_run_before_it_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there, bind = list[bool](), source_columns.bound_types

    def counted(*told: Any) -> Any:
        there.append((tmp_path / "root/flow").is_dir())
        return bind(*told)

    monkeypatch.setattr(readings, "bound_types", counted)
    pipeline = flow(tmp_path, "parquet")
    for day in range(2):
        given(tmp_path, "parquet", day, [1])
        ran(pipeline, tmp_path, day, day)
    assert there == [False, True, True]
