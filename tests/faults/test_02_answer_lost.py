"""Fault 2: a commit succeeded and its answer was lost. The second attempt sees what is committed and commits nothing of it again."""

from pathlib import Path

import pytest

from tests.properties.equal_values import bitwise
from tests.storage.crashing import Crash, Crashing
from tests.storage.three_batches import Small


@pytest.mark.parametrize("table", ["quarantine", "frames/20m", "../windows/hours", "../windows/visits"])
def test_the_second_attempt_does_nothing(table: str, tmp_path: Path) -> None:
    small = Small(tmp_path)
    small.write_all()
    small.run("clean")
    verbs = Crashing(small.store("tried"))
    small.run("tried", store=verbs)
    store = Crashing(small.store("state"), verbs.said.index(f"commit {table}"), after=True)
    with pytest.raises(Crash):
        small.run("state", store=store)
    committed = small.store("state").snapshot(table)
    assert committed.files
    small.run("state")
    again = small.store("state").snapshot(table)
    assert [file.path for file in again.files] == [file.path for file in committed.files]
    assert all(bitwise(found, small.tables("clean")[name]) for name, found in small.tables("state").items())
