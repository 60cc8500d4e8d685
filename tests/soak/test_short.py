"""A round or two of what `make soak` does for an hour."""

import logging
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from tests.case_counts import random_seeds
from tests.sinks.places import Place
from tests.soak.disks import can_mount, full, read_only
from tests.soak.forget_kills import forget_killed
from tests.soak.kills import killed
from tests.soak.races import raced, slowly
from tests.soak.sink_kills import PROGRAMS, STARTED, sinks_killed
from tests.soak.upkeep_kills import upkeep_killed


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.spark
@pytest.mark.parametrize("seed", random_seeds(5))
def test_a_killed_run_is_followed_by_one_that_equals_a_clean_one(tmp_path: Path, seed: int) -> None:
    print(killed(tmp_path / "ground", Random(seed)))


@pytest.mark.parametrize("seed", range(2))  # of the first two, each has another half of the commands
def test_upkeep_is_killed_beside_runs(tmp_path: Path, seed: int) -> None:
    print(upkeep_killed(tmp_path / "ground", Random(seed), kills=1, begun=8))


def test_a_command_that_forgets_is_killed_beside_a_run(tmp_path: Path) -> None:
    print(forget_killed(tmp_path / "ground", Random(0), kills=1))


@pytest.mark.parametrize("kind", STARTED)
def test_runs_that_send_are_killed(tmp_path: Path, kind: type[Place], monkeypatch: pytest.MonkeyPatch) -> None:
    if not PROGRAMS[kind]():
        pytest.skip("no such server: bash setup/stores.sh fetches it where apt-get or brew may")
    monkeypatch.setenv("SHOP", "")
    monkeypatch.setenv("CACHE", "")
    print(sinks_killed(tmp_path / "ground", Random(0), kills=3, stores=(kind,)))


@pytest.mark.parametrize("seed", random_seeds(5))
def test_eight_processes_at_once(tmp_path: Path, seed: int) -> None:
    print(raced(tmp_path / "ground", Random(seed)))


def test_two_processes_on_a_slow_root(tmp_path: Path) -> None:
    print(slowly(tmp_path / "ground", Random(0)))


@pytest.mark.skipif(not can_mount(), reason="needs the right to mount a disk in memory; tests/storage/test_no_space.py needs none")
@pytest.mark.parametrize("round_", [full, read_only])
@pytest.mark.parametrize("seed", random_seeds(10))
def test_a_bad_disk(tmp_path: Path, seed: int, round_: object) -> None:
    print(round_(tmp_path / "ground", Random(seed)))  # type: ignore[operator]
