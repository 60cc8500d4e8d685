"""The promise of docs/operating/definitions.md: a root that an earlier version wrote is read, and continued by one more batch."""

import tarfile
from pathlib import Path

import pytest

import muntin
from muntin import read
from muntin.jobs.doctor.diagnosis import diagnose
from tests.golden.kept_roots import DAYS, KEPT, go, pipeline, write

ROOTS = sorted(KEPT.glob("*.tar.xz"))


def clean(folder: Path, days: int) -> Path:
    """A root of the present version over the same files."""
    folder.mkdir()
    for day in range(days):
        write(folder, day, again=2 if day == 1 else 0)
    go(folder, 0, days - 1)
    return folder


@pytest.mark.parametrize("kept", ROOTS, ids=lambda path: path.name.removesuffix(".tar.xz"))
def test_a_root_of_an_earlier_version_is_read_and_continued(kept: Path, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    with tarfile.open(kept) as archive:
        archive.extractall(folder, filter="data")
    check(folder, clean(tmp_path / "as_now", DAYS))
    assert [each.problem for each in diagnose(pipeline(folder), root=folder / "state", deep=True)] == []
    write(folder, DAYS)
    report = go(folder, DAYS, DAYS)
    assert [(each.rows_read, each.rows_quarantined) for each in report.batches] == [(11, 1)]
    check(folder, clean(tmp_path / "one_more", DAYS + 1))


def check(folder: Path, other: Path) -> None:
    """Windows, published and open, are those of the other root."""
    for name in pipeline(folder).windows:
        ours, theirs = (read(pipeline(each), name, root=each / "state", provisional=True) for each in (folder, other))
        assert ours.num_rows
        assert ours.to_pylist() == theirs.to_pylist(), name


def test_a_root_of_this_version_is_kept() -> None:
    names = [path.name for path in ROOTS]
    assert f"{muntin.__version__}.tar.xz" in names, "python -m tests.golden.kept_roots keeps it"
