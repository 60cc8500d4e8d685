"""Migration: states of every earlier format, carried over at once, beside runs, and taken back."""

import json
import tarfile
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from deltalake import DeltaTable

from muntin import Pipeline, read, run
from muntin import aggregates as agg
from muntin.cli.main import main
from muntin.errors import StateError
from muntin.jobs.bound import bind
from muntin.jobs.upkeep.maintain import maintain
from muntin.jobs.upkeep.migrate import KEPT, NOTE, migrate, to_migrate, undo
from muntin.store.state import FORMAT, OWNER_FILE
from muntin.tasks import Local
from tests.end_to_end.made_before.definitions import END, START, every_kind, write
from tests.storage.crashing import Crash

SAMPLES = Path(__file__).parents[1] / "end_to_end/made_before"
NOTED = {"definition.json", "facts.json"}


MOVED = {"state": 1, "state_with_one_ledger": 1, "state_of_format_2": 2}
"""Samples whose windows a migration moves -> their format."""
STAYS = {"state_of_format_4": 4, "state_of_format_5": 5, "state_of_format_6": 6}


def unpacked(sample: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(folder)
    for day in range(3):
        write(folder / "data", day)
    with tarfile.open(SAMPLES / f"{sample}.tar.gz") as packed:
        packed.extractall(folder, filter="data")
    return folder


@pytest.fixture(params=MOVED)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    return unpacked(request.param, tmp_path, monkeypatch)


def contents(root: Path) -> dict[str, str]:
    """Path -> digest of every file, but for what is noted of definitions."""
    files = (path for path in root.rglob("*") if path.is_file() and path.name not in NOTED)
    return {str(path.relative_to(root)): sha256(path.read_bytes()).hexdigest() for path in files}


def crash(*_: object) -> None:
    raise Crash


def shown(pipeline: Pipeline, root: Path) -> dict[str, object]:
    return {name: read(pipeline, name, root=root).to_pylist() for name in pipeline.windows}


def test_there_and_back(project: Path) -> None:
    pipeline, root = every_kind(project / "data"), project / "state"
    before, known = contents(root), shown(pipeline, root)
    told = to_migrate(pipeline, root=root)
    assert (told.from_format in (1, 2), told.to_format, {*told.tables}) == (True, FORMAT, {*pipeline.windows})
    assert contents(root) == before
    assert migrate(pipeline, root=root) == told
    assert shown(pipeline, root) == known
    for window in pipeline.windows:
        assert DeltaTable(str(root / "every_kind/windows" / window)).version() >= 0
    assert (bool(to_migrate(pipeline, root=root)), to_migrate(pipeline, root=root).can_be_undone) == (False, True)
    assert undo(pipeline, root=root).to_format == told.from_format
    assert contents(root) == before
    with pytest.raises(StateError, match="no migration can be taken back"):
        undo(pipeline, root=root)


@pytest.mark.parametrize(("sample", "number"), STAYS.items())
def test_there_and_back_where_windows_stay(sample: str, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pipeline, root = every_kind(unpacked(sample, tmp_path, monkeypatch) / "data"), tmp_path / "state"
    before, known = contents(root), shown(pipeline, root)
    told = migrate(pipeline, root=root)
    assert (told.from_format, told.to_format, told.tables) == (number, FORMAT, {})
    assert shown(pipeline, root) == known
    assert undo(pipeline, root=root).to_format == number
    assert contents(root) == before


def test_a_second_migration_is_taken_back_alone(project: Path) -> None:
    """As where Muntin is upgraded twice within a week: the state does not go back behind the runs in between."""
    pipeline, root = every_kind(project / "data"), project / "state"
    migrate(pipeline, root=root)
    write(project / "data", 1, seed=1)
    run(pipeline, root=root, start=START, end=END, spark=Local(2))
    owner, known = root / "every_kind" / OWNER_FILE, shown(pipeline, root)
    owner.write_text(json.dumps({"format": FORMAT - 1, "pipeline": "every_kind"}))
    migrate(pipeline, root=root)
    assert undo(pipeline, root=root).to_format == FORMAT - 1
    assert (json.loads(owner.read_text())["format"], shown(pipeline, root)) == (FORMAT - 1, known)


def test_what_runs_published_behind_an_interrupted_migration_is_not_taken_back(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is interrupted when all is done and nobody has noted it."""
    pipeline, root = every_kind(project / "data"), project / "state"
    with monkeypatch.context() as patch:
        patch.setattr("muntin.jobs.upkeep.migrate._versions", crash)
        with pytest.raises(Crash):
            migrate(pipeline, root=root)
    write(project / "data", 1, seed=1)
    run(pipeline, root=root, start=START, end=END, spark=Local(2))
    known = shown(pipeline, root)
    assert not to_migrate(pipeline, root=root).can_be_undone
    with pytest.raises(StateError, match="it was interrupted"):
        undo(pipeline, root=root)
    migrate(pipeline, root=root)
    with pytest.raises(StateError, match="no migration can be taken back"):
        undo(pipeline, root=root)
    assert shown(pipeline, root) == known


def test_a_migration_of_another_definition_is_not_taken_back(project: Path) -> None:
    pipeline, root = every_kind(project / "data"), project / "state"
    migrate(pipeline, root=root)
    other = replace(pipeline, aggregates={**pipeline.aggregates, "more": agg.max("n")})
    bind(other, root, claim=True)
    with pytest.raises(StateError, match="another definition's"):
        undo(other, root=root)
    assert undo(pipeline, root=root)


def test_a_run_goes_on_and_nothing_is_derived_anew(project: Path) -> None:
    pipeline, root = every_kind(project / "data"), project / "state"
    migrate(pipeline, root=root)
    report = run(pipeline, root=root, start=START, end=END, spark=Local(2))
    assert not report.changed
    run(pipeline, root=project / "new", start=START, end=END, spark=Local(2))
    assert shown(pipeline, root) == shown(pipeline, project / "new")
    write(project / "data", 1, seed=1)
    run(pipeline, root=root, start=START, end=END, spark=Local(2))
    with pytest.raises(StateError, match=r"runs have changed .* since the migration"):
        undo(pipeline, root=root)
    maintain(pipeline, root=root, older_than_us=-(10**9))
    assert not (root / "every_kind" / NOTE).exists()
    assert not [*root.glob(f"every_kind/*/{KEPT}")]
    assert shown(pipeline, root).keys() == {*pipeline.windows}


def test_an_interrupted_migration_is_carried_on(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pipeline, root = every_kind(project / "data"), project / "state"
    before, known = contents(root), shown(pipeline, root)
    renames, rename = [3], Path.rename

    def some(path: Path, target: Path) -> Path:
        if KEPT in str(target):
            renames[0] -= 1
            if renames[0] < 0:
                raise Crash
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", some)
    with pytest.raises(Crash):
        migrate(pipeline, root=root)
    monkeypatch.undo()
    monkeypatch.chdir(project)
    assert shown(pipeline, root) == known
    assert to_migrate(pipeline, root=root)
    migrate(pipeline, root=root)
    assert shown(pipeline, root) == known
    undo(pipeline, root=root)
    assert contents(root) == before


def test_a_state_of_today_needs_none(tmp_path: Path) -> None:
    write(tmp_path / "data", 0)
    pipeline = every_kind(tmp_path / "data")
    with pytest.raises(StateError, match="no state"):
        to_migrate(pipeline, root=tmp_path / "state")
    bind(pipeline, tmp_path / "state", claim=True)
    assert not migrate(pipeline, root=tmp_path / "state")


def test_by_hand(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = project / "every_kind.py"
    file.write_text(
        "from pathlib import Path\n\nfrom tests.end_to_end.made_before.definitions import every_kind\n\nflow = every_kind(Path('data'))\n"
    )

    def told(*words: str) -> str:
        assert main(["migrate", str(file), "--root", "state", *words]) == 0
        return capsys.readouterr().out

    assert "nothing was changed; --yes does it" in told()
    done = json.loads(told("--yes", "--json"))
    assert (done["done"], done["to_format"], {*done["tables"]}) == (True, FORMAT, {*every_kind(project / "data").windows})
    assert "there is nothing to do; a migration can be taken back: --undo" in told()
    assert "as it was before the migration" in told("--undo")
