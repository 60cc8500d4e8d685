"""Paths that say what a file is, and files that no reader skips."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Barrier
from unittest import mock

import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from deltalake import DeltaTable

from muntin.definition.instants import instant_us, label
from muntin.errors import StateError
from muntin.jobs.upkeep import vacuum
from muntin.store import parquet
from muntin.store.delta import DeltaStore
from muntin.store.disk import write_whole
from muntin.store.parquet import encoded, write_named
from muntin.store.paths import SharedPath, StatesPath, parse_states_path, version_of, windows_path
from muntin.store.store import Change, File

INSTANT = pa.timestamp("us", tz="UTC")
MOMENTS = [
    datetime(1, 1, 1, tzinfo=UTC),
    datetime(999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    datetime(1969, 12, 31, 23, 59, 59, 1, tzinfo=UTC),
    datetime(1970, 1, 1, tzinfo=UTC),
    datetime(2024, 2, 29, 12, tzinfo=UTC),
    datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC),
]


@pytest.mark.parametrize("moment", MOMENTS, ids=str)
def test_a_path_says_what_it_was_made_of(moment: datetime) -> None:
    us = instant_us(moment, "moment")
    for said in (StatesPath(us, 7, us, us, us), StatesPath(us, 0, us), StatesPath(us, 99_999, None)):
        assert parse_states_path(said.named("0" * 16)) == said


# Spark's Delta reader dies on a colon; Polars reads key=value as a column
@pytest.mark.parametrize("moment", MOMENTS, ids=str)
def test_no_path_has_a_colon_or_an_equals_sign(moment: datetime) -> None:
    us = instant_us(moment, "moment")
    shared = SharedPath(us, us, 2, us, us).named("0" * 16)
    for path in (StatesPath(us, 1, us, us, us).named("0" * 16), windows_path(us, us, 1, "0" * 16), shared):
        assert not set(path) & set(":= ")


def test_labels_sort_as_time_does() -> None:
    assert [label(instant_us(moment, "moment")) for moment in MOMENTS] == sorted(label(instant_us(moment, "moment")) for moment in MOMENTS)


@pytest.mark.parametrize("path", ["part-00000.parquet", "20240101T000000Z/part.parquet", "x/00001_never_0.parquet"])
def test_files_of_other_tools_are_named(path: str) -> None:
    with pytest.raises(StateError, match="not a states file"):
        parse_states_path(path)


def test_a_version_is_of_the_files_not_of_their_order() -> None:
    assert version_of(["a", "b"]) == version_of(["b", "a"]) != version_of(["a"])


@pytest.mark.parametrize("us", [1500, 1_704_067_200_000_001])
def test_a_reader_that_skips_by_ranges_finds_the_row(tmp_path: Path, us: int) -> None:
    table = pa.table({"frame": pa.array([us, us + 1], INSTANT), "n": [2**53 + 1, -(2**63)]})
    written = write_named(table, tmp_path / "t", lambda digest: f"{digest}.parquet")
    file = File(written["path"], written["size"], written["rows"])
    store = DeltaStore(tmp_path)
    store.commit("t", store.snapshot("t"), Change(table.schema, [file], [], []))
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=us + 1)
    found = DeltaTable(str(tmp_path / "t")).to_pyarrow_dataset()
    assert found.count_rows(filter=ds.field("frame") >= moment) == 1
    assert found.count_rows(filter=ds.field("frame") < moment) == 1
    assert found.count_rows(filter=ds.field("n") == 2**53 + 1) == 1


def test_equal_content_has_one_path_and_is_written_once(tmp_path: Path) -> None:
    table = pa.table({"v": [1, 2]})
    first = write_named(table, tmp_path, lambda digest: f"{digest}.parquet")
    written = (tmp_path / first["path"]).stat().st_ino
    assert write_named(table, tmp_path, lambda digest: f"{digest}.parquet") == first
    assert (tmp_path / first["path"]).stat().st_ino == written
    assert [path.name for path in tmp_path.iterdir()] == [first["path"]]


def test_a_large_table_is_encoded_to_the_disk_and_is_the_same_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table({"v": list(range(100_000)), "w": [None, "a"] * 50_000})
    small = write_named(table, tmp_path / "small", lambda digest: f"below/{digest}.parquet")
    monkeypatch.setattr(parquet, "_LARGE", table.nbytes)
    monkeypatch.setattr(parquet, "encoded", None)
    for _ in range(2):  # the second time it is there
        assert write_named(table, tmp_path / "large", lambda digest: f"below/{digest}.parquet") == small
        assert [path.name for path in (tmp_path / "large/below").iterdir()] == [Path(small["path"]).name]
    assert (tmp_path / "large" / small["path"]).read_bytes() == (tmp_path / "small" / small["path"]).read_bytes()


def test_half_a_large_file_is_written_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table({"v": [1, 2]})
    monkeypatch.setattr(parquet, "_LARGE", 0)
    (tmp_path / "f").write_bytes(memoryview(encoded(table))[:5])
    write_named(table, tmp_path, lambda _digest: "f")
    assert (tmp_path / "f").read_bytes() == encoded(table).to_pybytes()


def test_a_large_file_of_a_killed_task_is_told_from_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Vacuum removes it, as it does half of a small file."""
    monkeypatch.setattr(parquet, "_LARGE", 0)
    monkeypatch.setattr(parquet, "digest_of_file", mock.Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        write_named(pa.table({"v": [1, 2]}), tmp_path, lambda digest: f"below/{digest}.parquet")
    [left] = (tmp_path / "below").iterdir()
    assert vacuum._PARTIAL.fullmatch(left.name)


def test_three_may_write_one_file_at_once(tmp_path: Path) -> None:
    content, together = encoded(pa.table({"v": list(range(1000))})), Barrier(3)

    def write(at: int) -> None:
        together.wait()
        write_whole(tmp_path / f"{at // 3}", memoryview(content))

    with ThreadPoolExecutor(3) as threads:
        list(threads.map(write, range(300)))
    assert {path.read_bytes() for path in tmp_path.iterdir()} == {content.to_pybytes()}


def test_half_a_file_is_written_anew(tmp_path: Path) -> None:
    table = pa.table({"v": [1, 2]})
    (tmp_path / "f").write_bytes(memoryview(encoded(table))[:5])
    write_named(table, tmp_path, lambda _digest: "f")
    assert (tmp_path / "f").read_bytes() == encoded(table).to_pybytes()


def test_a_place_that_cannot_be_written_is_an_error_for_its_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StateError, match="cannot write"):
        write_whole(tmp_path / "file" / "below", b"x")
    monkeypatch.setattr(parquet, "_LARGE", 0)
    with pytest.raises(StateError, match="cannot write"):
        write_named(pa.table({"v": [1]}), tmp_path, lambda digest: f"file/{digest}")
