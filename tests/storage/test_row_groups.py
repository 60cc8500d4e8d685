"""A large Parquet file is shared by tasks, row group by row group: what comes of it is what comes of the whole file."""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin import BatchReport, Pipeline, read, run, sources, windows
from muntin import aggregates as agg
from muntin.errors import SourceError
from muntin.jobs.accumulate import read_split
from muntin.jobs.accumulate.shares import manifest_of_batch
from muntin.jobs.inspect.late import quarantined
from muntin.jobs.state.bound import bind
from muntin.sources import listing
from muntin.sources.reading import row_groups
from muntin.sources.reading.row_groups import Part
from muntin.store.paths import OF_SOURCE
from tests.properties.equal_values import bitwise
from tests.storage.three_batches import HERE, HOUR, START

GROUP = 7
ROWS = 100
Columns = Mapping[str, Any]


def rows(count: int = ROWS) -> Columns:
    """An event a minute of one of three keys; some without a time, some of next year, some whose `x` is no integer."""
    at: list[Any] = [START + timedelta(minutes=number % 60) for number in range(count)]
    at[11::20], at[7::30] = [None] * len(at[11::20]), [START + 9000 * HOUR] * len(at[7::30])
    x = ["odd" if number % 33 == 3 else str(number) for number in range(count)]
    return {"t": pa.array(at, pa.timestamp("us", tz="UTC")), "k": [f"k{number % 3}" for number in range(count)], "x": x}


def write(path: Path, columns: Columns) -> None:
    path.parent.mkdir(exist_ok=True)
    pq.write_table(pa.table(dict(columns)), path, row_group_size=GROUP)


def pipeline(folder: Path, **more: Any) -> Pipeline:
    """Aggregates that the order of additions does not change, for that is another where a file is cut."""
    given: dict[str, Any] = {
        "windows": {"quarters": windows.tumbling("15m"), "visits": windows.session("2m")},
        "keys": ["k"],
        "aggregates": {"n": agg.count(), "total": agg.sum("x::INTEGER"), "first": agg.first("x"), "all": agg.collect("x")},
        "types": {},
    } | more
    source = sources.files(f"{folder}/data/*.parquet", event_time="t", types=given.pop("types"), all_files=True)
    return Pipeline(name="large", source=source, schedule="1h", start=START, **given)


@pytest.fixture
def cut(monkeypatch: pytest.MonkeyPatch) -> list[range]:
    """Files above a thousand bytes are cut; the rows of all parts that were read."""
    found = list[range]()

    def noting(path: str, part: Part) -> range | None:
        taken = row_groups.rows_of(path, part)
        found.append(range(-1, -1) if taken is None else taken)
        return taken

    monkeypatch.setattr(listing, "SPLIT_BYTES", 1000)
    monkeypatch.setattr(read_split, "rows_of", noting)
    return found


def result(definition: Pipeline, root: Path) -> tuple[BatchReport, dict[str, pa.Table], list[tuple[Any, ...]]]:
    """The report of a batch, its windows, and its refused rows by file and position."""
    (batch,) = run(definition, root=root, start=START, end=START + HOUR, spark=HERE).batches
    found = {name: read(definition, name, root=root) for name in definition.windows}
    lost = quarantined(definition, root=root).select(["file", "position", "reason", "column", "row"]).to_pylist()
    return batch, found, sorted(tuple(row.values()) for row in lost)


def check_alike(definition: Pipeline, folder: Path, cut: list[range], monkeypatch: pytest.MonkeyPatch) -> BatchReport:
    """Run it with cut files and with whole files."""
    batch, found, lost = result(definition, folder / "cut")
    assert len(cut) > 2
    with monkeypatch.context() as whole:
        whole.setattr(listing, "SPLIT_BYTES", 2**30)
        cut.clear()
        other, others, their_lost = result(definition, folder / "whole")
    assert not cut
    assert lost == their_lost
    for name in found:
        assert bitwise(found[name], others[name])
    facts = ("rows_read", "rows_accepted", "rows_quarantined", "files_read")
    assert [getattr(batch, name, None) for name in facts] == [getattr(other, name, None) for name in facts]
    return batch


@given(st.lists(st.tuples(st.integers(1, 100), st.integers(1, 9)), max_size=12), st.integers(1, 6))
def test_parts_have_every_row_once(groups: list[tuple[int, int]], parts: int) -> None:
    sizes, counts = [size for size, _ in groups], [count for _, count in groups]
    found = [row_groups._cut(sizes, counts, Part(number, parts)) for number in range(parts)]
    assert [row for each in found for row in each] == list(range(sum(counts)))


# rows      0 ... 6 | 7 ... 13 | 14 ...     a row group of 7 rows is read by one task; row 11 has no time, row 3 is "odd"
def test_rows_windows_and_quarantine_are_those_of_the_whole_file(tmp_path: Path, cut: list[range], monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "data/a.parquet", rows())
    write(tmp_path / "data/b.parquet", rows(30))
    batch = check_alike(pipeline(tmp_path), tmp_path, cut, monkeypatch)
    assert (batch.rows_read, batch.rows_quarantined) == (130, (5 + 1) + (4 + 1) + (3 + 1))  # without a time, of next year, odd


def test_parts_without_rows_have_no_states(tmp_path: Path, cut: list[range], monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "data/a.parquet", rows(GROUP))
    definition = pipeline(tmp_path, aggregates={"n": agg.count()})
    monkeypatch.setattr(listing, "SPLIT_BYTES", 300)
    result(definition, tmp_path / "few")
    assert len(cut) > 3
    folders = [path.parent for path in (tmp_path / "few").rglob("frames/**/*.parquet")]
    assert max(map(folders.count, folders)) <= 2, "of the part with rows, and of the first"
    cut.clear()
    check_alike(definition, tmp_path, cut, monkeypatch)


def test_types_of_the_definition(tmp_path: Path, cut: list[range], monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "data/a.parquet", rows())
    definition = pipeline(tmp_path, types={"x": "INTEGER"}, aggregates={"n": agg.count(), "total": agg.sum("x")})
    assert check_alike(definition, tmp_path, cut, monkeypatch).rows_quarantined


# file       a (cut into parts)        | b | c              a window is a file, neither a part of it nor two files
def test_windows_that_end_with_files(tmp_path: Path, cut: list[range], monkeypatch: pytest.MonkeyPatch) -> None:
    clean = {"t": pa.array([START] * 60, pa.timestamp("us", tz="UTC")), "k": ["k"] * 60, "x": [str(x) for x in range(60)]}
    for name, count in {"a": 60, "b": 3, "c": 60}.items():
        write(tmp_path / f"data/{name}.parquet", {column: values[:count] for column, values in clean.items()})
    every = windows.arrival(windows.by_punctuation("file"))
    definition = pipeline(tmp_path, windows={"every": every}, aggregates={"n": agg.count(), "first": agg.first("x")})
    check_alike(definition, tmp_path, cut, monkeypatch)
    assert read(definition, "every", root=tmp_path / "cut")["n"].to_pylist() == [60, 3, 60]


def test_a_manifest_has_each_file_once(tmp_path: Path, cut: list[range]) -> None:
    write(tmp_path / "data/a.parquet", rows())
    definition = pipeline(tmp_path)
    result(definition, tmp_path)
    assert len(cut) > 2
    again = run(definition, root=tmp_path, start=START, end=START + HOUR, spark=HERE)
    assert bind(definition, tmp_path).store.snapshot("reports").files
    assert not again.batches or again.batches[0].rows_read == ROWS


def test_a_column_with_the_name_of_the_row_number(tmp_path: Path, cut: list[range], monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "data/a.parquet", {**rows(), row_groups.ROW: [0] * ROWS})
    check_alike(pipeline(tmp_path), tmp_path, cut, monkeypatch)


@pytest.mark.usefixtures("cut")
def test_a_file_that_is_cut_off(tmp_path: Path) -> None:
    write(tmp_path / "data/a.parquet", rows())
    path = tmp_path / "data/a.parquet"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(SourceError, match=r"a\.parquet is cut off after"):
        result(pipeline(tmp_path), tmp_path)


def test_a_file_that_changes_between_two_parts() -> None:
    first = {"split": 0, "files": [("a", 10, 3, 1, None)]}
    assert manifest_of_batch([{"split": 1, "files": [("a", 10, 4, 1, None)]}, first]) == [("a", 10, 7, 1, None)]
    with pytest.raises(SourceError, match="a: written while it was read"):
        manifest_of_batch([first, {"split": 1, "files": [("a", 10, 4, 2, None)]}])


def test_two_sources_may_read_the_same_file() -> None:
    """The one by its content, the other by its time: their entries differ, and nobody has written."""
    number, facts = OF_SOURCE, ("a", 10, 3, 1)
    both = [{"split": number, "files": [(*facts, None)]}, {"split": 2 * number, "files": [(*facts, "0f")]}]
    assert manifest_of_batch(both) == [(*facts, None), (*facts, "0f")]
