"""Migration: states of every earlier format, carried over at once, beside runs, and taken back."""

import json
import tarfile
from hashlib import sha256
from pathlib import Path

import pytest
from deltalake import DeltaTable

from pipelines import Pipeline, read, run
from pipelines.cli.main import main
from pipelines.errors import StateError
from pipelines.jobs.bound import bind
from pipelines.jobs.upkeep.maintain import maintain
from pipelines.jobs.upkeep.migrate import KEPT, NOTE, migrate, to_migrate, undo
from pipelines.store.state import FORMAT
from tests.end_to_end.made_before.definitions import END, START, every_kind, write
from tests.storage.crashing import Crash
from tests.storage.spark_in_process import Here

SAMPLES = Path(__file__).parents[1] / "end_to_end/made_before"
NOTED = {"definition.json", "facts.json"}


@pytest.fixture(params=["state", "state_with_one_ledger", "state_of_format_2"])
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    monkeypatch.chdir(tmp_path)
    for day in range(3):
        write(tmp_path / "data", day)
    with tarfile.open(SAMPLES / f"{request.param}.tar.gz") as packed:
        packed.extractall(tmp_path, filter="data")
    return tmp_path


def contents(root: Path) -> dict[str, str]:
    """Path -> digest of every file, but for what is noted of definitions."""
    files = (path for path in root.rglob("*") if path.is_file() and path.name not in NOTED)
    return {str(path.relative_to(root)): sha256(path.read_bytes()).hexdigest() for path in files}


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


def test_a_run_goes_on_and_nothing_is_derived_anew(project: Path) -> None:
    pipeline, root = every_kind(project / "data"), project / "state"
    migrate(pipeline, root=root)
    report = run(pipeline, root=root, start=START, end=END, spark=Here())
    assert not report.changed
    run(pipeline, root=project / "new", start=START, end=END, spark=Here())
    assert shown(pipeline, root) == shown(pipeline, project / "new")
    write(project / "data", 1, seed=1)
    run(pipeline, root=root, start=START, end=END, spark=Here())
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
