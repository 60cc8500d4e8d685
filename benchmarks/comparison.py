"""Are two results the same windows? Row by row, in any order: integers and extremes to the bit, float sums to 1e-9."""

import numpy as np
import pyarrow as pa

from benchmarks.references.columns import Column, Columns, as_columns

EXACT = ("key", "window_index", "window_start", "window_end", "n", "sum_a", "min_b", "max_b")
RELATIVE = 1e-9
"""How far float sums may be apart: everyone adds in an order of their own."""


def differences(windows: pa.Table, expected: Columns) -> list[str]:
    """What is wrong with the windows, one line each; nothing when they are right. `expected` is sorted."""
    missing = [name for name in expected if name not in windows.column_names]
    if missing:
        return [f"columns missing: {', '.join(missing)}"]
    if windows.num_rows != len(expected["key"]):
        return [f"{windows.num_rows:,} windows instead of {len(expected['key']):,}"]
    columns = as_columns(windows.select(list(expected)))
    order = np.lexsort((columns["window_index" if "window_index" in columns else "window_start"], columns["key"]))
    return [line for name in expected if (line := _difference(name, columns[name][order], expected[name]))]


def _difference(name: str, got: Column, expected: Column) -> str:
    exact = name in EXACT
    if exact and got.dtype.kind != expected.dtype.kind:
        return f"{name}: {got.dtype} instead of {expected.dtype}"
    same = got == expected if exact else np.isclose(got, expected, rtol=RELATIVE, atol=0)
    wrong = np.flatnonzero(~same)
    if not len(wrong):
        return ""
    return f"{name}: {len(wrong):,} windows differ, first {got[wrong[0]]} instead of {expected[wrong[0]]}"
