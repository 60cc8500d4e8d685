"""What `python -m benchmarks` says of a promise that is not kept: a benchmark that cannot fail proves nothing."""

import pytest

from benchmarks.contestants import BY_NAME
from benchmarks.figures import Outcome, broken
from benchmarks.measurement import Measurement


def outcome(name: str, job_s: float) -> Outcome:
    """A contestant, measured once."""
    contestant = BY_NAME[name]
    return Outcome(contestant, [Measurement(job_s * contestant.share, 1.0, 1.0, 1.0)], windows=1)


CASES = {
    # seconds of ours, of a peer or of tumbling windows     what is said
    "ahead": ({"ours-sliding": 2.0, "duckdb-sliding": 2.0}, []),
    "behind": ({"ours-sliding": 2.0, "duckdb-sliding": 1.9}, ["W1, DuckDB, window over states: 0.95 times ours; promised at least 1.00"]),
    "of a tenth of the events": ({"ours-sliding": 1.0, "spark-window": 51.0}, []),
    "a kind": ({"ours-counted": 3.0, "ours-tumbling-counted": 1.0}, []),
    "a dear kind": (
        {"ours-counted": 3.3, "ours-tumbling-counted": 1.0},
        ["W4, every 100 rows by arrival: 3.30 times tumbling windows; promised at most 3.00"],
    ),
    "alone": ({"duckdb-sliding": 1.0}, []),
    "no promise": ({"ours-counted": 3.0, "polars-counted": 0.1}, []),
}


@pytest.mark.parametrize(("seconds", "said"), CASES.values(), ids=CASES)
def test_a_promise_that_is_not_kept_is_told(seconds: dict[str, float], said: list[str]) -> None:
    assert broken([outcome(name, job_s) for name, job_s in seconds.items()]) == said
