"""Templates that give each batch files of its own, and places that are on this machine."""

import pickle
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import typer

from muntin import Pipeline, read, run, sources, windows
from muntin import aggregates as agg
from muntin.cli.options import folder
from muntin.definition.relative_paths import local
from muntin.errors import DefinitionError
from muntin.extensions.airflow.place import home_of, root_of
from muntin.files.paths import path_of
from muntin.jobs.state.bound import Bound
from muntin.jobs.state.state_folders import state_folders
from tests.source_options import grouped

START = datetime(2024, 1, 1, 23, tzinfo=UTC)
STORES = ("s3://bucket/data", "gs://bucket", "abfss://c@account.dfs.core.windows.net/x")
ADDRESSES = ("file:///data", "hdfs://x", "S3://b", "https://host/data", "s3:/bucket")


def pipeline(path: str, schedule: str, start: datetime = START, **more: Any) -> Pipeline:
    return Pipeline(
        name="p",
        source=sources.files(path, **grouped(event_time="at", **more)),
        schedule=schedule,
        start=start,
        windows={"w": windows.tumbling("1h")},
        aggregates={"n": agg.count()},
    )


@pytest.mark.parametrize("path", ["data.parquet", "data/*.csv", "data/{{start}}.parquet", "**/*.jsonl"])
def test_a_path_that_names_no_interval_is_refused(path: str) -> None:
    with pytest.raises(DefinitionError, match=r"every batch would read every file.*\{start:%Y-%m-%d\}.*all_files=True"):
        sources.files(path, event_time="at")


@pytest.mark.parametrize("path", ["{start}.parquet", "{end:%Y}.csv", "{start:%H}/{end:%H}/*.jsonl"])
def test_a_path_that_names_the_interval_is_taken(path: str) -> None:
    assert sources.files(path, event_time="at").path == path


def test_every_batch_may_read_every_file_where_that_is_said() -> None:
    assert sources.files("data.parquet", event_time="at", all_files=True).all_files
    assert pipeline("data.parquet", "1h", all_files=True).source.below("/home").path == "/home/data.parquet"


# a day's file in each of its hours: its rows would count 24 times
@pytest.mark.parametrize(
    ("path", "schedule"),
    [("{start:%Y-%m-%d}.csv", "1h"), ("{start:%Y-%m}.csv", "@daily"), ("{end:%H}.csv", "30m"), ("{start:%H}.csv", "@daily")],
)
def test_a_template_coarser_than_the_schedule_is_refused(path: str, schedule: str) -> None:
    with pytest.raises(DefinitionError, match="neighbouring batches"):
        pipeline(path, schedule)


@pytest.mark.parametrize(
    ("path", "schedule"),
    [
        ("{start:%Y-%m-%d}.csv", "@daily"),
        ("{start:%H%M}.csv", "15m"),
        ("{start:%Y-%m}.csv", "@monthly"),
        ("{start:%Y-%m-%d}.csv", "0 6 * * 1"),
    ],
)
def test_a_template_as_fine_as_the_schedule_is_taken(path: str, schedule: str) -> None:
    assert pipeline(path, schedule).source.path == path


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_of_no_object_store_is_no_path(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    flow = pipeline("{start:%H}.csv", "1h")
    said = {"match": "is an address.*mount"}
    with pytest.raises(DefinitionError, **said):
        sources.files(f"{address}/{{start}}.parquet", event_time="at")
    with pytest.raises(DefinitionError, **said):
        run(flow, root=address, start=START, end=START)
    with pytest.raises(DefinitionError, **said):
        read(flow, "w", root=Path(address))
    with pytest.raises(DefinitionError, **said):
        state_folders(address)
    with pytest.raises(typer.BadParameter, **said):
        folder(address)
    with pytest.raises(DefinitionError, **said):
        root_of(Path("/home"), address)
    monkeypatch.setenv("MUNTIN_ROOT", address)
    with pytest.raises(DefinitionError, **said):
        root_of(Path("/home"), None)


@pytest.mark.parametrize("address", [*ADDRESSES, *STORES])
def test_the_project_lies_on_this_machine(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUNTIN_HOME", address)
    with pytest.raises(DefinitionError, match=r"is an address.*mount"):
        home_of("/dags/x.py")


@pytest.mark.parametrize("address", STORES)
def test_an_address_of_an_object_store_is_a_root_and_a_source(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert str(root_of(Path("/home"), address)) == str(folder(address)) == address
    monkeypatch.setenv("MUNTIN_ROOT", address)
    assert str(root_of(Path("/home"), None)) == address
    assert sources.files(f"{address}/{{start}}.parquet", event_time="at").below("/home").path == f"{address}/{{start}}.parquet"


@pytest.mark.parametrize("address", ["s3://key:secret@bucket/data", "s3://key:secret@bucket"])
def test_an_address_with_a_password_is_refused_and_not_told(address: str) -> None:
    with pytest.raises(DefinitionError, match="password") as told:
        root_of(Path("/home"), address)
    assert "secret" not in str(told.value)


@pytest.mark.parametrize("path", ["state", "/data/state", "./a:b", "C:/data", "a b", "12:30/x", ""])
def test_a_folder_is_a_path(path: str) -> None:
    assert local(path, "root") == path


@pytest.mark.parametrize("root", ["state", "s3://bucket/state"])
def test_a_bound_pipeline_goes_to_a_task_with_its_paths(root: str) -> None:
    bound = pickle.loads(pickle.dumps(Bound(pipeline("{start:%H}.csv", "1h"), path_of(root, "p", "4711"))))  # noqa: S301 - made here
    assert (bound.folder, bound.state, bound.root) == (path_of(root, "p", "4711"), "4711", path_of(root))
    assert [str(bound.table(name)) for name in ("frames/1h", "../windows/w")] == [f"{root}/p/4711/frames/1h", f"{root}/p/windows/w"]
