"""The judge's tests by turns in one task a window, and cut by key: windows are the same, however many tasks make them."""

from zlib import crc32

import pytest

from muntin.jobs.finalize import shard

FEW_ROWS = 12
"""States of a task: some tasks for each window of a scenario."""


@pytest.fixture(autouse=True)
def _some_are_cut_by_key(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if crc32(request.node.nodeid.encode()) % 2:
        monkeypatch.setattr(shard, "SHARD_ROWS", FEW_ROWS)
