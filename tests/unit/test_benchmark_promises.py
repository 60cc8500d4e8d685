"""What `python -m benchmarks` says of a promise that is not kept: a benchmark that cannot fail proves nothing."""

import pytest

from benchmarks.contestants import BY_NAME
from benchmarks.figures import Outcome, broken
from benchmarks.measurement import Measurement
from benchmarks.promises import Promise


def outcome(name: str, cpu_s: float) -> Outcome:
    """A contestant, measured once."""
    contestant = BY_NAME[name]
    return Outcome(contestant, [Measurement(1.0, cpu_s * contestant.share, 1.0, 1.0)], windows=1)


CASES = {
    # CPU seconds of ours and of a peer     what is said
    "ahead": ({"ours-sliding": 2.0, "duckdb-sliding": 2.0}, []),
    "behind": (
        {"ours-sliding": 2.0, "duckdb-sliding": 1.9},
        ["W1, DuckDB, window over states: 0.95 times our CPU seconds; promised at least 1.00"],
    ),
    "of a tenth of the events": ({"ours-sliding": 1.0, "spark-window": 51.0}, []),
    "alone": ({"duckdb-sliding": 1.0}, []),
    "no promise": ({"ours-counted": 3.0, "polars-counted": 0.1}, []),
}


@pytest.mark.parametrize(("seconds", "said"), CASES.values(), ids=CASES)
def test_a_promise_that_is_not_kept_is_told(seconds: dict[str, float], said: list[str]) -> None:
    assert broken([outcome(name, cpu_s) for name, cpu_s in seconds.items()]) == said


@pytest.mark.parametrize(
    ("ratio", "verdict"),
    [
        (1.5, "kept"),
        (3.4, "not kept, recorded at 2.9: each row is a state"),
        (3.6, "NOT KEPT: 3.60 is more than 3.48"),
        (None, "NOT MEASURED"),
    ],
)
def test_what_is_not_kept_yet_must_not_get_a_fifth_worse(ratio: float | None, verdict: str) -> None:
    assert Promise("works", "W4", 1.5, 2.9, "each row is a state").verdict(ratio) == verdict
