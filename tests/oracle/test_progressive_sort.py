"""SPL's progressive Sort, by the oracle."""

import math
from typing import Any

import pytest

from tests.oracle.arrivals import held, rows
from tests.oracle.progressive_sort import ProgressiveSort

NAN = math.nan


# held  5 | 15 | 145 -> 1 | 245 -> 2 | 345, then by flush 3 4 5
@pytest.mark.parametrize(
    ("n", "values", "flags", "out", "rest"),
    [
        (3, [5, 1, 4, 2, 3], {}, [1, 2], [3, 4, 5]),
        (3, [5, 1, 4, 2, 3], {"descending": True}, [5, 4], [3, 2, 1]),
        (3, [5, 4, 6, 1, 7], {}, [4, 1], [5, 6, 7]),
        (2, [None, 2, 1, None, 3], {}, [2, 1, None], [3, None]),
        (2, [None, 2, 1, None, 3], {"descending": True}, [2, 1, None], [3, None]),
        (1, ["b", "a", "c"], {}, ["b", "a"], ["c"]),
        (9, [2, 1], {}, [], [1, 2]),
    ],
)
def test_the_least_of_the_held_rows_comes_out(n: int, values: list[Any], flags: dict[str, bool], out: list[Any], rest: list[Any]) -> None:
    def came(flush: bool, *batches: Any) -> list[Any]:
        found = held(ProgressiveSort(n, lambda row: row["v"], flush=flush, **flags), *batches)
        return [None if alone is None else alone[0] for alone in found]

    assert came(False, rows(*values)) == out
    assert came(True, rows(*values)) == out + rest
    assert came(True, rows(*values)[:2], rows(*values)[2:]) == out + rest


def test_equal_values_stay_in_order_of_arrival_and_nan_is_the_greatest() -> None:
    came = [
        {**row, "v": place, "by": by} for place, (row, by) in enumerate(zip(rows(1, 2, 3, 4, 5), [NAN, 7, math.inf, 7, NAN], strict=True))
    ]
    for descending, places in ((False, [1, 3, 2, 0, 4]), (True, [0, 4, 2, 1, 3])):
        window = ProgressiveSort(9, lambda row: row["by"], descending=descending, flush=True)
        assert held(window, came) == [[place] for place in places]
