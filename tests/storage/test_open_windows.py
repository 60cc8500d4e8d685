"""A batch that closes no window reads no state but its own, however long a window has been open.

a day         [------------------------------------------------)
batches        0   1   2   3   4   5   6 ...              23
read                       own                            all of the day
"""

from pathlib import Path
from typing import Any

import pytest

from muntin import windows
from muntin.jobs.finalize import finalize
from muntin.store.paths import parse_states_path
from tests.case_counts import some
from tests.storage.test_retain import Long
from tests.storage.three_batches import START

KINDS = {
    "tumbling": windows.tumbling("1d"),
    "New_York": windows.tumbling("1d", timezone="America/New_York", align_to="19:00"),
    "closed_right": windows.tumbling("1d", closed="right"),
    "sliding": windows.sliding("1d", step="12h"),
    "trailing": windows.trailing(days=1),
}


@pytest.mark.parametrize("name", some(KINDS, one_in=3))
def test_a_batch_that_closes_nothing_reads_its_own_states(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    long, read = Long(tmp_path, retain=None, kinds={name: KINDS[name]}), list[set[int]]()
    shards_together = finalize.shards_together

    def watched(*asked: Any) -> Any:
        tasks = shards_together(*asked)
        batches = {parse_states_path(path).first_us for shards in tasks for shard in shards for path in shard.files}
        read.append({(us - int(START.timestamp() * 1e6)) // 3_600_000_000 for us in batches})
        return tasks

    monkeypatch.setattr(finalize, "shards_together", watched)
    for at in range(26):
        long.write(at, [60 * at + 7, 60 * at + 29])
        long.run("state", at, at)
    assert [len(each) for each in read[1:11]] == [1] * 10
    assert max(map(len, read)) >= 24
    assert len(read[25]) == 1
    assert len(long.tables("state")[name])
