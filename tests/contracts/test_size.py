"""The product does not grow unseen: each number is at most that of `size.json`, which a commit with a reason changes."""

import json

from tests.contracts.size import RECORD, size

ADVICE = "make it smaller, or run python -m tests.contracts.size and say in the commit why it grows"


def flat(numbers: dict[str, object]) -> dict[str, float]:
    rooms: dict[str, float] = numbers["rooms"]  # type: ignore[assignment]
    return {**rooms, **{name: value for name, value in numbers.items() if isinstance(value, int | float)}}


def test_nothing_grows() -> None:
    recorded, now = flat(json.loads(RECORD.read_text())), flat(size())
    grown = {name: (recorded.get(name), value) for name, value in now.items() if value > recorded.get(name, 0)}
    assert grown == {}, ADVICE
    lower = {name: value for name, value in recorded.items() if now.get(name, 0) < 0.98 * value}
    assert lower == {}, "these have become smaller: run python -m tests.contracts.size, so that they stay so"
