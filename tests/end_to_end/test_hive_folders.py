"""Columns from the names of folders: as declared, nothing guessed, on a disk and in an object store."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import Limits, Pipeline, read, run, sources, windows
from muntin import aggregates as agg
from muntin.errors import DefinitionError, MuntinError, SourceError
from muntin.files.paths import path_of
from muntin.jobs.state.fingerprint import fingerprint
from tests.source_options import grouped
from tests.storage.three_batches import HERE, HOUR, START

HIVE = {"dt": "DATE", "hour": "INTEGER", "k": "VARCHAR"}


def pipeline(place: str, form: str, hive: dict[str, str] | None = None, path: str = "dt={start:%Y-%m-%d}/hour={start:%H}") -> Pipeline:
    return Pipeline(
        name="folders",
        source=sources.files(f"{place}/{path}/**/*.{form}", event_time="t", hive=HIVE if hive is None else hive),
        schedule="1h",
        limits=Limits(max_quarantined=None),
        start=START,
        keys=["k"],
        windows={"hours": windows.tumbling("1h")},
        aggregates={"n": agg.count(), "total": agg.sum("x * hour"), "day": agg.max("dt")},
    )


def put(place: str, folder: str, form: str, rows: list[dict[str, Any]], more: str = "") -> None:
    """A file with some rows, and a text behind them."""
    if form == "parquet":
        out = pa.BufferOutputStream()
        pq.write_table(pa.Table.from_pylist(rows), out)
        content = out.getvalue().to_pybytes()
    elif form == "csv":
        content = "\n".join([",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows), more]).encode()
    else:
        content = ("\n".join(json.dumps(row) for row in rows) + "\n" + more).encode()
    target = path_of(place, f"{folder}/part.{form}")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)


# dt=2024-01-01/hour=00/k=a%20b/      x 1 2    the folder's hour is a factor, its k the key
#               hour=01/k=__HIVE.../  x 3
#               hour=01/k=c/other=z/  x 4      a folder that nobody declared gives nothing
def fill(place: str, form: str) -> None:
    put(place, "dt=2024-01-01/hour=00/k=a%20b", form, [{"t": "2024-01-01T00:10:00Z", "x": x} for x in (1, 2)])
    put(place, "dt=2024-01-01/hour=01/k=__HIVE_DEFAULT_PARTITION__", form, [{"t": "2024-01-01T01:10:00Z", "x": 3}])
    put(place, "dt=2024-01-01/hour=01/k=c/other=z", form, [{"t": "2024-01-01T01:10:00Z", "x": 4}])


def found(flow: Pipeline, root: Path) -> list[tuple[Any, ...]]:
    rows = read(flow, "hours", root=root).to_pylist()
    return sorted([(row["window_start"].hour, row["k"], row["n"], int(row["total"]), str(row["day"])) for row in rows], key=repr)


WANTED = [(0, "a b", 2, 0, "2024-01-01"), (1, "c", 1, 4, "2024-01-01"), (1, None, 1, 3, "2024-01-01")]


@pytest.mark.parametrize("form", ["parquet", "csv", "jsonl"])
def test_folders_give_the_columns_that_are_declared(roots: str, tmp_path: Path, form: str) -> None:
    fill(f"{roots}/data", form)
    flow = pipeline(f"{roots}/data", form)
    run(flow, root=tmp_path / "state", start=START, end=START + 2 * HOUR, spark=HERE)
    assert found(flow, tmp_path / "state") == WANTED


@pytest.mark.parametrize(("form", "bad"), [("csv", "not,a,row"), ("jsonl", "{")])
def test_they_do_so_where_a_file_has_bad_rows(tmp_path: Path, form: str, bad: str) -> None:
    fill(str(tmp_path), form)
    put(str(tmp_path), "dt=2024-01-01/hour=01/k=c/other=z", form, [{"t": "2024-01-01T01:10:00Z", "x": 4}], bad)
    flow = pipeline(str(tmp_path), form)
    report = run(flow, root=tmp_path / "state", start=START, end=START + 2 * HOUR, spark=HERE)
    assert [batch.rows_quarantined for batch in report.batches] == [0, 1]
    assert found(flow, tmp_path / "state") == WANTED


@pytest.mark.parametrize("form", ["parquet", "jsonl"])
def test_a_folder_comes_before_a_column_of_the_file(tmp_path: Path, form: str) -> None:
    put(str(tmp_path), "dt=2024-01-01/hour=02/k=a", form, [{"t": "2024-01-01T02:10:00Z", "x": 5, "k": "other", "hour": 9}])
    flow = pipeline(str(tmp_path), form)
    run(flow, root=tmp_path / "state", start=START + 2 * HOUR, end=START + 3 * HOUR, spark=HERE)
    assert found(flow, tmp_path / "state") == [(2, "a", 1, 10, "2024-01-01")]


def test_a_file_in_no_such_folder_is_an_error(tmp_path: Path) -> None:
    put(str(tmp_path), "dt=2024-01-01/hour=00", "csv", [{"t": "2024-01-01T00:10:00Z", "x": 1}])
    with pytest.raises(SourceError, match=r"part\.csv lies in no folder k=\.\.\., from which hive= takes the column 'k'"):
        run(pipeline(str(tmp_path), "csv"), root=tmp_path / "state", start=START, end=START + HOUR, spark=HERE)


def test_a_name_that_is_not_of_its_type_is_no_silent_null(tmp_path: Path) -> None:
    put(str(tmp_path), "dt=2024-01-01/hour=00/k=a", "csv", [{"t": "2024-01-01T00:10:00Z", "x": 1}])
    flow = pipeline(str(tmp_path), "csv", {"dt": "DATE", "hour": "INTEGER", "k": "INTEGER"})
    (report,) = run(flow, root=tmp_path / "state", start=START, end=START + HOUR, spark=HERE).batches
    assert (report.rows_read, report.rows_quarantined) == (1, 1)


def test_an_undeclared_folder_gives_nothing(tmp_path: Path) -> None:
    fill(str(tmp_path), "parquet")
    with pytest.raises(MuntinError, match='there is no column "dt"'):
        run(
            pipeline(str(tmp_path), "parquet", {"hour": "INTEGER", "k": "VARCHAR"}),
            root=tmp_path / "s",
            start=START,
            end=START + HOUR,
            spark=HERE,
        )


def test_whoever_declares_folders_has_states_of_their_own(tmp_path: Path) -> None:
    names = {fingerprint(pipeline(str(tmp_path), "csv", hive)) for hive in ({}, HIVE, {**HIVE, "hour": "BIGINT"})}
    assert len(names) == 3


@pytest.mark.parametrize(
    ("hive", "more", "text"),
    [({"a b": "DATE"}, {}, "no name of a folder"), ({"dt": "DATE"}, {"types": {"dt": "VARCHAR"}}, r"stands in columns= or types=, too")],
)
def test_what_cannot_be_is_refused(hive: dict[str, str], more: dict[str, Any], text: str) -> None:
    with pytest.raises(DefinitionError, match=text):
        sources.files("{start}.csv", **grouped(event_time="t", hive=hive, **more))
