"""Loops that numba compiles, and that Python runs over few numbers in a process without numba."""

import sys
from typing import Any

import numpy as np
import pytest

from muntin.engine.reduce.fold import _one_by_one, _specialised
from muntin.states import frames
from muntin.states.frames import compiled, compiled_for_many


def _total(values: Any) -> Any:
    total = np.int64(0)
    for value in values:
        total += _twice(value)
    return total


@compiled_for_many
def _twice(value):  # type: ignore[no-untyped-def]
    return 2 * value


@pytest.mark.parametrize(
    ("make", "size", "has_numba", "is_compiled"),
    [
        (compiled_for_many, 3, False, False),
        (compiled_for_many, 3, True, True),
        (compiled_for_many, frames._FEW + 1, False, True),
        (compiled, 3, False, True),
    ],
)
def test_python_runs_a_loop_over_few_numbers_where_numba_is_not(
    monkeypatch: pytest.MonkeyPatch, make: Any, size: int, has_numba: bool, is_compiled: bool
) -> None:
    import numba

    monkeypatch.setitem(sys.modules, "numba", numba)
    if not has_numba:
        monkeypatch.delitem(sys.modules, "numba")
    kernel = make(_total, cache=False)
    assert kernel(np.full(size, 2**62)) == size * 2**63 % 2**64 - (2**64 if size % 2 else 0)
    assert (kernel._code is not None) is is_compiled


def _cubed(x: Any, i: int, y: Any, j: int, out: Any, k: int) -> None:
    out[k, 0] = x[i, 0] ** 3 + y[j, 0]


def test_folds_of_others_are_compiled() -> None:
    """What Python makes of `**`, is not to the bit what numba makes of it."""
    assert not _specialised(_one_by_one, _cubed)._few
