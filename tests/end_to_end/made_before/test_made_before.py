"""A state that version 0.1 wrote is read as it is, and goes on as if it had been written today."""

import tarfile
from datetime import timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from muntin import Pipeline, read, run
from muntin.store.delta import DeltaStore
from muntin.store.paths import parse_states_path
from muntin.store.state import states_of
from muntin.tasks import Local
from tests.end_to_end.made_before.definitions import END, START, every_kind, rows_alone, write

HERE = Path(__file__).parent


@pytest.fixture(params=["state", "state_with_one_ledger", *(f"state_of_format_{number}" for number in (2, 4, 5, 6))])
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """A folder with the source and an old state: of version 0.1, the last with ledgers in one piece, the last of formats 2, 4, 5 and 6."""
    monkeypatch.chdir(tmp_path)
    return with_state(tmp_path, request.param)


def with_state(folder: Path, name: str) -> Path:
    for day in range(3):
        write(folder / "data", day)
    with tarfile.open(HERE / f"{name}.tar.gz") as packed:
        packed.extractall(folder, filter="data")
    return folder


def same(pipeline: Pipeline, one: Path, other: Path) -> None:
    for name in pipeline.windows:
        for provisional in (False, True):
            ours, theirs = (read(pipeline, name, root=root, provisional=provisional) for root in (one, other))
            assert ours.equals(theirs), name


def test_what_was_published_is_read_and_replaced_as_if_written_today(project: Path) -> None:
    old, new, pipeline = project / "state", project / "new", every_kind(project / "data")
    run(pipeline, root=new, start=START, end=END, spark=Local(1))
    assert states_of(old / "every_kind")[0].name == states_of(new / "every_kind")[0].name
    same(pipeline, old, new)
    write(project / "data", 1, seed=1)
    for root in (old, new):
        run(pipeline, root=root, start=START + timedelta(days=1), end=START + timedelta(days=2), spark=Local(1))
    same(pipeline, old, new)
    assert {each.name for each in (old / "every_kind/windows").iterdir()} == {*pipeline.windows}  # at the path that stays
    assert not [*old.glob("every_kind/*/windows/*")]


def columns(state: Path) -> list[set[str]]:
    """The columns of the files of states that are rows, batches ascending."""
    (pipeline,) = states_of(state)
    files = DeltaStore(str(pipeline)).snapshot("frames/rows").files
    found = {parse_states_path(file.path).first_us: pq.read_schema(pipeline / "frames/rows" / file.path).names for file in files}
    return [{*names} for _, names in sorted(found.items())]


def test_rows_of_format_4_lie_beside_rows_that_hold_values_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    project = with_state(tmp_path, "state_of_format_4")
    old, new, pipeline = project / "state", project / "new", rows_alone(project / "data")
    assert all("sum_x" in names for names in columns(old / pipeline.name))
    run(pipeline, root=new, start=START, end=END, spark=Local(1))
    assert states_of(old / pipeline.name)[0].name == states_of(new / pipeline.name)[0].name
    same(pipeline, old, new)
    all_columns = {1: [True, False, True], 2: [True, False, False], 0: [False, False, False]}
    for day, expected in all_columns.items():
        write(project / "data", day, seed=1)
        for root in (old, new):
            run(pipeline, root=root, start=START + timedelta(days=day), end=START + timedelta(days=day + 1), spark=Local(1))
        same(pipeline, old, new)
        assert ["sum_x" in names for names in columns(old / pipeline.name)] == expected
