"""The code of docs/own-aggregates.md runs as it stands there, and does what the text says."""

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from muntin import aggregates as agg
from muntin.aggregates.aggregate import Aggregate
from muntin.laws.states import combined, finished, lifted

PAGE = Path(__file__).parents[2] / "docs" / "own-aggregates.md"


@pytest.fixture(scope="module")
def page() -> dict[str, Any]:
    """What the page's code defines; its laws.check calls have run then."""
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        exec(compile(block, str(PAGE), "exec"), names)  # noqa: S102 - our own page
    return names


def result(aggregate: Aggregate, column: str, parts: list[list[Any]], kind: pa.DataType) -> Any:
    """Over several states, each one after the other."""
    states = [lifted(aggregate, [[{column: value, "time": at} for value in part]], {column: kind}) for at, part in enumerate(parts)]
    return finished(aggregate, combined(aggregate, *states))[0].as_py()


def test_the_bloom_filter_forgets_nobody(page: dict[str, Any]) -> None:
    came = [f"user {n}" for n in range(60)]
    found = result(page["seen"], "user_id", [came[:20], came[20:50], [None], came[50:]], pa.string())
    assert len(found) == 128
    assert all(page["may_hold"](found, user) for user in came)
    assert sum(page["may_hold"](found, f"stranger {n}") for n in range(1_000)) < 50


@pytest.mark.parametrize("parts", [[[3.0, None], [1.0, 8.0]], [[5.0, 5.0], [-1.0]], [[None]], [[], [2.5]]])
def test_the_moving_median_is_the_catalogues(page: dict[str, Any], parts: list[list[Any]]) -> None:
    ours = result(page["moving_median"], "delay", parts, pa.float64())
    assert ours == result(agg.median("delay"), "delay", parts, pa.float64())


def test_the_lower_median(page: dict[str, Any]) -> None:
    assert result(page["lower_median"], "delay", [[8, 1], [None, 3, 9]], pa.int64()) == 3
    assert result(page["lower_median"], "delay", [[None]], pa.int64()) is None


def test_the_geometric_mean(page: dict[str, Any]) -> None:
    assert result(page["geometric_mean"], "delay", [[2.0, -1.0], [8.0]], pa.float64()) == pytest.approx(4)
    assert result(page["geometric_mean"], "delay", [[-1.0]], pa.float64()) is None
