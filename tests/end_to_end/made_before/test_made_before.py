"""A state that version 0.1 wrote is read as it is, and goes on as if it had been written today."""

import tarfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from pipelines import Pipeline, read, run
from pipelines.store.state import states_of
from tests.end_to_end.made_before.definitions import END, START, every_kind, write

HERE = Path(__file__).parent


@pytest.fixture(params=["state", "state_with_one_ledger", "state_of_format_2"])
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """A folder with the source and an old state: of version 0.1, the last one whose ledgers were in one piece, the last one of format 2."""
    monkeypatch.chdir(tmp_path)
    for day in range(3):
        write(tmp_path / "data", day)
    with tarfile.open(HERE / f"{request.param}.tar.gz") as packed:
        packed.extractall(tmp_path, filter="data")
    return tmp_path


def same(pipeline: Pipeline, one: Path, other: Path) -> None:
    for name in pipeline.windows:
        for provisional in (False, True):
            ours, theirs = (read(pipeline, name, root=root, provisional=provisional) for root in (one, other))
            assert ours.equals(theirs), name


def test_what_was_published_is_read_and_replaced_as_if_written_today(project: Path, spark: Any) -> None:
    old, new, pipeline = project / "state", project / "new", every_kind(project / "data")
    run(pipeline, root=new, start=START, end=END, spark=spark)
    assert states_of(old / "every_kind")[0].name == states_of(new / "every_kind")[0].name
    same(pipeline, old, new)
    write(project / "data", 1, seed=1)
    for root in (old, new):
        run(pipeline, root=root, start=START + timedelta(days=1), end=START + timedelta(days=2), spark=spark)
    same(pipeline, old, new)
    assert {each.name for each in (old / "every_kind/windows").iterdir()} == {*pipeline.windows}  # at the path that stays
    assert not [*old.glob("every_kind/*/windows/*")]
