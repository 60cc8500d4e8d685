"""Folders that belong to somebody else are refused, and nothing is written into them."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from muntin import errors, read
from muntin.store.state import FORMAT, OWNER_FILE, _mark
from tests.storage.test_crash_points import same
from tests.storage.three_batches import Small

Prepare = Callable[[Path], None]


def another(home: Path) -> None:
    (home / OWNER_FILE).write_bytes(_mark({"format": 1, "pipeline": "large"}))


def later(home: Path) -> None:
    (home / OWNER_FILE).write_bytes(_mark({"format": FORMAT + 1, "pipeline": "small"}))


def earlier(home: Path) -> None:
    (home / OWNER_FILE).write_bytes(_mark({"format": FORMAT - 1, "pipeline": "small"}))


def foreign(home: Path) -> None:
    (home / "letters.txt").write_text("dear")


def garbled(home: Path) -> None:
    (home / OWNER_FILE).write_text('{"format"')


def other_format(number: int) -> str:
    """What the refusal says."""
    return (
        f"has state format {number}, and this Muntin knows format {FORMAT}; use a Muntin that knows format {number}, or give another root"
    )


@pytest.mark.parametrize(
    ("prepare", "said"),
    [
        (another, "'large'"),
        (
            later,
            other_format(FORMAT + 1),
        ),
        (
            earlier,
            other_format(FORMAT - 1),
        ),
        (foreign, "not Muntin's"),
        (garbled, "cannot be read"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_another_ones_folder_is_left_alone(tmp_path: Path, prepare: Prepare, said: str) -> None:
    small, home = Small(tmp_path), tmp_path / "root/small"
    small.write_all()
    home.mkdir(parents=True)
    prepare(home)
    before = sorted(path.name for path in home.rglob("*"))
    with pytest.raises(errors.StateError, match=said):
        small.run("root")
    with pytest.raises(errors.StateError, match=said):
        read(small.pipeline, "hours", root=tmp_path / "root")
    assert sorted(path.name for path in home.rglob("*")) == before


def test_a_root_that_is_a_file_is_an_error_for_its_reader(tmp_path: Path) -> None:
    small = Small(tmp_path)
    small.write_all()
    (tmp_path / "root").write_text("in the way")
    with pytest.raises(errors.StateError, match="root"):
        small.run("root")


def test_another_tools_compaction_is_named(tmp_path: Path) -> None:
    from deltalake import DeltaTable

    small = Small(tmp_path)
    small.write_all()
    for at in range(3):
        small.run("root", at, at)
    DeltaTable(f"{small.store('root').root}/frames/20m").optimize.compact()
    with pytest.raises(errors.StateError, match="optimize"):
        small.run("root")


# killed while it claimed its folder: what is there is Muntin's own, or hidden
def test_a_first_run_killed_at_its_first_step_is_no_stranger(tmp_path: Path) -> None:
    small = Small(tmp_path)
    small.write_all()
    (tmp_path / "root/small").mkdir(parents=True)
    (tmp_path / f"root/small/.{OWNER_FILE}.0.partial").write_text("{")
    assert small.run("root").batches


def test_a_root_may_move(tmp_path: Path) -> None:
    small = Small(tmp_path)
    small.write_all()
    small.run("here", 0, 1)
    shutil.copytree(tmp_path / "here", tmp_path / "there")
    shutil.rmtree(tmp_path / "here")
    small.run("there", 2, 2)
    small.run("clean")
    assert same(small.tables("there"), small.tables("clean"))
