"""Fault 23: a key holds 90 % of the rows, and thousands of keys have one row each. No file is made for a key, and the counts are right."""

from pathlib import Path

import numpy as np

from muntin.jobs.state.bound import bind
from tests.end_to_end.hourly import Hourly, hour

HOT, COLD = 90_000, 10_000


def test_one_hot_key_among_many_cold_ones(tmp_path: Path) -> None:
    case = Hourly(tmp_path, other={"keys": ["k"]})
    start = int(hour(0).timestamp() * 1_000_000)
    for at in range(2):
        keys = [*["hot"] * HOT, *(f"cold {number}" for number in range(COLD))]
        moments = (start + 3_600_000_000 * at + np.arange(len(keys)) * 10_000).astype("datetime64[us]")
        case.write(f"0{at}.parquet", {"at": moments, "k": keys})
    case.run(0, 1)
    counts = dict(case.rows("k", "n"))
    assert (len(case.rows("n")), len(counts), counts["hot"], counts["cold 7"]) == (2 * (COLD + 1), COLD + 1, HOT, 1)
    bound = bind(case.pipeline, case.root)
    assert len(bound.store.snapshot(bound.frame_sets[0].table).files) <= 2
    assert len(bound.store.snapshot("../windows/hour").files) < 50
