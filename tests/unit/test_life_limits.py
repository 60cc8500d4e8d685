"""What `benchmarks.life` says of a history that costs too much: a benchmark that cannot fail proves nothing."""

import pytest

from benchmarks.life_limits import broken

GOOD = {"bulk_ms_a_batch": 1.0, "cpu_s": 0.1, "replaced_cpu_s": 0.1, "corrected_cpu_s": 0.1, "missing_cpu_s": 0.1, "kb_a_batch": 50.0}

CASES = {
    # history  what was measured after it            what is said
    "even": (10_000, {}, None),
    "within": (10_000, {"cpu_s": 0.129}, None),
    "a batch": (10_000, {"cpu_s": 0.15}, "CPU of a batch after 10,000 batches is 1.50 times that after 100; at most 1.3"),
    "between": (2_000, {"cpu_s": 0.15}, "CPU of a batch after 2,000 batches is 1.50 times that after 100; at most 1.3"),
    "longer": (100_000, {"cpu_s": 0.15}, None),
    "missing": (100_000, {"missing_cpu_s": 0.21}, "CPU of a missing batch after 100,000 batches is 2.10 times that after 100; at most 2.0"),
    "bytes": (10_000, {"kb_a_batch": 60.0}, "what is written of a batch after 10,000 batches is 1.20 times that after 100; at most 1.1"),
    "bulk": (10_000, {"bulk_ms_a_batch": 3.0}, "3.00 ms a batch in bulk over 10,000; at most 2.0"),
}


@pytest.mark.parametrize(("history", "found", "said"), CASES.values(), ids=CASES)
def test_a_limit_that_does_not_hold_is_told(history: int, found: dict[str, float], said: str | None) -> None:
    figures = [("clock", 100, GOOD), ("clock", history, GOOD | found), ("three", 100, GOOD), ("three", history, GOOD)]
    assert broken(figures) == ([f"clock: {said}"] if said else [])


def test_windows_that_are_others_behind_a_replaced_batch_cost_their_number() -> None:
    costly = GOOD | {"replaced_cpu_s": 1.0, "corrected_cpu_s": 1.0}
    (line,) = broken([("arrival", 100, GOOD), ("arrival", 10_000, costly)])
    assert line.startswith("arrival: CPU of a corrected batch")
