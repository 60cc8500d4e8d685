"""The memory of forgotten keys lies in two folders: what one of them loses is read from the other, and put back.

forgotten      1  2  .  4     whatever is lost of it, and
.forgotten     1  2  3  x     whatever is lost here: as long as each file is whole somewhere, nothing comes back
"""

import json
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from muntin import forget, read, windows
from muntin.errors import StateError
from muntin.extensions.forgetting.remembered import new_secret, remembered
from muntin.jobs.doctor.diagnosis import diagnose
from muntin.jobs.doctor.repair import repair
from muntin.jobs.state.forgotten import forgotten
from tests.case_counts import at_length, cases
from tests.forgetting.visits import Visits

FOLDERS = ("forgotten", ".forgotten")


@pytest.fixture
def visits(tmp_path: Path) -> Visits:
    """An hour of ann and bob, who is forgotten, and an hour to come."""
    made = Visits(tmp_path, more={"windows": {"hour": windows.tumbling("1h")}})
    for at in range(2):
        made.write(at, [(at * 60 + 5, "ann", "x", 1.0, "a"), (at * 60 + 6, "bob", "x", 1.0, "a")])
    made.run(0)
    assert forget(made.pipeline, [{"person": "bob"}], root=made.root).done
    return made


def people(visits: Visits) -> set[str]:
    return {*read(visits.pipeline, "hour", root=visits.root)["person"].to_pylist()}


def files(visits: Visits, folder: str) -> list[Path]:
    return sorted((visits.root / "visits" / folder).glob("*.json"))


LOSSES: dict[str, Callable[[Path], None]] = {
    "the newest": lambda folder: max(folder.glob("*.json")).unlink(),
    "the oldest": lambda folder: min(folder.glob("*.json")).unlink(),
    "all": lambda folder: [each.unlink() for each in folder.glob("*.json")],  # type: ignore[dict-item]
    "the folder": shutil.rmtree,
    "the content": lambda folder: max(folder.glob("*.json")).write_bytes(b""),  # type: ignore[dict-item]
    "its place": lambda folder: max(folder.glob("*.json")).write_bytes(min(folder.glob("*.json")).read_bytes()),  # type: ignore[dict-item]
    "a letter": lambda folder: (new := max(folder.glob("*.json"))).write_text(new.read_text().replace("done", "undo")),  # type: ignore[dict-item]
}


@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.parametrize("loss", LOSSES)
def test_what_one_folder_loses_is_noticed_and_put_back(loss: str, folder: str, visits: Visits) -> None:
    before = forgotten(visits.root / "visits")
    LOSSES[loss](visits.root / "visits" / folder)
    assert forgotten(visits.root / "visits") == before
    assert any("the memory of forgotten keys lacks" in each.problem for each in diagnose(visits.pipeline, root=visits.root))
    visits.run(0, 1)
    assert people(visits) == {"ann"}
    repair(visits.pipeline, root=visits.root)
    assert [each.read_bytes() for each in files(visits, FOLDERS[0])] == [each.read_bytes() for each in files(visits, FOLDERS[1])]
    assert not [each.line for each in diagnose(visits.pipeline, root=visits.root)]


def test_an_older_copy_is_followed_by_what_comes_then(visits: Visits) -> None:
    older = visits.root / "older"
    shutil.copytree(visits.root / "visits/forgotten", older)
    new_secret(visits.pipeline, root=visits.root)
    shutil.rmtree(visits.root / "visits/forgotten")
    older.replace(visits.root / "visits/forgotten")
    assert forget(visits.pipeline, [{"person": "eve"}], root=visits.root).done
    said = [each["action"] for each in remembered(visits.pipeline, root=visits.root).events]
    assert said == ["forget", "done", "rotate", "forget", "done"]
    assert visits.run(0, 1).batches[0].rows_forgotten == 1


def test_what_is_whole_nowhere_stops_runs_until_it_is_put_back(visits: Visits) -> None:
    kept = files(visits, FOLDERS[0])[0].read_text()
    for folder, content in zip(FOLDERS, (kept.replace("forget", "undo", 1), "{}"), strict=True):
        files(visits, folder)[0].write_text(content)
    with pytest.raises(StateError, match="put it back from a backup, here or into the folder"):
        visits.run(0)
    for folder in FOLDERS:
        files(visits, folder)[0].unlink()
    with pytest.raises(StateError, match="put it back from a backup"):
        visits.run(0)
    (visits.root / "visits/.forgotten/000001.json").write_text(kept)
    assert visits.run(0).batches[0].rows_forgotten == 1


@pytest.mark.parametrize("loss", ["the newest", "all", "the folder"])
def test_what_both_folders_lose_at_the_end_stops_runs_until_it_is_put_back(loss: str, visits: Visits) -> None:
    before = forgotten(visits.root / "visits")
    shutil.copytree(visits.root / "visits/forgotten", visits.root / "kept")
    for folder in FOLDERS:
        LOSSES[loss](visits.root / "visits" / folder)
    with pytest.raises(StateError, match=r"000002\.json is gone, .* 2 files were there; put it back from a backup"):
        visits.run(0, 1)
    assert any("000002.json is gone" in each.problem for each in diagnose(visits.pipeline, root=visits.root))
    shutil.copytree(visits.root / "kept", visits.root / "visits/.forgotten", dirs_exist_ok=True)
    assert forgotten(visits.root / "visits") == before
    visits.run(0, 1)
    assert people(visits) == {"ann"}


def test_without_a_backup_keys_are_forgotten_again(visits: Visits) -> None:
    for folder in FOLDERS:
        shutil.rmtree(visits.root / "visits" / folder)
    with pytest.raises(
        StateError, match=r"If there is no backup: remove .*muntin\.json, run muntin doctor --mend FILE, and forget the keys"
    ):
        forget(visits.pipeline, [{"person": "bob"}], root=visits.root)
    (visits.root / "visits/muntin.json").unlink()
    repair(visits.pipeline, root=visits.root)
    assert forget(visits.pipeline, [{"person": "bob"}], root=visits.root).done
    visits.run(0, 1)
    assert people(visits) == {"ann"}
    assert not [each.line for each in diagnose(visits.pipeline, root=visits.root)]


@pytest.mark.parametrize("loss", ["empty", "cut", "a letter", "gone", "another"])
def test_a_secret_that_is_another_lets_nothing_come_back(loss: str, visits: Visits) -> None:
    """Under another secret no hash of a key is what it was."""
    secret = visits.root / ".forget.key"
    content = secret.read_text()
    letter = "0" if content[20] != "0" else "1"
    damaged = {"empty": "", "cut": content[:20], "a letter": content[:20] + letter + content[21:], "another": f"{'ab' * 32}\n"}
    secret.unlink()
    if loss in damaged:
        secret.write_text(damaged[loss])
    said = f"{secret.name}.*put it back from a backup, or say where it lies: MUNTIN_FORGET_KEY"
    with pytest.raises(StateError, match=said):
        visits.run(0, 1)
    assert any(re.search(said, each.problem) for each in diagnose(visits.pipeline, root=visits.root))
    secret.write_text(content)
    new_secret(visits.pipeline, root=visits.root)
    secret.write_text(f"{content}{'ab' * 32}\n")
    with pytest.raises(StateError, match="is not the secret of these forgotten keys"):
        visits.run(0, 1)


def test_a_memory_of_a_newer_version_is_not_guessed_at(visits: Visits) -> None:
    for folder in FOLDERS:
        path = files(visits, folder)[0]
        path.write_text(json.dumps({**json.loads(path.read_text()), "format": 4}))
    with pytest.raises(StateError, match="knows format 3; use a newer Muntin"):
        visits.run(0)


@at_length
@pytest.mark.parametrize("seed", range(cases(300)))
def test_random_losses(seed: int, visits: Visits) -> None:
    """Files are lost or damaged in turn, never one in both folders; runs, requests and repairs come between."""
    dice = random.Random(seed)
    for _ in range(6):
        every = {path.name for folder in FOLDERS for path in files(visits, folder)}
        for name in sorted(every):
            place = visits.root / "visits" / dice.choice(FOLDERS) / name
            both = all((visits.root / "visits" / folder / name).is_file() for folder in FOLDERS)
            if both and dice.random() < 0.4:
                dice.choice([lambda path: path.unlink(), lambda path: path.write_bytes(path.read_bytes()[:9])])(place)
                match dice.randrange(3):
                    case 0:
                        visits.run(dice.randrange(2))
                    case 1:
                        repair(visits.pipeline, root=visits.root)
                    case 2:
                        new_secret(visits.pipeline, root=visits.root)
        repair(visits.pipeline, root=visits.root)
        visits.run(0, 1)
        assert people(visits) == {"ann"}
