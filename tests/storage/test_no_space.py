"""A full disk, for real: the kernel refuses to let any file grow beyond a limit. Published windows stay; the next run succeeds."""

import resource
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from muntin import errors
from muntin.store import parquet
from muntin.store.parquet import write_named
from tests.case_counts import long
from tests.properties.equal_values import bitwise
from tests.storage.three_batches import OTHER, Small

LIMITS = [0, 2100, 3300, 4000][:: 1 if long() else 2]
"""Bytes. Parquet files here have two to four thousand, entries of Delta's logs four hundred to five thousand."""
STEPS = ["accumulate", "finalize", "publish"]


@contextmanager
def full(limit: int) -> Iterator[None]:
    """No file of this process may be longer; writing beyond is an error of the system, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def attempt(small: Small, root: str, limit: int, step: str) -> bool:
    """Whether a run gets through whose disk is full from this step on; only a StateError says that it is."""
    try:
        with ExitStack() as stack:
            small.run(root, progress=lambda name: stack.enter_context(full(limit)) if name == step else None)
    except errors.StateError:
        return False
    return True


@pytest.fixture
def small(tmp_path: Path) -> Small:
    made = Small(tmp_path)
    made.write_all()
    return made


@pytest.mark.parametrize("step", STEPS)
def test_a_first_run_on_a_full_disk(small: Small, step: str) -> None:
    small.run("clean")
    passed = []
    for limit in LIMITS:
        passed.append(attempt(small, f"full{limit}", limit, step))
        small.run(f"full{limit}")
        assert bitwise(small.tables(f"full{limit}")["hours"], small.tables("clean")["hours"]), limit
    assert not all(passed)


def test_the_folder_cannot_even_be_claimed(small: Small) -> None:
    with full(0), pytest.raises(errors.StateError):
        small.run("state")
    small.run("state")


@pytest.mark.parametrize("step", STEPS)
def test_published_windows_stay(small: Small, step: str) -> None:
    small.run("old")
    old = small.tables("old")
    small.write(1, OTHER)
    small.run("clean")
    new = small.tables("clean")
    for limit in LIMITS:
        shutil.copytree(small.folder / "old", small.folder / "state")
        passed, seen = attempt(small, "state", limit, step), small.tables("state")
        assert all(bitwise(seen[name], old[name]) or bitwise(seen[name], new[name]) for name in new), limit
        assert passed or limit > 1000 or all(bitwise(seen[name], old[name]) for name in old), limit
        small.run("state")
        assert all(bitwise(table, new[name]) for name, table in small.tables("state").items()), limit
        shutil.rmtree(small.folder / "state")


def test_the_error_says_what_to_do(small: Small) -> None:
    small.store("root")
    with full(100), pytest.raises(errors.StateError, match="space"):
        small.run("root")


def test_a_large_file_on_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is encoded to the disk, and the disk refuses in the middle of it."""
    monkeypatch.setattr(parquet, "_LARGE", 0)
    table = pa.table({"v": np.random.default_rng(1).random(500_000)})
    with full(100_000), pytest.raises(errors.StateError, match="space"):
        write_named(table, tmp_path, lambda digest: f"below/{digest}.parquet")
    assert not [*(tmp_path / "below").iterdir()]


def test_nothing_is_left_lying_about(small: Small) -> None:
    attempt(small, "root", 1000, "accumulate")
    assert not list((small.folder / "root").rglob("*.partial"))
