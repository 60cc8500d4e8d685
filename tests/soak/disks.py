"""A small disk of its own for the state: full, or read-only, from some step of a run on. Needs the right to mount; see `can_mount`."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from muntin.errors import StateError
from tests.soak.ground import Ground

STEPS = ("check", "accumulate", "finalize", "publish")
ROOMY = "64m"


def can_mount() -> bool:
    """Whether this process may mount a disk in memory."""
    if os.geteuid() != 0:
        return False
    with tempfile.TemporaryDirectory() as folder:
        try:
            with mounted(Path(folder)):
                return True
        except subprocess.CalledProcessError:
            return False


@contextmanager
def mounted(folder: Path) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    _do("mount", "-t", "tmpfs", "-o", f"size={ROOMY}", "muntin-soak", str(folder))
    try:
        yield
    finally:
        _do("umount", "-l", str(folder))


def _do(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)


def _remount(folder: Path, options: str) -> None:
    _do("mount", "-o", f"remount,{options}", str(folder))


def full(folder: Path, dice: Random) -> str:
    """From a step on so many bytes are left."""
    left = dice.choice((0, 4, 16, 64)) * 1024
    return _on_a_bad_disk(folder, dice, lambda disk: _remount(disk, f"size={_used(disk) + left}"), f"{left} bytes left")


def read_only(folder: Path, dice: Random) -> str:
    """From a step on nothing can be written."""
    return _on_a_bad_disk(folder, dice, lambda disk: _remount(disk, "ro"), "read-only")


def _on_a_bad_disk(folder: Path, dice: Random, worsen: object, what: str) -> str:
    """A run either gets through or says a StateError; on a good disk the next one equals a clean run."""
    ground, step = Ground(folder, dice), dice.choice(STEPS)
    disk, outcome = folder / "state", "got through"
    with mounted(disk):
        if dice.random() < 0.5:
            ground.run(end=2)
            ground.write(dice.randrange(2))
        if step == "check":
            worsen(disk)  # type: ignore[operator]
        try:
            ground.run(progress=lambda name: worsen(disk) if name == step else None)  # type: ignore[operator]
        except StateError as wrong:
            outcome = str(wrong)[:80]
        _remount(disk, f"rw,size={ROOMY}")
        assert ground.wrong() == [], (step, what, outcome)
    return f"{what} from {step} on: {outcome}"


def _used(disk: Path) -> int:
    stat = os.statvfs(disk)
    return (stat.f_blocks - stat.f_bfree) * stat.f_frsize
