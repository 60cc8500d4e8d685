"""Where a disk has no room, no files left, no hard links, or may not be written, errors say so, and nothing blames memory for it."""

import errno
import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import pytest

from muntin.errors import StateError, StorageError
from muntin.jobs.doctor.diagnosis import examine_disk
from muntin.jobs.records import attempts as notes
from muntin.jobs.records.reports_table import utc_now
from muntin.jobs.state.bound import bind
from muntin.jobs.upkeep.maintain import maintain
from muntin.jobs.upkeep.vacuum import vacuum
from muntin.store import disk
from muntin.store.disk import refused_through
from muntin.store.state import states_of
from tests.soak.disks import can_mount
from tests.storage.test_no_space import full
from tests.storage.three_batches import Small

WEEK_US = 7 * 86_400_000_000
NEEDS_A_DISK = pytest.mark.skipif(not can_mount(), reason="needs the right to mount a disk in memory")


@pytest.fixture
def small(tmp_path: Path) -> Small:
    made = Small(tmp_path)
    made.write_all()
    return made


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Path]:
    """A small disk in memory."""
    folder = tmp_path / "state"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m,nr_inodes=2000", "muntin-end", str(folder)], check=True)
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def remount(folder: Path, options: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{options}", str(folder)], check=True)


def test_maintain_on_a_full_disk_says_so(small: Small) -> None:
    small.run("state")
    with full(0), pytest.raises(StateError, match=r"no space left to write the log of .+; free some"):
        maintain(small.pipeline, root=small.folder / "state", older_than_us=WEEK_US)
    maintain(small.pipeline, root=small.folder / "state", older_than_us=WEEK_US)


@NEEDS_A_DISK
def test_maintain_on_a_state_that_may_not_be_written_says_so(small: Small, mounted: Path) -> None:
    small.run("state")
    remount(mounted, "ro")
    with pytest.raises(StateError, match=r"cannot write the log of .+: Read-only file system; give the state a root that can be written"):
        maintain(small.pipeline, root=mounted, older_than_us=WEEK_US)


@NEEDS_A_DISK
@pytest.mark.parametrize("left", ["frames/20m/left.parquet", "staging/run/hours/left.parquet"])
def test_what_cannot_be_removed_is_not_told_as_removed(small: Small, mounted: Path, left: str) -> None:
    small.run("state")
    [state] = states_of(mounted / "small")
    (state / left).parent.mkdir(parents=True, exist_ok=True)
    (state / left).write_bytes(b"old")
    os.utime(state / left, (0, 0))
    later = utc_now() + timedelta(days=30)
    remount(mounted, "ro")
    with pytest.raises(StateError, match=r"cannot (write|remove) .+; give the state a root that can be written"):
        vacuum(mounted, older_than_us=WEEK_US, now=later)
    remount(mounted, "rw")
    assert vacuum(mounted, older_than_us=WEEK_US, now=later)
    assert not (state / left).exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "Kernel error: Unable to open file /a/b: Read-only file system (os error 30)",
            "^cannot write the log: Read-only file system; give",
        ),
        ("Unable to create file: Permission denied (os error 13)", "^cannot write the log: Permission denied; give"),
        ("Generic LocalFileSystem error: No space left on device (os error 28)", "^no space left to write the log; free some"),
        ("Unable to rename file: Operation not permitted (os error 1)", "hard links"),
        ("Object at location a already exists: File exists (os error 17)", None),
        ("Table metadata changed", None),
    ],
)
def test_what_deltalake_tells_of_a_disk_is_said_in_our_words(text: str, said: str | None) -> None:
    told = refused_through("the log", ValueError(text))
    assert (told is None) == (said is None)
    if told and said:
        with pytest.raises(StateError, match=said):
            raise told


# step        check        accumulate, and the disk is full
# its note    running      failed where there is room over it, else gone; never "running", which is read as killed once the process is gone
@pytest.mark.parametrize("limit", [0, 2100])
def test_a_run_that_a_full_disk_ended_is_not_taken_for_killed(small: Small, limit: int) -> None:
    with pytest.raises(StateError), ExitStack() as stack:
        small.run("state", progress=lambda name: stack.enter_context(full(limit)) if name == "accumulate" else None)
    [state] = states_of(small.folder / "state/small")
    assert [each.phase for each in notes.attempts(state)] in ([], ["failed"])


@NEEDS_A_DISK
def test_nor_a_run_that_had_no_more_inodes(small: Small, mounted: Path, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(StateError, match="no space left"):
        small.run("state", progress=lambda name: take_all_inodes(mounted) if name == "accumulate" else None)
    [state] = states_of(mounted / "small")
    [attempt] = notes.attempts(state)
    assert attempt.phase == "failed"
    assert "no space left to write" in str(attempt.reason)
    remount(mounted, "nr_inodes=9000")
    caplog.clear()
    small.run("state")
    assert "killed" not in caplog.text


def take_all_inodes(folder: Path) -> None:
    (folder / "others").mkdir()
    for number in range(3000):
        try:
            (folder / "others" / str(number)).touch()
        except OSError:
            return


@pytest.mark.parametrize("number", [errno.EPERM, errno.ENOTSUP, errno.ENOSYS])
def test_a_file_system_without_hard_links_is_named(small: Small, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """As the kernel answers on FAT; what needs no commit is copied there."""

    def no_link(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(disk.os, "link", no_link)
    with pytest.raises(StateError, match=r"has no hard links \(.+\).+ext4.+Nothing was published"):
        small.run("state")
    assert ["hard links" in found.problem for found in examine_disk(small.folder, utc_now())] == [True]
    monkeypatch.undo()
    small.run("state")


@pytest.mark.parametrize("name", ["a\nb", "a\tb", "\r", "a\x7f", "\x01"])
def test_a_root_that_deltalake_cannot_open_is_named(small: Small, name: str) -> None:
    with pytest.raises(StorageError, match=r"deltalake cannot open a Delta table with '\\.+' in its path; give the folder another name"):
        small.run(name)
    with pytest.raises(StorageError):
        bind(small.pipeline, small.folder / name).store.snapshot("reports")
